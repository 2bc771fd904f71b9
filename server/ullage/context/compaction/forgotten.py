"""What it costs to forget: text that the agent gets again from its tools after a compaction that took it out of view.

Texts are compared by blocks of a few consecutive lines, without the numbers that tools put before lines. A line of a result counts where a
block that covers it went out of view with the compaction and has not come again since. So what was edited meanwhile does not count. What
stayed in view does not either: kept messages, files that were put back, words that the summary quotes.

It is counted for the newest compaction in force, until the next one is made, and for `WINDOW_MESSAGES` at most. What a policy clears before
every call (upkeep) and what the user takes out by hand are no compactions here.

In memory is one mark of eight bytes, and a byte beside it, for each block that went out of view with that one compaction: about as many as
the view had lines. Older entries are read only where a compaction comes in force: those that were in view before it, page by page.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ullage.context.blocks import Text, ToolUse
from ullage.context.calls import files_printed, strings_of
from ullage.context.compaction.seen import bare_lines
from ullage.context.compaction_entries import BY_THE_USER, Compaction, CompactionRedone, CompactionUndone, FetchedAgain
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.view.fates import GONE, Becoming, left_in
from ullage.context.view.log_places import entry_at, place_of

WINDOW_MESSAGES = 60
"""Messages in which what comes again counts. A reply is one, and so is all that stands between two replies. Later the work is another."""
BLOCK_LINES = 5
"""Lines that make a block. Fewer are alike by chance too often, more miss what stands between two edits."""
FEWEST_CHARACTERS = 60
"""Characters that a block must have, line ends aside. One with fewer (braces, blank lines) says nothing."""
LITTLE_ELSE = 0.5
"""Share of a result. With so much known text in it the agent seems to have asked for nothing else."""
MOST_FILES = 50
"""Files that are named, those with the most of the text."""


def blocks(lines: Sequence[str]) -> Iterator[int | None]:
    """For each line, the last few aside, a mark for the block that begins there; None if that block says too little. Another process makes
    other marks."""
    for start in range(len(lines) - BLOCK_LINES + 1):
        block = tuple(lines[start : start + BLOCK_LINES])
        yield hash(block) if sum(map(len, block)) > FEWEST_CHARACTERS else None


def covered(counts: Sequence[bool], lines: int) -> list[bool]:
    """For each line whether a block that counts covers it. `counts` says for each line whether the block that begins there counts."""
    found = [False] * lines
    reach = 0
    for start, counted in enumerate(counts):
        if counted:
            reach = start + BLOCK_LINES
        found[start] = start < reach
    for line in range(len(counts), min(reach, lines)):
        found[line] = True
    return found


def texts_of(entry: Entry) -> Iterator[str]:
    """The texts of an entry that the model is shown, or that it wrote itself."""
    match entry:
        case ToolReturned():
            yield entry.content
        case UserPrompt():
            yield entry.text
            yield from (attachment.text for attachment in entry.attachments)
        case Notice():
            yield entry.text
        case AssistantReply():
            for block in entry.blocks:
                if isinstance(block, Text):
                    yield block.text
                elif isinstance(block, ToolUse):
                    yield from strings_of(block.input)
        case _:
            pass


class Forgotten:
    """Counts for one log what came again after its compactions. It keeps what it counted, so that asking again costs only what is new."""

    def __init__(self) -> None:
        self._active: Mapping[int, Compaction] | None = None
        self._window: _Window | None = None
        self._foreseen: _Window | None = None

    def look(self, entries: Sequence[Logged], active: Mapping[int, Compaction]) -> FetchedAgain | None:
        """What came again since the newest compaction in force, up to now; None if there is none. `active` are the compactions in force, by
        seq.

        Tokens are as estimated, without any ratio, and without a price (`priced`).
        """
        if active is not self._active:
            self._active = active
            self._window = self._of_newest(entries, active)
        if self._window is None:
            return None
        self._window.go_on(entries)
        return self._window.found()

    def foresee(self, entries: Sequence[Logged], active: Mapping[int, Compaction]) -> None:
        """Looks at all that goes out of view with the newest of `active`, which may not be logged yet. `look` then need not do that.

        May be called in another thread. Changes nothing else.
        """
        seq = newest_counted(active)
        if seq is not None and (self._window is None or not self._window.is_of(entries, active, seq)):
            self._foreseen = _Window.begun(entries, active, seq)

    def _of_newest(self, entries: Sequence[Logged], active: Mapping[int, Compaction]) -> _Window | None:
        seq = newest_counted(active)
        if seq is None:
            return None
        foreseen, self._foreseen = self._foreseen, None
        for known in (self._window, foreseen):
            if known is not None and known.is_of(entries, active, seq):
                return known
        return _Window.begun(entries, active, seq)


def all_fetched_again(entries: Sequence[Logged], active: Mapping[int, Compaction]) -> dict[str, FetchedAgain]:
    """What came again after each compaction in force for which it is counted, by the compaction's id. Goes through the whole log; tokens of
    the newest are estimated."""
    ids = {each.id for each in active.values()}
    told = (logged.entry.fetched_again for logged in entries if isinstance(logged.entry, Compaction))
    found = {each.compaction_id: each for each in told if each is not None and each.compaction_id in ids}
    newest = Forgotten().look(entries, active)
    return found if newest is None else {**found, newest.compaction_id: newest}


def newest_counted(active: Mapping[int, Compaction]) -> int | None:
    """The seq of the newest compaction for which it is counted what came again; None if there is none."""
    return next((seq for seq in sorted(active, reverse=True) if is_counted(active[seq])), None)


def is_counted(compaction: Compaction) -> bool:
    """Whether it is counted what comes again after that compaction: not for upkeep, nor for what the user took out by hand."""
    return compaction.trigger != "upkeep" and compaction.policy != BY_THE_USER


def priced(found: FetchedAgain, ratio: float, token: float | None) -> FetchedAgain:
    """The count in real tokens, `ratio` for each that is estimated, and with what that many uncached input tokens cost.

    `token`: dollars for one; None if that is not known.
    """
    tokens = round(found.tokens * ratio)
    return replace(found, tokens=tokens, cost=None if token is None else tokens * token)


@dataclass(slots=True)
class _Window:
    """Counts what came again since one compaction."""

    id: str
    seq: int
    in_force_before: tuple[int, ...]
    """The seqs of the compactions in force before that one."""
    edits: tuple[object, ...]
    """The edits of that compaction, by which a change of it is noticed."""
    out: array[int]
    """The marks of the blocks that the compaction took out of view, sorted."""
    came: bytearray
    """For each of these blocks, whether it has come up since."""
    read: int = 0
    """The index up to which the log was looked at; 0 if it was not yet."""
    messages: int = 0
    of_user: bool = False
    """Whether the newest message is of the user's side."""
    undone: bool = False
    is_over: bool = False
    characters: int = 0
    tokens: float = 0.0
    results: int = 0
    files: dict[str, float] = field(default_factory=dict[str, float])
    """Tokens that came again, by the path of their file."""
    printed: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The files that a command prints, by the id of its call in the newest reply."""

    @classmethod
    def begun(cls, entries: Sequence[Logged], active: Mapping[int, Compaction], seq: int) -> _Window:
        """The window of the compaction with that seq. Reads all that was in view before it."""
        made = _as_made(entries, active, seq)
        out = array("q", sorted(_taken_out(entries, active, seq)))
        return cls(made.id, seq, _before(active, seq), _edits(made), out, bytearray(len(out)))

    def is_of(self, entries: Sequence[Logged], active: Mapping[int, Compaction], seq: int) -> bool:
        """Whether the window is that of this compaction, with the same ones in force before it."""
        made = active[seq]
        if (self.id, self.seq, self.in_force_before) != (made.id, seq, _before(active, seq)):
            return False
        return self.edits == _edits(made) or self.edits == _edits(_as_made(entries, active, seq))

    def go_on(self, entries: Sequence[Logged]) -> None:
        """Looks at the entries that are new."""
        if not self.read:
            self.read = place_of(entries, self.seq + 1)
        while self.read < len(entries) and not self.is_over:
            self._take(entries[self.read])
            self.read += 1

    def found(self) -> FetchedAgain:
        """What came again, as counted up to now."""
        files = tuple(sorted(self.files, key=lambda path: (-self.files[path], path))[:MOST_FILES])
        return FetchedAgain(self.id, files, self.characters, round(self.tokens), self.results, self.messages)

    def _take(self, logged: Logged) -> None:
        entry = logged.entry
        match entry:
            case CompactionUndone() | CompactionRedone() if entry.compaction_id == self.id:
                self.undone = isinstance(entry, CompactionUndone)
            case AssistantReply() | ToolReturned() | UserPrompt() | Notice():
                self._take_message(entry)
            case _:
                pass

    def _take_message(self, entry: AssistantReply | ToolReturned | UserPrompt | Notice) -> None:
        of_user = not isinstance(entry, AssistantReply)
        self.messages += not (of_user and self.of_user)
        self.of_user = of_user
        if self.messages > WINDOW_MESSAGES:
            self.messages = WINDOW_MESSAGES
            self._close()
            return
        if isinstance(entry, AssistantReply):
            calls = (block for block in entry.blocks if isinstance(block, ToolUse))
            self.printed = {call.id: printed for call in calls if (printed := files_printed(call.input))}
        for text in texts_of(entry):
            lines = bare_lines(text)
            places = [self._place(block) for block in blocks(lines)]
            if isinstance(entry, ToolReturned) and not self.undone:
                self._count(entry, lines, covered([place is not None and not self.came[place] for place in places], len(lines)))
            for place in places:
                if place is not None:
                    self.came[place] = 1

    def _place(self, block: int | None) -> int | None:
        """The index of a block among those that went out of view; None if it is not among them."""
        if block is None:
            return None
        place = bisect_left(self.out, block)
        return place if place < len(self.out) and self.out[place] == block else None

    def _count(self, result: ToolReturned, lines: Sequence[str], known: Sequence[bool]) -> None:
        again = sum(len(line) + 1 for line, is_known in zip(lines, known, strict=True) if is_known)
        if not again:
            return
        share = again / sum(len(line) + 1 for line in lines)
        tokens = estimate_text(result.content) * share
        self.characters += min(again, len(result.content))
        self.tokens += tokens
        self.results += share >= LITTLE_ELSE
        shown = tuple(dict.fromkeys(touch.path for touch in result.touched)) or self.printed.get(result.tool_use_id, ())
        for path in shown:
            self.files[path] = self.files.get(path, 0.0) + tokens / len(shown)

    def _close(self) -> None:
        """Ends the counting, and keeps only the figures."""
        self.is_over = True
        self.out, self.came, self.printed = array("q"), bytearray(), {}


def _before(active: Mapping[int, Compaction], seq: int) -> tuple[int, ...]:
    return tuple(each for each in active if each < seq)


def _edits(made: Compaction) -> tuple[object, ...]:
    return made.cleared, made.snipped, made.summarised, tuple(file.path for file in made.restored)


def _as_made(entries: Sequence[Logged], active: Mapping[int, Compaction], seq: int) -> Compaction:
    """The compaction as it was logged, whatever the user took out since. One that is only foreseen is given as it is to be."""
    logged = entry_at(entries, seq)
    return logged if isinstance(logged, Compaction) else active[seq]


def _taken_out(entries: Sequence[Logged], active: Mapping[int, Compaction], seq: int) -> set[int]:
    """The marks of the blocks that were in view before that compaction and are not right after it."""
    made = _as_made(entries, active, seq)
    before = {each: active[each] for each in _before(active, seq)}
    was, becomes = Becoming((), before), Becoming((), {**before, seq: made})
    in_view = [*_up_to(seq, left_in(entries, was))]
    shortened = {logged.entry.seq: logged.entry.content for logged in in_view if isinstance(logged.entry, Clipped)}
    stays = _marks((made.summarised.words if made.summarised is not None else "", *(file.text for file in made.restored)))
    gone = set[int]()
    for logged in in_view:
        if not _is_hidden(was, logged):
            texts = _shown(logged, before, shortened)
            (gone if _is_hidden(becomes, logged) else stays).update(_marks(texts))
    return gone - stays


def _up_to(seq: int, found: Iterable[Logged]) -> Iterator[Logged]:
    for logged in found:
        if logged.seq >= seq:
            return
        yield logged


def _is_hidden(become: Becoming, logged: Logged) -> bool:
    kind = become.of(logged).kind
    return kind in GONE or kind == "cleared"


def _shown(logged: Logged, active: Mapping[int, Compaction], shortened: Mapping[int, str]) -> Iterator[str]:
    if isinstance(logged.entry, Compaction):
        yield from (file.text for file in logged.entry.restored if logged.seq in active)
    elif logged.seq in shortened:
        yield shortened[logged.seq]
    else:
        yield from texts_of(logged.entry)


def _marks(texts: Iterable[str]) -> set[int]:
    return {mark for text in texts for mark in blocks(bare_lines(text)) if mark is not None}

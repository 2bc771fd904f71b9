"""Which facts of a session are needed after a compaction, and what became of them. And which text the agent got from its tools again.

A fact is needed when it stands in the log before the compaction and the assistant uses it (in text or in a tool's input) within the
messages of the window after it. A user's short message is needed in any case: the agent rarely repeats the user's words, and they
bind it all the same. Each message is asked for once, at the first compaction after it was said.

A needed fact is still in view, or a search finds it, or it is shown again, or it is lost. `files_and_names.py` knows whether names stand
beside the file that they belong to.

Facts and acquired text are found and compared as `context/compaction/needed.py` does it. Here all text counts that stood anywhere before,
not only what the newest compaction took out of view.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from ullage.context.compaction.forgotten import blocks, texts_of
from ullage.context.compaction.needed import FACT_KINDS, Fact, FactKind, KeptText, facts_in, from_tools, marks_of, quoted, written_text
from ullage.context.compaction.seen import bare_lines
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.recorded.transcript import Transcript

WINDOW_MESSAGES = 60
"""Messages after a compaction within which a fact counts as needed later, and a file as read again."""


def entries_after(entries: Sequence[Logged], after_seq: int, messages: int = WINDOW_MESSAGES) -> Iterator[Logged]:
    """The entries of the next `messages` messages, counted as they are sent: a reply is one, all that stands between two replies (results,
    prompts, notices) is one. `entries` count from 1 without gaps."""
    counted = 0
    in_user_message = False
    for logged in entries[after_seq:]:
        if not isinstance(logged.entry, AssistantReply | ToolReturned | UserPrompt | Notice):
            continue
        from_user = not isinstance(logged.entry, AssistantReply)
        if not (from_user and in_user_message):
            counted += 1
        if counted > messages:
            return
        in_user_message = from_user
        yield logged


def shown_text(entry: Entry) -> str:
    """What the model was given to read: a prompt with its attachments, a result, a notice; empty for anything else."""
    match entry:
        case UserPrompt():
            return "\n".join((entry.text, *(attachment.text for attachment in entry.attachments)))
        case ToolReturned():
            return entry.content
        case Notice():
            return entry.text
        case _:
            return ""


SHORT_MESSAGE_CHARACTERS = 1_500
"""A longer prompt is a pasted document rather than something that the user said."""

Fate: TypeAlias = Literal["in view", "recallable", "seen again", "lost"]
"""What became of a needed fact: the first of these that holds."""

SEARCH_HITS = 5
"""A fact counts as recallable if it is among this many hits of one search with its own words."""


@dataclass(frozen=True, slots=True)
class HitShare:
    """A share: `hits` of `of` things."""

    hits: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        """The share, between 0 and 1; None if there are no things."""
        return self.hits / self.of if self.of else None

    def __add__(self, other: HitShare) -> HitShare:
        return HitShare(self.hits + other.hits, self.of + other.of)


@dataclass(frozen=True, slots=True)
class NeededFact:
    """A fact that is needed after the entry `after_seq`. `used_seq` is the first reply in the window that uses it, None for user messages;
    `shown_again` says whether a result, prompt or notice between the two showed it to the model."""

    fact: Fact
    after_seq: int
    used_seq: int | None
    shown_again: bool


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The facts of a session, as `session_facts` reads them. Facts that no reply uses are left out."""

    entries: Sequence[Logged]
    used: Mapping[int, frozenset[Fact]]
    """The facts that each reply uses, by the reply's seq."""
    standing: Mapping[Fact, Sequence[int]]
    """The seqs of all entries in which a used fact stands, ascending."""
    said: Mapping[int, Fact]
    """The user's short messages, by seq."""


def session_facts(entries: Sequence[Logged]) -> SessionFacts:
    """Reads a session's facts, in one pass over its text. `entries` count from 1 without gaps."""
    used = {logged.seq: frozenset(facts_in(written_text(logged.entry))) for logged in entries if isinstance(logged.entry, AssistantReply)}
    standing: dict[Fact, list[int]] = {fact: [] for facts in used.values() for fact in facts}
    for logged in entries:
        facts = used[logged.seq] if logged.seq in used else facts_in(shown_text(logged.entry))
        for fact in facts:
            if fact in standing:
                standing[fact].append(logged.seq)
    said = {logged.seq: fact for logged in entries if isinstance(logged.entry, UserPrompt) and (fact := _short_message(logged.entry))}
    return SessionFacts(entries, used, standing, said)


def needed_after(facts: SessionFacts, after_seq: int, previous_seq: int = 0) -> Iterator[NeededFact]:
    """The facts that a compaction after the entry `after_seq` should keep, each once; none where nothing follows.

    `previous_seq` is where the compaction before it stood, 0 if it is the first.
    """
    window = list(entries_after(facts.entries, after_seq))
    first_uses: dict[Fact, int] = {}
    for logged in window:
        for fact in facts.used.get(logged.seq, ()):
            first_uses.setdefault(fact, logged.seq)
    for fact, used_seq in first_uses.items():
        places = facts.standing[fact]
        if places[0] <= after_seq:
            shown_again = places[bisect_right(places, after_seq)] < used_seq
            yield NeededFact(fact, after_seq, used_seq, shown_again)
    if window:
        said = {fact: None for seq, fact in facts.said.items() if previous_seq < seq <= after_seq}
        yield from (NeededFact(fact, after_seq, None, False) for fact in said)


def _short_message(prompt: UserPrompt) -> Fact | None:
    words = quoted(prompt.text)
    return Fact("user message", words) if words and len(prompt.text) < SHORT_MESSAGE_CHARACTERS else None


class AgentSearch(Protocol):
    """The search that the agent has in one log."""

    def __call__(self, words: str, through_seq: int, limit: int) -> Sequence[str]:
        """The texts of the best `limit` hits, best first, among the entries up to and with `through_seq`."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """A compaction as retention sees it. It stands after the entry `after_seq`; `kept` is all earlier text that is in the context after
    it."""

    after_seq: int
    kept: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A needed fact and what became of it."""

    needed: NeededFact
    fate: Fate


@dataclass(frozen=True, slots=True)
class KindRetention:
    """The numbers of needed facts of one kind, by fate. Without a search `recallable` is 0, and what it would have found counts under the
    fates after it."""

    in_view: int = 0
    recallable: int = 0
    seen_again: int = 0
    lost: int = 0

    @property
    def needed(self) -> int:
        """The number of all needed facts."""
        return self.in_view + self.recallable + self.seen_again + self.lost

    @property
    def kept(self) -> HitShare:
        """The share of the needed facts that is in view."""
        return HitShare(self.in_view, self.needed)

    @property
    def within_reach(self) -> HitShare:
        """The share of the needed facts that is in view or recallable."""
        return HitShare(self.in_view + self.recallable, self.needed)

    def __add__(self, other: KindRetention) -> KindRetention:
        return KindRetention(
            self.in_view + other.in_view,
            self.recallable + other.recallable,
            self.seen_again + other.seen_again,
            self.lost + other.lost,
        )


def recorded_cuts(transcript: Transcript) -> tuple[Cut, ...]:
    """The compactions that a transcript recorded, each with its summary as the text kept: files that were put back are not counted."""
    return tuple(Cut(compaction.after_seq, compaction.summary) for compaction in transcript.compactions)


def judged(facts: SessionFacts, cuts: Iterable[Cut], search: AgentSearch | None = None) -> Iterator[Judged]:
    """Every fact that was needed after one of `cuts`, which are all the compactions of a session in their order."""
    previous_seq = 0
    for cut in cuts:
        yield from judged_after(facts, cut, previous_seq, search)
        previous_seq = cut.after_seq


def judged_after(facts: SessionFacts, cut: Cut, previous_seq: int, search: AgentSearch | None = None) -> Iterator[Judged]:
    """Every fact that was needed after one compaction; `previous_seq` is where the one before it stood, 0 if it is the first."""
    kept = KeptText(cut.kept)
    for needed in needed_after(facts, cut.after_seq, previous_seq):
        yield Judged(needed, _fate(needed, kept, search))


def by_kind(judgements: Iterable[Judged]) -> dict[FactKind, KindRetention]:
    """The fates of the facts of each kind, in numbers. Every kind is there, in the order of reports."""
    totals = dict.fromkeys(FACT_KINDS, KindRetention())
    for judgement in judgements:
        totals[judgement.needed.fact.kind] += _ONE[judgement.fate]
    return totals


_ONE: dict[Fate, KindRetention] = {
    "in view": KindRetention(in_view=1),
    "recallable": KindRetention(recallable=1),
    "seen again": KindRetention(seen_again=1),
    "lost": KindRetention(lost=1),
}


def _fate(needed: NeededFact, kept: KeptText, search: AgentSearch | None) -> Fate:
    if kept.holds(needed.fact):
        return "in view"
    if search is not None and _finds(search, needed):
        return "recallable"
    return "seen again" if needed.shown_again else "lost"


def _finds(search: AgentSearch, needed: NeededFact) -> bool:
    hits = search(needed.fact.text, needed.after_seq, SEARCH_HITS)
    return any(KeptText(hit).holds(needed.fact) for hit in hits[:SEARCH_HITS])


# Text that was acquired again


@dataclass(frozen=True, slots=True)
class Acquired:
    """How much text tools gave after compactions, in characters (one more a line, for its end), and how much of it was known before."""

    places: int = 0
    """The number of compactions after which the session went on."""
    results: int = 0
    """Characters of all results in the windows after them."""
    again: HitShare = field(default_factory=HitShare)
    """Of the characters that were known before, those that stood in view right after the compaction."""
    beside_summary: int = 0
    """Characters that stood in view then beside the summary: messages that were kept, files that were put back."""
    fetches: int = 0
    """The number of results that mostly held what was known and not in view."""

    @property
    def gone(self) -> int:
        """Characters of the results that were known before and not in view."""
        return self.again.of - self.again.hits

    @property
    def mean_beside_summary(self) -> float | None:
        """Characters beside the summary for each compaction, on average; None if there was none."""
        return self.beside_summary / self.places if self.places else None

    def __add__(self, other: Acquired) -> Acquired:
        return Acquired(
            self.places + other.places,
            self.results + other.results,
            self.again + other.again,
            self.beside_summary + other.beside_summary,
            self.fetches + other.fetches,
        )


@dataclass(frozen=True, slots=True)
class ViewAfter:
    """What the model saw right after a compaction: `text` is all of it, `beside_summary` counts the characters that are not in the
    summary."""

    after_seq: int
    text: str
    beside_summary: int


BLOCKS_AT_ONCE = 100_000
"""Blocks in one dictionary. A session of 10 MB has some 30,000."""


class SessionBlocks:
    """The blocks of lines in a session, which can be asked what was acquired again after any compaction in it."""

    def __init__(self, entries: Sequence[Logged]) -> None:
        self._entries = entries
        self._first: dict[int, int] = {}
        """The seq of the entry that showed each block first."""
        self._before: list[tuple[array[int], array[int]]] = []
        """The blocks of the dictionaries before: their marks in order, and the seqs of the entries. They take a sixth of the memory."""
        for logged in entries:
            for text in texts_of(logged.entry):
                for block in blocks(bare_lines(text)):
                    if block is not None:
                        self._first.setdefault(block, logged.seq)
            if len(self._first) > BLOCKS_AT_ONCE:
                marks = array("q", sorted(self._first))
                self._before.append((marks, array("q", map(self._first.__getitem__, marks))))
                self._first = {}

    def acquired(self, views: Iterable[ViewAfter]) -> Acquired:
        """What tools gave after the compactions of a session. `views` are those right after each of them, in their order."""
        found, before = Acquired(), None
        for view in views:
            found += self.acquired_after(before, view.after_seq) if before is not None else Acquired()
            before = view
        return found + (self.acquired_after(before, None) if before is not None else Acquired())

    def acquired_after(self, view: ViewAfter, until: int | None) -> Acquired:
        """What tools gave after one compaction. `until` is the last entry before the next one; None if there is none."""
        window = [logged for logged in entries_after(self._entries, view.after_seq) if until is None or logged.seq <= until]
        return self._after(window, view) if window else Acquired()

    def _after(self, window: Sequence[Logged], view: ViewAfter) -> Acquired:
        found = from_tools((logged.entry for logged in window), lambda block: self._stood(block, view.after_seq), marks_of([view.text]))
        return Acquired(1, found.results, HitShare(found.held, found.known), view.beside_summary, found.fetches)

    def _stood(self, block: int, after_seq: int) -> bool:
        for marks, seqs in self._before:
            place = bisect_left(marks, block)
            if place < len(marks) and marks[place] == block:
                return seqs[place] <= after_seq
        first = self._first.get(block)
        return first is not None and first <= after_seq

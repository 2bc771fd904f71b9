"""What the next request of a session will read from the prompt cache and write to it, warm and cold.

The cache works by marks (`prompt_cache.py`): a request leaves its prefix at each of its marks, and the next one finds what was left at one
of its own marks or at one of the blocks just before. So the marks of the requests that were sent lately are placed again, as they were
(`view/request.py`), and each is looked for from the marks that the next request will have. What was left there counts where nothing before
it reads otherwise now.

What a request left at its end is known by the API's own count. What it left at an earlier mark is mostly the end of the one before it;
else the blocks between the two are estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ullage.context.blocks import Message, RedactedThinking, Text, Thinking, Usage
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.cache_clock import SentRequest, SentRequests, is_same_model
from ullage.context.counting.prompt_cache import LOOK_BACK, START, TTL_SECONDS, CacheMark, Prefix, PromptCache, RequestShape, Ttl
from ullage.context.counting.tokens import Calibration, estimate_message, estimate_text
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection
from ullage.context.view.request import Breakpoint, place
from ullage.context.view.taken_out import gone_by, seq_of

NEAR = 8
"""Messages at the end of a request among which its marks are: they never reach beyond the third user message from there."""


@dataclass(frozen=True, slots=True)
class NextRequest:
    """The tokens of the next request's input by price class, on a warm and on a cold cache. What comes back is not known."""

    warm: Usage
    cold: Usage
    started: float | None
    """When the request was sent that left in the cache what the next one reads (Unix seconds); None if nothing is in it."""
    lives: float
    """Seconds that it lives from `started` on."""


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """The request that comes next: its model and effort, and `used` tokens in all, of which `fixed` precede the messages."""

    model: str
    effort: str
    minimum: int
    """Tokens below which the model caches nothing."""
    used: int
    fixed: int
    blocks: int = 1
    """The number of blocks that the request will have after what is in view: the prompt, and what is told with it."""
    calibration: Calibration = field(default_factory=Calibration)


class _Left(NamedTuple):
    """What an earlier request left in the cache."""

    tokens: int
    started: float
    """When it was written or last read (Unix seconds)."""
    ttl: Ttl


def next_request(requests: SentRequests, view: Projection, asking: PlannedRequest, now: float) -> NextRequest:
    """What a request that shows `view` and what the user is about to say will read from the cache and write to it. `now` is Unix
    seconds."""
    cold = _charged(asking, 0, "5m", warm=False)
    standing = CommonPrefix(view)
    left = [*_of_messages(requests, view, standing, asking, now), *_of_preludes(requests, view, asking)]
    living = [each for each in left if each.tokens and each.started + TTL_SECONDS[each.ttl] > now]
    if living:
        return _warm(max(living), asking, cold)
    newest = requests.newest
    gone = None if newest is None else _when_gone(newest, standing, view, asking)
    return NextRequest(cold, cold, None, TTL_SECONDS["5m"]) if gone is None else _warm(gone, asking, cold)


def _when_gone(newest: SentRequest, standing: CommonPrefix, view: Projection, asking: PlannedRequest) -> _Left | None:
    """What the newest request had left in the cache and is there no longer, so that it can be told since when. None if it left nothing of
    use."""
    if not newest.cached or not is_same_model(newest.model, asking.model) or newest.key.prelude != view.key.prelude:
        return None
    whole = _is_asked_alike(newest, asking) and standing.holds(newest)
    return _Left(newest.cached if whole else min(asking.fixed, newest.cached), newest.started, newest.ttl)


# What precedes the messages


def _of_preludes(requests: SentRequests, view: Projection, asking: PlannedRequest) -> Iterator[_Left]:
    """What requests of this workspace left at the end of their preludes, where the next request begins with the same."""
    if view.prelude is None:
        return
    for sent in requests.preludes.sent(asking.model):
        tokens = _in_common(sent.prelude, view.prelude, asking)
        if tokens >= asking.minimum:
            yield _Left(tokens, sent.started, sent.ttl)


def _in_common(then: Prelude, now: Prelude, asking: PlannedRequest) -> int:
    """Tokens of an earlier prelude, if all of it still stands first and only more has come after it, such as a rules file; else 0."""
    if then.tools != now.tools or then.system != now.system[: len(then.system)] or len(now.system) - len(then.system) >= LOOK_BACK:
        return 0
    since = sum(estimate_text(part.text) for part in now.system[len(then.system) :])
    return max(0, asking.fixed - asking.calibration.of_new(since))


# The messages


class _Place(NamedTuple):
    """A block of the messages. `distance` is counted from the end."""

    distance: int
    message: int
    block: int


def _of_messages(requests: SentRequests, view: Projection, standing: CommonPrefix, asking: PlannedRequest, now: float) -> Iterator[_Left]:
    """What earlier requests left at their marks, where the next request finds it and nothing before it reads otherwise."""
    row = _Row(view, asking.blocks)
    for sent, last_read in _sent_alike(requests, view, asking):
        if standing.holds(sent):
            marks = row.marks_of(sent)
        else:  # of what it held between its last two marks something is no longer there: it was marked where the one before it had ended
            before = requests.before(sent)
            through = 0 if before is None else before.through
            at = None if not through else row.end_of(through)
            marks = () if at is None or not standing.holds(sent, through) else ((at, through),)
        for at, through in marks:
            since = last_read if through == sent.through else sent.started
            if row.is_found(at) and since + TTL_SECONDS[sent.ttl] > now:
                tokens = _tokens_up_to(through, sent, requests, view, standing, asking)
                if tokens >= asking.minimum:
                    yield _Left(tokens, since, sent.ttl)


def _sent_alike(requests: SentRequests, view: Projection, asking: PlannedRequest) -> Iterator[tuple[SentRequest, float]]:
    """The requests that may have left something of use, the newest first. With each comes the time at which what it had left at its end was
    last read."""
    found = list(requests.lately())
    under = requests.newest_under(view.key)
    if under is not None and all(each is not under for each, _ in found):
        found.append((under, under.started))
    for sent, last_read in found:
        if sent.cached and sent.key.prelude == view.key.prelude and _is_asked_alike(sent, asking):
            yield sent, last_read


def _tokens_up_to(
    through: int, sent: SentRequest, requests: SentRequests, view: Projection, standing: CommonPrefix, asking: PlannedRequest
) -> int:
    """Tokens that a request held up to and with entry `through`."""
    if through == sent.through:
        return sent.cached
    same = (each for each, _ in requests.lately() if each.through == through and _is_asked_alike(each, asking))
    known = next((each.cached for each in same if standing.holds(each, through)), 0)
    return known or max(0, sent.cached - _held_between(through, sent, view, asking.calibration))


def _held_between(through: int, sent: SentRequest, view: Projection, calibration: Calibration) -> int:
    """About how many tokens of a request came after entry `through`: by the log, as the entries were then."""
    seqs = range(through + 1, sent.seq)
    logged = ((seq, entry_at(view.entries, seq)) for seq in seqs)
    said = [
        Logged(seq, 0.0, entry) for seq, entry in logged if isinstance(entry, UserPrompt | AssistantReply | ToolReturned | Notice | Clipped)
    ]
    return calibration.of_new(sum(map(estimate_message, Projection(said).messages)))


def _is_asked_alike(sent: SentRequest, asking: PlannedRequest) -> bool:
    return is_same_model(sent.model, asking.model) and (not sent.effort or sent.effort == asking.effort)


class _Row:
    """The blocks of the next request from its end backwards, as far as the cache looks from its marks."""

    def __init__(self, view: Projection, more: int) -> None:
        """`more` is the number of blocks that will come after those in view."""
        coming = tuple(Text(".") for _ in range(max(1, more)))
        seen = view.messages
        last = seen[-1] if seen and seen[-1].role == "user" else None
        before = seen[: len(seen) - 1] if last is not None else seen
        blocks, sources = (coming, (_COMING,) * len(coming))
        if last is not None:
            blocks, sources = (*last.blocks, *coming), (*last.sources, *sources)
        self._first = max(0, len(before) - NEAR * 4)
        self._messages = [*before[self._first :], Message("user", blocks, sources)]
        marks = {(mark.message, mark.block) for mark in place(self._messages)}
        self._places = list(self._backwards())
        self._marks = [each.distance for each in self._places if (each.message, each.block) in marks]

    def _backwards(self) -> Iterator[_Place]:
        distance = 0
        for message in range(len(self._messages) - 1, -1, -1):
            for block in range(len(self._messages[message].blocks) - 1, -1, -1):
                yield _Place(distance, message, block)
                distance += 1

    def source(self, at: _Place) -> int:
        """The seq of the entry that brought the block."""
        return self._messages[at.message].sources[at.block]

    def is_found(self, at: _Place) -> bool:
        """Whether the cache looks for what was left at that block."""
        return any(0 <= at.distance - mark < LOOK_BACK for mark in self._marks)

    def end_of(self, through: int) -> _Place | None:
        """The last block of the entries up to `through`; None if it is farther away than the cache ever looks."""
        return next((each for each in self._places if self.source(each) <= through), None)

    def marks_of(self, sent: SentRequest) -> Iterator[tuple[_Place, int]]:
        """The blocks at which a request was marked, if nothing of it reads otherwise now, each with the newest entry that it held up to
        there."""
        end = self.end_of(sent.seq - 1)
        if end is None:
            return
        first = max(0, end.message - NEAR)
        last = self._messages[end.message]
        held = Message(last.role, last.blocks[: end.block + 1], last.sources[: end.block + 1])
        marks = {_shifted(mark, first) for mark in place([*self._messages[first : end.message], held])}
        newest = max(marks, default=None)
        for each in self._places[end.distance :]:
            if (each.message, each.block) in marks:
                yield each, sent.through if (each.message, each.block) == newest else self.source(each)


_COMING = 1 << 62
"""The seq that stands for entries that are not there yet."""


def _shifted(mark: Breakpoint, first: int) -> tuple[int, int]:
    return mark.message + first, mark.block


class CommonPrefix:
    """Tells of earlier requests whether the next request, which shows `view`, begins with all that they held."""

    def __init__(self, view: Projection) -> None:
        self._view = view

    @cached_property
    def _thought(self) -> Sequence[tuple[int, EpochKey]]:
        """The seqs of the replies in view that have thinking, each with the key under which the reply was made."""
        replies = (seq for message in self._view.messages if message.role == "assistant" for seq in dict.fromkeys(message.sources))
        return [(seq, self._view.key_at(seq)) for seq in replies if _thinks(entry_at(self._view.entries, seq))]

    def holds(self, sent: SentRequest, through: int | None = None) -> bool:
        """Whether the next request begins with all that `sent` held, or with all that it held up to and with entry `through`."""
        view = self._view
        if sent.key == view.key:
            return True
        if sent.key.prelude != view.key.prelude:
            return False
        last = sent.seq - 1 if through is None else through
        changed = {*sent.key.seqs[1:]} ^ {*view.key.seqs[1:]}
        made = [entry_at(view.entries, seq) for seq in changed]
        if any(_first_touched(each) <= last for each in made) or _are_reworded(made, changed, view):
            return False
        # What was thought under the key of a request is sent under that key, and under others only behind a block of the API's own.
        any_key = any(each.summarised is not None and each.summarised.block is not None for each in view.active)
        return not any(seq <= last and (any_key or key in (sent.key, view.key)) for seq, key in self._thought)


def _first_touched(made: Entry | None) -> int:
    """The seq of the first entry that a compaction changes; 0 if that may be any, or the entry is no compaction."""
    if not isinstance(made, Compaction) or made.summarised is not None:
        return 0
    snipped = () if made.snipped is None else (made.snipped.first_seq,)
    files = (seq for file in made.without_files for seq in file.seqs)
    return min((*(each.seq for each in made.cleared), *snipped, *files), default=made.through)


def _are_reworded(made: Iterable[Entry | None], changed: set[int], view: Projection) -> bool:
    """Whether a compaction that stays in force may read otherwise now: it may have quoted what was taken out, or what came back."""
    out = [seq_of(gone) for each in made if isinstance(each, Compaction) for gone in gone_by(each)]
    if not out:
        return False
    first = min(out)
    return any(
        first <= each.through and (each.summarised is not None or each.snipped is not None or bool(each.resume))
        for seq, each in view.active_by_seq.items()
        if seq not in changed and each.policy != BY_THE_USER  # the marks of these always read the same
    )


def _thinks(entry: Entry | None) -> bool:
    return isinstance(entry, AssistantReply) and any(isinstance(block, Thinking | RedactedThinking) for block in entry.blocks)


# What it is charged


def _warm(left: _Left, asking: PlannedRequest, cold: Usage) -> NextRequest:
    read = min(left.tokens, asking.used)
    return NextRequest(_charged(asking, read, left.ttl, warm=True), cold, left.started, TTL_SECONDS[left.ttl])


def _charged(asking: PlannedRequest, left: int, ttl: Ttl, *, warm: bool) -> Usage:
    """What the cache charges for the next request; with `warm`, after an earlier request that left a prefix of `left` tokens."""
    cache = PromptCache(lambda _: asking.minimum)
    ends = {end for end in (min(asking.fixed, asking.used), left, asking.used) if end}
    row: list[Prefix] = []
    before = START
    for end in sorted(ends):
        before = before.then(str(end), end - before.tokens)
        row.append(before)
    if warm:
        marks = tuple(CacheMark(prefix, ttl) for prefix in row if prefix.tokens <= left)
        cache.charge(RequestShape(asking.model, 0.0, marks[-1].prefix, marks))
    return cache.charge(RequestShape(asking.model, 1.0, before, tuple(CacheMark(prefix, ttl) for prefix in row)))

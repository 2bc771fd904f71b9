"""`ullage`: the default. Program and model write a summary together, and cheap moves are made where it would gain nothing.

The policy and its engine come first. Then stands how a compaction is planned: where the summary ends, and what is cleared beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ullage.context.blocks import Message, Text
from ullage.context.compaction_entries import Cleared, Snipped
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Covered, Occasion, PathOf, SummaryText, Unchanging, summary_room
from ullage.context.entries import Logged, UserPrompt
from ullage.context.moves.cheap import Arrival, Clip, clear, clip, messages_in, snip
from ullage.context.moves.cuts import Count, has_news, is_legal, legal_cuts, newest_turn, start_of_turns
from ullage.context.moves.plan import (
    SMALLEST_SUMMARY,
    SUMMARY_SHARE,
    Asked,
    Digest,
    MessageSizes,
    Plan,
    leaves_alone,
    preview,
    sizes_after,
    sizes_now,
)
from ullage.context.moves.repeats import refer
from ullage.context.policy import Policy, RestoreOptions, SummaryOptions, UllageOptions
from ullage.context.summary.facts import facts
from ullage.context.summary.nearby import nearby_files
from ullage.context.summary.program_summary import brief
from ullage.context.summary.whole_summary import USER_SHARE, staying_text, summary_of
from ullage.context.view.log_places import joined, place_of, said_of
from ullage.context.view.projection import Projection

WEIGHED = 1_000
"""Entries at the end whose words are counted as the model in use would count them; for older ones the estimate is good enough."""
NEWEST = 4
"""Factor for the tokens that a tail takes and that make a summary as long as one gets: a plan is tried first from so many tokens of the
newest messages."""


@dataclass(frozen=True, slots=True)
class UllageEngine(Unchanging):
    """Refers and clips on arrival; at the threshold makes a program summary of all but a short tail.

    There is no upkeep: between two compactions the prefix only grows.
    """

    options: UllageOptions = field(default_factory=UllageOptions)

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """The results. Those that stand in view already give way to a reference, those over their limit to their head and tail."""
        referred = refer(arrivals, self.options.repeat, path_of)
        shorter = [replace(each, content=known.content) if known else each for each, known in zip(arrivals, referred, strict=True)]
        clips = clip(shorter, self.options.clip, path_of)
        return tuple(first or second for first, second in zip(referred, clips, strict=True))

    def plan(self, at: Occasion) -> Plan | None:
        """The cheap moves where they suffice, else a summary; None if there is nothing to gain."""
        options = _within_room(self.options, summary_room(at.threshold))
        if at.trigger == "reactive":
            return reactive_plan(at.projection, options, at.threshold, at.count, brief)
        if at.trigger == "economy":
            return _beside_the_newest_turn(at, options)
        if at.trigger in ("manual", "tool"):
            return usual_plan(at.projection, _with_short_tail(options, at.used), at.threshold, at.count, brief, goal=0)
        return usual_plan(at.projection, options, at.threshold, at.count, brief)

    def summarise(self, covered: Covered) -> SummaryText:
        """The program summary, with what the model wrote for it."""
        # The program summary is made of the tail, too: a name is of use beside its file, and what was done last is the likeliest needed.
        entries = joined(covered.entries, covered.tail)
        staying = staying_text(covered.tail, {each.seq for each in covered.plan.cleared})
        found = facts(entries, covered.reading)
        text = summary_of(found, entries, covered.model_text, covered.focus, self.options.summary, covered.room, staying)
        return SummaryText(text, nearby=nearby_files(found))


def _beside_the_newest_turn(at: Occasion, options: UllageOptions) -> Plan | None:
    """The plan that leaves the newest turn alone, for a compaction that is to save: the user may be reading it. None if there is nothing to
    gain.

    Old results are not cleared alone: that would free little and cost the cache.
    """
    newest = at.count(at.projection.messages[start_of_turns(at.projection, 1) :])
    summary = options.summary
    tail = max(
        summary.tail_tokens if summary.tail_tokens < summary.tail_share * at.threshold else int(summary.tail_share * at.threshold), newest
    )
    whole = replace(options, summary=replace(summary, tail_tokens=tail, tail_share=1.0))
    planned = usual_plan(at.projection, whole, at.threshold, at.count, brief, goal=0)
    if planned is None:
        return None
    first = newest_turn(at.projection)
    kept = replace(planned, cleared=tuple(each for each in planned.cleared if each.seq < first))
    return kept if leaves_alone(kept, first) else None


def _within_room(options: UllageOptions, room: int) -> UllageOptions:
    """The options with the user's words counted as the summary will quote them: in a small window not all of them."""
    words = min(options.summary.user_message_tokens, int(room * USER_SHARE))
    return replace(options, summary=replace(options.summary, user_message_tokens=words))


def _with_short_tail(options: UllageOptions, used: int) -> UllageOptions:
    """The options for a compaction that somebody asked for: the tail is at most a quarter of what is there now.

    Without that a short conversation would be all tail, and a click would do nothing.
    """
    tail = min(options.summary.tail_tokens, used // 4)
    return replace(options, summary=replace(options.summary, tail_tokens=tail))


RESTORED = RestoreOptions(more_files=10, file_tokens=19_540, total_tokens=19_540, tests_share=0.7, nearby_share=0.07, room_share=0.5)
"""What is read again. The numbers were chosen by hand on recorded sessions; `ullage replay --policy fitted` chooses them anew without each
project. Tests are edited often and read again less than the code that they are about: any weight from a quarter to 0.7 held more than 1.
One file may take all the room."""


ULLAGE = Policy(
    name="ullage",
    title="Long results are shortened; when full, or where it saves, a summary from the log and by the model; files in work are read again",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RESTORED,
    tail_tokens=SummaryOptions().tail_tokens,
    has_stand_in=False,
    drafts_ahead=True,
    waits_for_gain=True,
    proves=True,
    api_summaries=True,
)


def usual_plan(
    projection: Projection,
    options: UllageOptions,
    threshold: int,
    count: Count,
    digest: Digest,
    *,
    goal: int | None = None,
) -> Plan | None:
    """The moves that bring the context to `goal` tokens or fewer; None if there is nothing to gain.

    Snip and clear alone where they suffice (by default they never do), else all before a tail is summarised. `threshold` is where the
    context counts as full (tokens). `goal` is by default the policy's share of it. Both count system and tools. A goal of 0 means that a
    summary is wanted in any case.
    """
    wanted = int(options.goal_share * threshold) if goal is None else goal
    prelude = _prelude_tokens(projection, count)
    usual_tail = min(options.summary.tail_tokens, int(options.summary.tail_share * threshold))
    if wanted <= prelude and (planned := _from_the_newest(projection, options, usual_tail, count)):
        return planned
    view = _View(projection, count)
    cleared = view.with_moves(clear(projection, options.clear))
    if wanted > prelude:
        cheap = _with_snip(view, cleared, options, digest)
        if prelude + cheap.tokens <= wanted:
            return _alone(cheap, view)
    # Where the usual tail leaves nothing to summarise it must be shorter.
    tails = (usual_tail, int(options.summary.tail_share * cleared.tokens), 0)
    cuts = (view.cut_from(cleared.sizes.start_of_tail(tail)) for tail in tails)
    return _with_summary(view, cleared, cuts, options.summary) or _alone(_with_snip(view, cleared, options, digest), view)


def _from_the_newest(projection: Projection, options: UllageOptions, tail: int, count: Count) -> Plan | None:
    """The plan of a summary of the whole view, made from its newest messages alone; None if these do not tell enough.

    In a very long view nearly all is covered by the summary. How much that would take with its results cleared makes no difference any more
    once the summary is as long as one gets, so nothing of it need be looked at.
    """
    summary = options.summary
    longest = summary.user_message_tokens + summary.output_tokens
    newest = NEWEST * (tail + max(longest, int(summary.output_tokens / SUMMARY_SHARE)))
    start = len(projection.messages)
    while start and (newest > 0 or not is_legal(projection.messages, start)):
        start -= 1
        newest -= count((projection.messages[start],))
    if not start or options.clear.minimum_gain:
        return None
    view = _View(projection, count, start)
    cleared = view.with_moves(clear(projection, options.clear, start))
    cut = view.cut_from(cleared.sizes.start_of_tail(tail))
    covered = cleared.sizes.before[cut]
    if covered <= longest or int(SUMMARY_SHARE * covered) < summary.output_tokens:
        return None
    return _with_summary(view, cleared, (cut,), summary)


def reactive_plan(
    projection: Projection,
    options: UllageOptions,
    threshold: int,
    count: Count,
    digest: Digest,
) -> Plan | None:
    """The moves after the API refused the prompt as too long; None if there is nothing to gain.

    Everything but the last few messages is summarised; where these do not fit under `threshold` (tokens, with system and tools) or
    are all there is, fewer stay.
    """
    view = _View(projection, count)
    cleared = view.with_moves(clear(projection, options.clear))
    usual = max(cut for cut in view.cuts if cut <= max(len(view.messages) - options.summary.reactive_keep_messages, 0))
    later = [cut for cut in view.cuts if cut >= usual]
    room = threshold - _prelude_tokens(projection, count)
    fitting = [cut for cut in later if cleared.sizes.total - cleared.sizes.before[cut] <= room]
    summarised = _with_summary(view, cleared, fitting or later[-1:], options.summary)
    return summarised or _alone(_with_snip(view, cleared, options, digest), view)


@dataclass(frozen=True, slots=True)
class _Moves:
    """Cheap moves, and what is left after them (tokens)."""

    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    sizes: MessageSizes
    """The tokens of the messages after the clearing, also of those that are snipped."""
    tokens: int
    """The tokens of all messages that are left."""


class _View:
    """The view that is planned for, or its messages from a legal cut on, with their tokens."""

    def __init__(self, projection: Projection, count: Count, start: int = 0) -> None:
        self.projection = projection
        self.count = count
        self._start = start
        self.messages = tuple(projection.messages[start:] if start else projection.messages)
        self.cuts = legal_cuts(self.messages)
        self._now = sizes_now(self.messages, count)
        self.tokens = sum(self._now)

    @property
    def through(self) -> int:
        """The seq of the last entry."""
        return self.projection.entries[-1].seq if self.projection.entries else 0

    def with_moves(self, cleared: tuple[Cleared, ...]) -> _Moves:
        """The moves that clear these results, with the tokens that are left then."""
        sizes = MessageSizes(sizes_after(self.messages, self._now, cleared, self.count))
        return _Moves(cleared, None, sizes, sizes.total)

    def last_seq_before(self, cut: int) -> int:
        """The seq of the last entry before a cut."""
        return self.projection.last_seq_before(self._start + cut)

    def cut_from(self, start: int) -> int:
        """The first legal cut at or after message `start`; the last legal one if there is none."""
        return min((cut for cut in self.cuts if cut >= start), default=self.cuts[-1])


def _with_snip(view: _View, cleared: _Moves, options: UllageOptions, digest: Digest) -> _Moves:
    """A snip, then clearing; clearing alone where nothing can be snipped or the marker is longer than what it stands for."""
    snipped = snip(view.projection, options.snip, digest)
    if snipped is None:
        return cleared
    then = clear(preview(view.projection, snipped=snipped), options.clear)
    tokens = view.count(preview(view.projection, then, snipped).messages)
    return replace(cleared, cleared=then, snipped=snipped, tokens=tokens) if tokens < cleared.tokens else cleared


def _alone(moves: _Moves, view: _View) -> Plan | None:
    """The plan of cheap moves alone; None if they gain nothing. That old thinking goes with any compaction is a gain, too."""
    if moves.tokens >= view.tokens:
        return None
    return Plan(view.through, moves.cleared, moves.snipped, None, 0, moves.tokens)


def _with_summary(view: _View, cleared: _Moves, cuts: Iterable[int], options: SummaryOptions) -> Plan | None:
    """A summary of what is before the first of `cuts` that has anything new before it, with old results cleared after it.

    Nothing is snipped beside it: it takes the place of the middle, too. None if with no such cut the summary would make the context smaller
    than clearing alone does.
    """
    tried = (_with_summary_to(view, cleared, cut, options) for cut in cuts if has_news(view.projection, view.messages[:cut]))
    return next((each for each in tried if each is not None), None)


def _with_summary_to(view: _View, cleared: _Moves, cut: int, options: SummaryOptions) -> Plan | None:
    to = view.last_seq_before(cut)
    entries = view.projection.entries
    covered = entries[: place_of(entries, to + 1)]
    left = cleared.sizes.total - cleared.sizes.before[cut]
    tokens = left + _summary_tokens(covered, cleared.sizes.before[cut], options, view.count)
    if tokens >= cleared.tokens:
        return None
    kept = tuple(each for each in cleared.cleared if each.seq > to)
    return Plan(view.through, kept, None, to, messages_in(covered), tokens, asked=Asked("", options.output_tokens))


def _summary_tokens(covered: Sequence[Logged], tokens: int, options: SummaryOptions, count: Count) -> int:
    """Tokens that the summary will take, as far as can be told before it is written: the user's words and a share of the rest."""
    newest = max(len(covered) - WEIGHED, 0)
    words = tuple(Text(logged.entry.text) for logged in covered[newest:] if isinstance(logged.entry, UserPrompt))
    said = count([Message("user", words, (0,) * len(words))]) if words else 0
    sizes = [estimate_text(text.text) for text in words]
    if (longest := sum(min(size, options.message_tokens) for size in sizes)) < sum(sizes):
        said = said * longest // sum(sizes)
    said += sum(min(size, options.message_tokens) for stretch in said_of(covered[:newest], _words_of_the_user) for size in stretch)
    rest = max(SMALLEST_SUMMARY, int(SUMMARY_SHARE * tokens))
    return min(options.user_message_tokens, said) + min(options.output_tokens, rest)


def _words_of_the_user(entries: Sequence[Logged]) -> tuple[int, ...]:
    """Tokens of each of the user's messages, by the estimate."""
    return tuple(estimate_text(logged.entry.text) for logged in entries if isinstance(logged.entry, UserPrompt))


def _prelude_tokens(projection: Projection, count: Count) -> int:
    """Tokens of system prompt and tools, by the same measure as the messages."""
    prelude = projection.prelude
    if prelude is None:
        return 0
    tools = (f"{tool.name}\n{tool.description}\n{tool.input_schema}" for tool in prelude.tools)
    texts = tuple(Text(text) for text in (*(part.text for part in prelude.system), *tools) if text)
    return count([Message("user", texts, (0,) * len(texts))]) if texts else 0

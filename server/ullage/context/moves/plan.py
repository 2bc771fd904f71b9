"""What one compaction will do: where the summary ends, what is cleared beside it, or cheap moves alone where it would gain nothing.

A plan is made from the view alone and changes nothing. Whoever made it, `spare` keeps it from touching what the user pinned.
How a summary is written, and what is read again, stands in `context/compaction/`; `session/` has the means for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ullage.context.blocks import Message, Text
from ullage.context.compaction_entries import Cleared, FileTakenOut, Snipped
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged, UserPrompt
from ullage.context.moves.cheap import clear, messages_in, snip
from ullage.context.moves.cuts import has_news, is_legal, legal_cuts
from ullage.context.moves.preview import Count, Sizes, preview, sizes_after, sizes_now
from ullage.context.policy import SummaryOptions, UllageOptions
from ullage.context.view.log_places import place_of, said_of
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import messages_taken_out

Digest: TypeAlias = Callable[[Sequence[Logged]], str]
"""A few lines on what stands in a range of the log."""

SUMMARY_SHARE = 0.2
"""Of what a summary stands for, for estimates (Hermes: ratio 0.20)."""
WEIGHED = 1_000
"""Entries at the end whose words are counted as the model in use would count them; of older ones the estimate is good enough."""
SMALLEST_SUMMARY = 300
"""Tokens that a summary takes with hardly anything in it: its headings and what it is."""
NEWEST = 4
"""Times the tokens that a summary must cover to be as long as one gets: of so many of the newest a plan is tried first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked for a summary."""

    prompt: str
    """With `{focus}` where what the user wants favoured is put in; empty: Ullage's own, which asks for the part that only a model knows."""
    output_tokens: int
    """Most that it may write."""
    text: str | None = None
    """What it is to read; None: the conversation itself, as the last request had it, so that the prompt cache serves it."""
    check: str = ""
    """What it is asked in a second call, with its first answer before it; the second answer counts. Empty: no second call."""
    sections: int = 0
    """How many headings `prompt` asks for; 0 where it asks for none. A reply with fewer than a third of them is no summary."""
    holds: str = ""
    """What stands in every answer to `prompt`; empty where nothing does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The moves of one compaction; the summary itself is still to be written. Fits the arguments of a `Compaction`."""

    through: int
    """The seq of the last entry when it was planned."""
    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    summarise_to: int | None
    """The summary stands for everything up to and with this seq; None where none is needed."""
    covers: int
    """How many messages the summary stands for; 0 where there is none."""
    estimated_after: int
    """Tokens of the messages afterwards, before anything is restored."""
    summarise_from: int = 0
    """The summary stands for everything from this seq on; 0: from the session's first entry. Above zero it stands amid the messages, as the
    marker of a snip."""
    asked: Asked | None = None
    """What a model is asked for the summary; with an empty prompt, in Ullage's own words. None: the program writes the summary."""
    carried: tuple[int, ...] = ()
    """The seqs of entries that stay although the summary covers them."""
    without_files: tuple[FileTakenOut, ...] = ()
    """Files that the user takes out; the results that show them are cleared."""


def plan(
    projection: Projection,
    options: UllageOptions,
    threshold: int,
    count: Count,
    digest: Digest,
    *,
    goal: int | None = None,
) -> Plan | None:
    """The moves that bring the context to `goal` tokens or fewer; None where there is nothing to gain.

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
    """The summary that is planned of the whole view, from its newest messages alone; None where these do not tell.

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
    """The moves after the API refused the prompt as too long; None where there is nothing to gain.

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
    sizes: Sizes
    """Of the messages after the clearing, those that are snipped among them."""
    tokens: int
    """Of all that is left."""


class _View:
    """The view that is planned for, or its messages from a legal cut on, with what they take."""

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
        """The view with these results cleared."""
        sizes = Sizes(sizes_after(self.messages, self._now, cleared, self.count))
        return _Moves(cleared, None, sizes, sizes.total)

    def last_seq_before(self, cut: int) -> int:
        """Up to which entry a cut leaves all behind."""
        return self.projection.last_seq_before(self._start + cut)

    def cut_from(self, start: int) -> int:
        """The first legal cut at or after a message; the last legal one where there is none."""
        return min((cut for cut in self.cuts if cut >= start), default=self.cuts[-1])


def _with_snip(view: _View, cleared: _Moves, options: UllageOptions, digest: Digest) -> _Moves:
    """Snip, then clear; clearing alone where nothing can be snipped or the marker is longer than what it stands for."""
    snipped = snip(view.projection, options.snip, digest)
    if snipped is None:
        return cleared
    then = clear(preview(view.projection, snipped=snipped), options.clear)
    tokens = view.count(preview(view.projection, then, snipped).messages)
    return replace(cleared, cleared=then, snipped=snipped, tokens=tokens) if tokens < cleared.tokens else cleared


def _alone(moves: _Moves, view: _View) -> Plan | None:
    """Cheap moves alone, where they gain anything; that old thinking goes with any compaction is a gain too."""
    if moves.tokens >= view.tokens:
        return None
    return Plan(view.through, moves.cleared, moves.snipped, None, 0, moves.tokens)


def _with_summary(view: _View, cleared: _Moves, cuts: Iterable[int], options: SummaryOptions) -> Plan | None:
    """A summary of what is before the first of `cuts` that has anything new before it, and what is cleared after it.

    Nothing is snipped beside it: it takes the place of the middle too. None where there is no such cut with which the summary
    would make the context smaller than clearing alone does.
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
    """What the summary will take, as far as can be said before it is written: the user's words and a share of the rest."""
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
    """Tokens of each message (estimate)."""
    return tuple(estimate_text(logged.entry.text) for logged in entries if isinstance(logged.entry, UserPrompt))


def _prelude_tokens(projection: Projection, count: Count) -> int:
    """What system and tools take, by the same measure as the messages."""
    prelude = projection.prelude
    if prelude is None:
        return 0
    tools = (f"{tool.name}\n{tool.description}\n{tool.input_schema}" for tool in prelude.tools)
    texts = tuple(Text(text) for text in (*(part.text for part in prelude.system), *tools) if text)
    return count([Message("user", texts, (0,) * len(texts))]) if texts else 0


def spare(plan: Plan, projection: Projection, count: Count) -> Plan | None:
    """The plan without what it does to pinned entries, which stay where a summary or a snip takes their surroundings away.

    None where nothing is left of it. What the user took out by hand stays out, pinned or not: a message is not carried; of a result whose
    call stays, so does the line that says that it was taken out.
    """
    pinned = projection.pinned_entries
    if not pinned:
        return plan
    pinned = pinned.difference(*(messages_taken_out(each) for each in projection.active))
    cleared = tuple(each for each in plan.cleared if each.seq not in pinned)
    snipped = plan.snipped
    if snipped is not None:
        snipped = replace(snipped, carried=_within(pinned, snipped.first_seq, snipped.last_seq))
    if plan.summarise_to is None:
        return _spared_alone(replace(plan, cleared=cleared, snipped=snipped), plan, projection, count)
    carried = tuple(sorted({*plan.carried, *_within(pinned, plan.summarise_from, plan.summarise_to)}))
    staying = set(carried) - set(plan.carried)
    more = sum(count([message]) for message in projection.messages if not staying.isdisjoint(message.sources))
    return replace(plan, cleared=cleared, snipped=snipped, carried=carried, estimated_after=plan.estimated_after + more)


def leaves_alone(plan: Plan, first: int) -> bool:
    """Whether the plan touches no entry from seq `first` on."""
    if plan.summarise_to is not None and plan.summarise_to >= first:
        return False
    if plan.snipped is not None and plan.snipped.last_seq >= first:
        return False
    return all(each.seq < first for each in plan.cleared)


def _spared_alone(spared: Plan, planned: Plan, projection: Projection, count: Count) -> Plan | None:
    """Moves without a summary: a marker can be longer than what gives way to it, once what is pinned stays."""
    if spared == planned:
        return planned
    after = count(preview(projection, spared.cleared, spared.snipped).messages)
    return replace(spared, estimated_after=after) if after < count(projection.messages) else None


def _within(pinned: frozenset[int], first: int, last: int) -> tuple[int, ...]:
    return tuple(sorted(seq for seq in pinned if first <= seq <= last))

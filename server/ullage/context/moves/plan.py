"""What one compaction will do: cheap moves before dear ones.

A plan is made from the view alone and changes nothing. Writing the summary, reading files again and logging the compaction are the
business of `session/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ullage.context.blocks import Text
from ullage.context.entries import Cleared, Compaction, Logged, Snipped, UserPrompt
from ullage.context.moves.clear import clear
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.preview import preview
from ullage.context.moves.snip import messages_in, snip
from ullage.context.policy import SummaryNumbers, UllageNumbers
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection

Count: TypeAlias = Callable[[Sequence[Message]], int]
"""How many tokens messages take."""
Digest: TypeAlias = Callable[[Sequence[Logged]], str]
"""A few lines on what stands in a range of the log."""

SUMMARY_SHARE = 0.2
"""Of what a summary stands for, for estimates (Hermes: ratio 0.20)."""
SMALLEST_SUMMARY = 300
"""Tokens that a handoff takes with hardly anything in it: its headings and what it is."""


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
    """What a model is asked for it; None: the program writes it."""
    carried: tuple[int, ...] = ()
    """The seqs of entries that stay although the summary covers them."""


def plan(
    projection: Projection,
    numbers: UllageNumbers,
    line: int,
    count: Count,
    digest: Digest,
    *,
    goal: int | None = None,
) -> Plan | None:
    """The moves that bring the context to `goal` tokens or fewer; None where there is nothing to gain.

    Snip and clear come first. Only if more than `goal` is left is everything before a tail summarised. `line` is the number of
    tokens at which the context counts as full, `goal` by default the policy's share of it (both with system and tools);
    0 means that a summary is wanted in any case.
    """
    wanted = int(numbers.goal_share * line) if goal is None else goal
    cleared = _moved(projection, count, clear(projection, numbers.clear))
    cheap = _with_snip(cleared, projection, numbers, count, digest)
    if _prelude_tokens(projection, count) + cheap.tokens <= wanted:
        return _alone(cheap, projection, count)
    usual_tail = min(numbers.summary.tail_tokens, int(numbers.summary.tail_share * line))
    # Where the usual tail leaves nothing to summarise it must be shorter.
    tails = (usual_tail, int(numbers.summary.tail_share * cleared.tokens), 0)
    cuts = (_cut_before_tail(cleared.view.messages, tail, count) for tail in tails)
    return _with_summary(cleared, cuts, numbers.summary, count) or _alone(cheap, projection, count)


def reactive_plan(
    projection: Projection,
    numbers: UllageNumbers,
    line: int,
    count: Count,
    digest: Digest,
) -> Plan | None:
    """The moves after the API refused the prompt as too long; None where there is nothing to gain.

    Everything but the last few messages is summarised; where these do not fit under `line` (tokens, with system and tools) or
    are all there is, fewer stay.
    """
    cleared = _moved(projection, count, clear(projection, numbers.clear))
    messages = cleared.view.messages
    cuts = legal_cuts(messages)
    usual = max(cut for cut in cuts if cut <= max(len(messages) - numbers.summary.reactive_keep_messages, 0))
    later = [cut for cut in cuts if cut >= usual]
    room = line - _prelude_tokens(projection, count)
    fitting = [cut for cut in later if count(messages[cut:]) <= room]
    summarised = _with_summary(cleared, fitting or later[-1:], numbers.summary, count)
    return summarised or _alone(_with_snip(cleared, projection, numbers, count, digest), projection, count)


@dataclass(frozen=True, slots=True)
class _Moves:
    """Cheap moves, planned when `through` was the last entry; the view after them, and the tokens of its messages."""

    through: int
    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    view: Projection
    tokens: int


def _moved(projection: Projection, count: Count, cleared: tuple[Cleared, ...], snipped: Snipped | None = None) -> _Moves:
    view = preview(projection, cleared, snipped)
    through = projection.entries[-1].seq if projection.entries else 0
    return _Moves(through, cleared, snipped, view, count(view.messages))


def _with_snip(cleared: _Moves, projection: Projection, numbers: UllageNumbers, count: Count, digest: Digest) -> _Moves:
    """Snip, then clear; clearing alone where nothing can be snipped or the marker is longer than what it stands for."""
    snipped = snip(projection, numbers.snip, digest)
    if snipped is None:
        return cleared
    both = _moved(projection, count, clear(preview(projection, snipped=snipped), numbers.clear), snipped)
    return both if both.tokens < cleared.tokens else cleared


def _alone(moves: _Moves, projection: Projection, count: Count) -> Plan | None:
    """Cheap moves alone, where they gain anything; that old thinking goes with any compaction is a gain too."""
    if moves.tokens >= count(projection.messages):
        return None
    return Plan(moves.through, moves.cleared, moves.snipped, None, 0, moves.tokens)


def _cut_before_tail(messages: Sequence[Message], tail_tokens: int, count: Count) -> int:
    """The first legal cut with at most `tail_tokens` after it; the last legal one where there is none."""
    start = len(messages)
    tokens = 0
    while start > 0:
        tokens += count(messages[start - 1 : start])
        if tokens > tail_tokens:
            break
        start -= 1
    cuts = legal_cuts(messages)
    return min((cut for cut in cuts if cut >= start), default=cuts[-1])


def _with_summary(cleared: _Moves, cuts: Iterable[int], numbers: SummaryNumbers, count: Count) -> Plan | None:
    """A summary of what is before the first of `cuts` that has anything new before it, and what is cleared after it.

    Nothing is snipped beside it: it takes the place of the middle too. None where there is no such cut, or where the
    summary would not make the context smaller than clearing alone does.
    """
    view = cleared.view
    cut = next((cut for cut in cuts if _has_news(view, cut)), None)
    if cut is None:
        return None
    to = view.last_seq_before(cut)
    covered = [logged for logged in view.entries if logged.seq <= to]
    tokens = count(view.messages[cut:]) + _summary_tokens(covered, count(view.messages[:cut]), numbers, count)
    if tokens >= cleared.tokens:
        return None
    kept = tuple(each for each in cleared.cleared if each.seq > to)
    return Plan(cleared.through, kept, None, to, messages_in(covered), tokens, asked=Asked("", numbers.output_tokens))


def _has_news(view: Projection, cut: int) -> bool:
    """Whether anything before the cut is more than what an earlier compaction left."""
    left_by_compactions = {logged.seq for logged in view.entries if isinstance(logged.entry, Compaction)}
    return any(source not in left_by_compactions for message in view.messages[:cut] for source in message.sources)


def _summary_tokens(covered: Sequence[Logged], tokens: int, numbers: SummaryNumbers, count: Count) -> int:
    """What the handoff will take, as far as can be said before it is written: the user's words and a share of the rest."""
    words = tuple(Text(logged.entry.text) for logged in covered if isinstance(logged.entry, UserPrompt))
    said = count([Message("user", words, (0,) * len(words))]) if words else 0
    rest = max(SMALLEST_SUMMARY, int(SUMMARY_SHARE * tokens))
    return min(numbers.user_message_tokens, said) + min(numbers.output_tokens, rest)


def _prelude_tokens(projection: Projection, count: Count) -> int:
    """What system and tools take, by the same measure as the messages."""
    prelude = projection.prelude
    if prelude is None:
        return 0
    tools = (f"{tool.name}\n{tool.description}\n{tool.input_schema}" for tool in prelude.tools)
    texts = tuple(Text(text) for text in (*(part.text for part in prelude.system), *tools) if text)
    return count([Message("user", texts, (0,) * len(texts))]) if texts else 0

"""What one compaction will do, as a value, and what the view would be and take after it.

A plan is made by the engine of a policy, from the view alone, and changes nothing. Whoever made it, `spare` keeps it from touching what the
user pinned. A look at the view after some moves (`preview`) costs a whole fold. The sizes of its messages are worked out without one, since
planning tries several moves. `context/compaction/` has how a summary is written, and what is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

from ullage.context.blocks import Message, RedactedThinking, Thinking, ToolResult
from ullage.context.compaction_entries import Cleared, Compaction, FileTakenOut, Snipped, Summarised
from ullage.context.entries import Logged
from ullage.context.moves.cuts import Count
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import messages_taken_out

Digest: TypeAlias = Callable[[Sequence[Logged]], str]
"""Gives a few lines on what stands in a range of the log."""
SUMMARY_SHARE = 0.2
"""Share of what it stands for that a summary is estimated to take (Hermes: ratio 0.20)."""
SMALLEST_SUMMARY = 300
"""Tokens that a summary takes with hardly anything in it: its headings and what it is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a summary: what the model is asked, and how much it may write."""

    prompt: str
    """What the model is asked, with `{focus}` where what the user wants favoured is put in. Empty: Ullage's own prompt, which asks for the
    part that only a model knows."""
    output_tokens: int
    """Tokens that it may write at most."""
    text: str | None = None
    """The text that the model is to read; None: the conversation itself, as the last request had it, so that the prompt cache serves it."""
    check: str = ""
    """What the model is asked in a second call, with its first answer before it; the second answer counts. Empty: no second call."""
    sections: int = 0
    """How many headings `prompt` asks for; 0 if it asks for none. A reply with fewer than a third of them is no summary."""
    holds: str = ""
    """A text that stands in every answer to `prompt`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The moves of one compaction, of which the summary is still to be written. Its fields fit those of a `Compaction`."""

    through: int
    """The seq of the last entry when it was planned."""
    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    summarise_to: int | None
    """The seq up to and with which the summary stands for everything; None if no summary is needed."""
    covers: int
    """The number of messages that the summary stands for; 0 if there is none."""
    estimated_after: int
    """Tokens that the messages take afterwards, before anything is restored."""
    summarise_from: int = 0
    """The seq from which on the summary stands for everything; 0: from the session's first entry. Above zero it stands amid the messages,
    as the marker of a snip."""
    asked: Asked | None = None
    """The request to a model for the summary; with an empty prompt, in Ullage's own words. None: the program writes the summary."""
    carried: tuple[int, ...] = ()
    """The seqs of entries that stay although the summary covers them."""
    without_files: tuple[FileTakenOut, ...] = ()
    """The files that the user takes out; the results that show them are cleared."""


def spare(plan: Plan, projection: Projection, count: Count) -> Plan | None:
    """The plan without what it does to pinned entries, which stay where a summary or a snip takes their surroundings away.

    None if nothing is left of it. What the user took out by hand stays out, pinned or not: such a message is not carried, and of a result
    whose call stays, the line stays that says that it was taken out.
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
    """The spared moves of a plan without a summary; None if they gain nothing: a marker can be longer than what gives way to it, once what
    is pinned stays."""
    if spared == planned:
        return planned
    after = count(preview(projection, spared.cleared, spared.snipped).messages)
    return replace(spared, estimated_after=after) if after < count(projection.messages) else None


def _within(pinned: frozenset[int], first: int, last: int) -> tuple[int, ...]:
    return tuple(sorted(seq for seq in pinned if first <= seq <= last))


def preview(
    projection: Projection,
    cleared: tuple[Cleared, ...] = (),
    snipped: Snipped | None = None,
    summarised: Summarised | None = None,
    without_files: tuple[FileTakenOut, ...] = (),
) -> Projection:
    """`projection` as it would be with these moves made in one compaction; it stays as it is itself. Costs one whole fold."""
    last = projection.entries[-1] if projection.entries else None
    through = last.seq if last else 0
    compaction = Compaction(
        id=f"preview after {through}",
        trigger="manual",
        rung="moves",
        through=through,
        cleared=cleared,
        snipped=snipped,
        summarised=summarised,
        restored=(),
        resume="",
        focus="",
        policy="",
        tokens_before=0,
        estimated_after=0,
        without_files=without_files,
    )
    return projection.with_appended(Logged(through + 1, last.at if last else 0.0, compaction))


class MessageSizes:
    """Tokens of messages, by their index; `before[i]` is the sum of all before message `i`."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.before = [0, *accumulate(tokens)]

    @property
    def total(self) -> int:
        """Tokens of all messages."""
        return self.before[-1]

    def start_of_tail(self, tokens: int) -> int:
        """The index of the first message of the longest tail that takes no more than `tokens`."""
        start = len(self.before) - 1
        while start > 0 and self.total - self.before[start - 1] <= tokens:
            start -= 1
        return start


def sizes_now(messages: Sequence[Message], count: Count) -> list[int]:
    """Tokens of each message as it is."""
    return [count((message,)) for message in messages]


def sizes_after(messages: Sequence[Message], now: Sequence[int], cleared: Iterable[Cleared], count: Count) -> list[int]:
    """Tokens of each message after a compaction that clears these results: with their placeholders, and without any thinking."""
    placeholders = {each.seq: each.placeholder for each in cleared}
    after = (_after(message, placeholders) for message in messages)
    return [size if left is message else count((left,)) for message, left, size in zip(messages, after, now, strict=True)]


def _after(message: Message, placeholders: Mapping[int, str]) -> Message:
    if message.role == "assistant":
        kept = [index for index, block in enumerate(message.blocks) if not isinstance(block, Thinking | RedactedThinking)]
        if len(kept) == len(message.blocks):
            return message
        return Message(message.role, tuple(message.blocks[index] for index in kept), tuple(message.sources[index] for index in kept))
    if placeholders.keys().isdisjoint(message.sources):
        return message
    blocks = (
        ToolResult(block.tool_use_id, placeholders[source], block.is_error)
        if isinstance(block, ToolResult) and source in placeholders
        else block
        for block, source in zip(message.blocks, message.sources, strict=True)
    )
    return Message(message.role, tuple(blocks), message.sources)

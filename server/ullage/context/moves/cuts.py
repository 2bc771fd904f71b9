"""Where a list of messages may be cut in two, so that one part can go: legal cuts, the turns of the user, and the tail that stays.

A cut at `i` stands before `messages[i]`; 0 and `len(messages)` are cuts too. Each property says of one cut whether it may be;
a cut is legal where all of them agree. Messages are never cut inside. A part goes only if it holds news (`has_news`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from ullage.context.blocks import Message, ToolResult, ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import UserPrompt
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection

Property: TypeAlias = Callable[[Sequence[Message], int], bool]
"""Tells whether a cut may be made there, as far as one reason goes. It looks only at what is near the cut or at the end."""

Count: TypeAlias = Callable[[Sequence[Message]], int]
"""Gives the tokens of messages."""


def parts_no_call_from_its_result(messages: Sequence[Message], cut: int) -> bool:
    """Whether the cut is not right after a message with calls: their results are in the next, or still to come. The API refuses either
    alone."""
    return cut == 0 or not any(isinstance(block, ToolUse) for block in messages[cut - 1].blocks)


def keeps_batches_whole(messages: Sequence[Message], cut: int) -> bool:
    """Whether no results come first after the cut, whichever calls they are for: they were made and are answered together."""
    return cut in (0, len(messages)) or not isinstance(messages[cut].blocks[0], ToolResult)


def keeps_what_is_unanswered(messages: Sequence[Message], cut: int) -> bool:
    """Whether all that the model has not answered yet stays after the cut: it must read that as it is."""
    return cut < len(messages) or not messages or messages[-1].role == "assistant"


PROPERTIES: tuple[Property, ...] = (
    parts_no_call_from_its_result,
    keeps_batches_whole,
    keeps_what_is_unanswered,
)


def is_legal(messages: Sequence[Message], cut: int) -> bool:
    """Whether a cut may be made there, as far as all properties go."""
    return all(holds(messages, cut) for holds in PROPERTIES)


def legal_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Every legal cut, ascending. 0 is always one."""
    seen = tuple(messages)
    cuts: Sequence[int] = range(len(seen) + 1)
    for holds in PROPERTIES:
        cuts = [cut for cut in cuts if holds(seen, cut)]
    return tuple(cuts)


def begins_turn(projection: Projection, message: Message) -> bool:
    """Whether the user asks for something new in the message. A prompt that steers a running turn begins none."""
    return _turns_in(projection, message) > 0


def start_of_turns(projection: Projection, turns: int) -> int:
    """The index of the message with which the newest `turns` turns begin; 0 if there are no more than that in view."""
    messages = projection.messages
    for index in range(len(messages) - 1, -1, -1):
        turns -= _turns_in(projection, messages[index])
        if turns <= 0:
            return index
    return 0


def newest_turn(projection: Projection) -> int:
    """The seq of the prompt with which the newest turn began; where none is in view, that of the first entry."""
    entries = projection.entries
    prompts = (each.seq for each in reversed(entries) if isinstance(each.entry, UserPrompt) and not each.entry.steering)
    return next(prompts, entries[0].seq if entries else 0)


def _turns_in(projection: Projection, message: Message) -> int:
    if message.role == "assistant":
        return 0
    entries = (entry_at(projection.entries, source) for source in set(message.sources))
    return sum(1 for entry in entries if isinstance(entry, UserPrompt) and not entry.steering)


def has_news(projection: Projection, messages: Iterable[Message], staying: AbstractSet[int] = frozenset()) -> bool:
    """Whether `messages` of the view hold anything that no compaction brought or carried. Entries in `staying`, which stay in any case, do
    not count."""
    kept = carried(projection) | staying
    sources = {source for message in messages for source in message.sources} - kept
    return any(not isinstance(entry_at(projection.entries, source), Compaction) for source in sources)


def carried(projection: Projection) -> frozenset[int]:
    """The seqs of entries that compactions in force left in view although they cover them."""
    seqs = (
        (compaction.summarised.carried if compaction.summarised else (), compaction.snipped.carried if compaction.snipped else ())
        for compaction in projection.active
    )
    return frozenset(chain.from_iterable(chain.from_iterable(seqs)))


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest messages that stay: all that any of the options asks for, and no more than the limit allows. By default only what is
    unanswered."""

    messages: int = 0
    """The number of newest messages that stay; more where a call would be parted from its result."""
    turns: int = 0
    """The number of the user's newest turns that stay, each whole."""
    tokens: int = 0
    """The newest messages stay that together take no more than these tokens."""
    share_of_threshold: float = 0.0
    """The newest messages stay that together take no more than this share of the threshold."""
    share_of_view: float = 0.0
    """The newest messages stay that together take no more than this share of all messages in view."""
    limit: TokenRange | None = None
    """The tokens that stay at most, however much the other options ask for; None: no limit."""
    with_summary: bool = False
    """Whether the tokens of the summary before the tail count as part of the tail's."""
    at_prompts: bool = False
    """Whether the tail begins with a message in which the user asks for something, so that turns stay whole."""
    unanswered: bool = True
    """Whether what the model has not answered yet stays in any case."""


@dataclass(frozen=True, slots=True)
class TokenRange:
    """A share of the threshold, within a least and a most number of tokens."""

    share_of_threshold: float
    least: int
    most: int

    def of(self, threshold: int) -> int:
        """The tokens at that threshold."""
        return min(self.most, max(self.least, int(threshold * self.share_of_threshold)))


def cut_before(tail: Tail, projection: Projection, threshold: int, count: Count) -> int:
    """The legal cut before the tail; 0 if everything is tail. `threshold` is in tokens."""
    messages = projection.messages
    cuts = possible_cuts(tail, projection)
    if tail.at_prompts:
        cuts = [cut for cut in cuts if cut in (0, len(messages)) or begins_turn(projection, messages[cut])]
    by_number = min(len(messages) - tail.messages, start_of_turns(projection, tail.turns) if tail.turns else len(messages))
    tokens = max(
        tail.tokens, int(threshold * tail.share_of_threshold), int(count(messages) * tail.share_of_view) if tail.share_of_view else 0
    )
    if tail.with_summary and not has_news(projection, messages[:1]):
        tokens -= count(messages[:1])
    by_number = max(cut for cut in cuts if cut <= max(by_number, 0))
    cut = min(by_number, _first_from(cuts, _start_within(messages, tokens, count)))
    if tail.limit is None:
        return cut
    return max(cut, _first_from(possible_cuts(tail, projection), _start_within(messages, tail.limit.of(threshold), count)))


def possible_cuts(tail: Tail, projection: Projection) -> list[int]:
    """The cuts that leave the conversation valid, ascending. If the tail does not keep what is unanswered, the cut after all messages may
    be among them."""
    messages = projection.messages
    cuts = list(legal_cuts(messages))
    if not tail.unanswered and not projection.pending_tool_uses and cuts[-1] != len(messages) and messages[-1].role == "user":
        cuts.append(len(messages))
    return cuts


def _first_from(cuts: Sequence[int], start: int) -> int:
    return next((cut for cut in cuts if cut >= start), cuts[-1])


def _start_within(messages: Sequence[Message], tokens: int, count: Count) -> int:
    """The index at which the newest messages begin that together take no more than `tokens`."""
    start = len(messages)
    while start > 0:
        tokens -= count(messages[start - 1 : start])
        if tokens < 0:
            break
        start -= 1
    return start

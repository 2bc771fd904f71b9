"""Where the prompt cache is marked.

The API writes a cache entry only at a mark, and looks for one at a mark and the 19 blocks before it (anthropic-api.md 2.1). The
end of the system prompt always carries a mark; the other three are placed here. Looks only at the tail of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from ullage.context.blocks import Block, RedactedThinking, Text, Thinking
from ullage.context.view.message import Message

LOOK_BACK = 19
"""How many blocks before a mark the API still finds what an earlier request wrote."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A block that carries a cache mark: everything up to and with it can be read from the prompt cache later."""

    message: int
    block: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A block and its distance from the end of the messages (blocks)."""

    breakpoint: Breakpoint
    distance: int
    ends_user_message: bool


def place(messages: Sequence[Message]) -> tuple[Breakpoint, ...]:
    """At most three marks, in the order of their blocks.

    The ends of the last two user messages: where this request writes, and where the one before it wrote. Where more than
    `LOOK_BACK` blocks lie between these two, or else before them, one more mark in between bridges the gap.
    """
    places = list(_markable_backwards(messages))
    ends = [each for each in places if each.ends_user_message]
    before_gaps = (later for later, earlier in pairwise(ends) if earlier.distance - later.distance > LOOK_BACK)
    bridges = [_bridge(places, later) for later in islice(before_gaps, 1)]
    marks = {each.breakpoint for each in (*ends[:2], *bridges)}
    return tuple(sorted(marks, key=lambda mark: (mark.message, mark.block)))


def _bridge(places: Sequence[_Place], later: _Place) -> _Place:
    """The block farthest before `later` from which it can still be reached; `later` itself where there is none."""
    reachable = (each for each in places if later.distance <= each.distance <= later.distance + LOOK_BACK)
    return max(reachable, key=lambda each: each.distance)


def _markable_backwards(messages: Sequence[Message]) -> Iterator[_Place]:
    """The blocks that may carry a mark, last first, back to the end of the third user message from the end."""
    distance = 0
    ends_found = 0
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        is_open = message.role == "user"
        for at in range(len(message.blocks) - 1, -1, -1):
            if _may_be_marked(message.blocks[at]):
                yield _Place(Breakpoint(index, at), distance, ends_user_message=is_open)
                ends_found += is_open
                is_open = False
            if ends_found == 3:
                return
            distance += 1


def _may_be_marked(block: Block) -> bool:
    if isinstance(block, Text):
        return bool(block.text.strip())
    return not isinstance(block, Thinking | RedactedThinking)

"""Where a list of messages may be cut in two, so that one part can go.

A cut at `i` stands before `messages[i]`; 0 and `len(messages)` are cuts too. Each property says of one cut whether it may be;
a cut is legal where all of them agree. Messages are never cut inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ullage.context.blocks import ToolResult, ToolUse
from ullage.context.view.message import Message

Property: TypeAlias = Callable[[Sequence[Message], int], bool]
"""Whether a cut may be made there, for one reason. Looks only at what is near the cut or at the end."""


def parts_no_call_from_its_result(messages: Sequence[Message], cut: int) -> bool:
    """No cut right after a message with calls: their results are in the next, or still to come. The API refuses either alone."""
    return cut == 0 or not any(isinstance(block, ToolUse) for block in messages[cut - 1].blocks)


def keeps_batches_whole(messages: Sequence[Message], cut: int) -> bool:
    """No results come first after a cut, whichever calls they are for: they were made and are answered together."""
    return cut in (0, len(messages)) or not isinstance(messages[cut].blocks[0], ToolResult)


def keeps_what_is_unanswered(messages: Sequence[Message], cut: int) -> bool:
    """What the model has not answered yet stays after the cut: it must read it as it is."""
    return cut < len(messages) or not messages or messages[-1].role == "assistant"


PROPERTIES: tuple[Property, ...] = (
    parts_no_call_from_its_result,
    keeps_batches_whole,
    keeps_what_is_unanswered,
)


def is_legal(messages: Sequence[Message], cut: int) -> bool:
    """Whether a cut may be made there."""
    return all(holds(messages, cut) for holds in PROPERTIES)


def legal_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Every legal cut, ascending. 0 is always one."""
    seen = tuple(messages)
    cuts: Sequence[int] = range(len(seen) + 1)
    for holds in PROPERTIES:
        cuts = [cut for cut in cuts if holds(seen, cut)]
    return tuple(cuts)

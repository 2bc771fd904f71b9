"""Where a list of messages may be cut in two, so that one part can go.

A cut at `i` stands before `messages[i]`; 0 and `len(messages)` are cuts too. Each property says of one cut whether it may be;
a cut is legal where all of them agree. Messages are never cut inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ullage.context.blocks import ToolResult, ToolUse
from ullage.context.message import Message

Property: TypeAlias = Callable[[Sequence[Message], int], bool]
"""Whether a cut may be made there, for one reason. Looks only at what is near the cut or at the end."""


def parts_no_call_from_its_result(messages: Sequence[Message], cut: int) -> bool:
    """A call and its result stay on the same side: the API refuses either without the other.

    A call whose result is still to come, in a last message, stays after every cut.
    """
    if cut == 0:
        return True
    called = {block.id for block in messages[cut - 1].blocks if isinstance(block, ToolUse)}
    if cut == len(messages):
        return not called
    return not any(isinstance(block, ToolResult) and block.tool_use_id in called for block in messages[cut].blocks)


def keeps_batches_whole(messages: Sequence[Message], cut: int) -> bool:
    """No results come first after a cut, whichever their calls: they were made and answered together."""
    return cut in (0, len(messages)) or not isinstance(messages[cut].blocks[0], ToolResult)


def keeps_what_is_unanswered(messages: Sequence[Message], cut: int) -> bool:
    """What the model has not answered yet stays after the cut: it must read it as it is."""
    return cut < len(messages) or not messages or messages[-1].role == "assistant"


PROPERTIES: tuple[Property, ...] = (
    parts_no_call_from_its_result,
    keeps_batches_whole,
    keeps_what_is_unanswered,
)


def legal_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Every legal cut, ascending. 0 is always one."""
    cuts = range(len(messages) + 1)
    return tuple(cut for cut in cuts if all(holds(messages, cut) for holds in PROPERTIES))

"""The tool results that are in view, each with its call: what the moves that shorten results choose from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Media, ToolResult, ToolUse
from ullage.context.entries import Logged, ToolReturned
from ullage.context.view.log_places import clipped_to, entry_at
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool's result that is in view, with its call; `text` and `media` are what the model sees of it."""

    seq: int
    returned: ToolReturned
    call: ToolUse
    text: str
    message: int
    """The index of its message."""
    answered: bool
    """Whether the model has replied since."""
    media: tuple[Media, ...] = ()


def results_in_view(projection: Projection, start: int = 0) -> list[Shown]:
    """In log order; those of the messages from `start`, a legal cut, on. Costs what is in view from there on, however long the log is."""
    messages = projection.messages[start:] if start else projection.messages
    last_reply = max((index for index, message in enumerate(messages, start) if message.role == "assistant"), default=0)
    shown: list[Shown] = []
    calls: Mapping[str, ToolUse] = {}
    for index, message in enumerate(messages, start):
        if message.role == "assistant":
            calls = {block.id: block for block in message.blocks if isinstance(block, ToolUse)}
            continue
        shown.extend(_of(message, index, calls, projection.entries, answered=index < last_reply))
    return sorted(shown, key=lambda result: result.seq)


def _of(message: Message, index: int, calls: Mapping[str, ToolUse], entries: Sequence[Logged], *, answered: bool) -> Iterator[Shown]:
    for block, seq in zip(message.blocks, message.sources, strict=True):
        if not isinstance(block, ToolResult):
            continue
        returned = entry_at(entries, seq)
        if isinstance(returned, ToolReturned):
            yield Shown(seq, returned, calls[block.tool_use_id], block.content, index, answered, block.media)


def whole_output(entries: Sequence[Logged], result: Shown) -> str | None:
    """Where the whole of a result is that was clipped; None where the model got all of it."""
    if result.returned.full_output:
        return result.returned.full_output
    clipped = clipped_to(entries, result.seq)
    return clipped.full_output if clipped else None

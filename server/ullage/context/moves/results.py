"""The tool results that are in view, each with its call: what the moves that shorten results choose from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import ToolResult, ToolUse
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, ToolReturned
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Shown:
    """A tool's result that is in view, with its call; `text` is what the model sees of it."""

    seq: int
    returned: ToolReturned
    call: ToolUse
    text: str
    message: int
    """The index of its message."""
    answered: bool
    """Whether the model has replied since."""


def results_in_view(projection: Projection) -> list[Shown]:
    """In log order. Costs what is in view, however long the log is."""
    messages = projection.messages
    last_reply = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=0)
    shown: list[Shown] = []
    calls: Mapping[str, ToolUse] = {}
    for index, message in enumerate(messages):
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
            yield Shown(seq, returned, calls[block.tool_use_id], block.content, index, answered)


def entry_at(entries: Sequence[Logged], seq: int) -> Entry | None:
    """The entry with this seq; None where there is none."""
    index = _place(entries, seq)
    return entries[index].entry if index < len(entries) and entries[index].seq == seq else None


def whole_output(entries: Sequence[Logged], result: Shown) -> str | None:
    """Where the whole of a result is that was clipped; None where the model got all of it."""
    if result.returned.full_output:
        return result.returned.full_output
    for index in range(_place(entries, result.seq) + 1, len(entries)):
        entry = entries[index].entry
        if isinstance(entry, Clipped) and entry.seq == result.seq:
            return entry.full_output
        if isinstance(entry, AssistantReply):  # nothing is clipped once it was sent
            return None
    return None


def _place(entries: Sequence[Logged], seq: int) -> int:
    """At once in a log without gaps, as all are that a store wrote."""
    if 0 < seq <= len(entries) and entries[seq - 1].seq == seq:
        return seq - 1
    return bisect_left(entries, seq, key=lambda logged: logged.seq)

"""Clear: old tool results that the model has answered give way to a placeholder that says how to get them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, ToolResult, ToolUse
from ullage.context.entries import Cleared, Clipped, Logged, ToolReturned
from ullage.context.policy import ClearNumbers
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection

CALL_CHARACTERS = 100
"""Of a placeholder, for what the tool was called with."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A tool's result that is in view, with its call; `text` is what the model sees of it, `file` holds the whole."""

    seq: int
    returned: ToolReturned
    call: ToolUse
    text: str
    file: str | None
    answered: bool


def clear(projection: Projection, numbers: ClearNumbers) -> tuple[Cleared, ...]:
    """The results that can go, in log order.

    Kept are: what the model has not answered yet, the newest results, the newest read of each file, what is short, what
    is cleared already, and what its placeholder would not make shorter.
    """
    shown = list(_results_in_view(projection))
    cleared_before = {cleared.seq for compaction in projection.active for cleared in compaction.cleared}
    kept = cleared_before | _newest(shown, numbers.keep_results) | _newest_reads(shown)
    return tuple(
        Cleared(result.seq, placeholder)
        for result in shown
        if result.answered
        and result.seq not in kept
        and len(result.text) > numbers.minimum_characters
        and len(placeholder := _placeholder(result)) < len(result.text)
    )


def _newest(shown: Sequence[_Shown], keep: int) -> set[int]:
    return {result.seq for result in shown[max(len(shown) - keep, 0) :]}


def _newest_reads(shown: Sequence[_Shown]) -> set[int]:
    reads = {touch.path: result.seq for result in shown for touch in result.returned.touched if touch.kind == "read"}
    return set(reads.values())


def _results_in_view(projection: Projection) -> Iterator[_Shown]:
    """In log order."""
    messages = projection.messages
    returned = _returned(projection.entries)
    files = _files_of_whole_outputs(projection.entries)
    last_reply = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=0)
    shown: list[_Shown] = []
    calls: Mapping[str, ToolUse] = {}
    for index, message in enumerate(messages):
        shown.extend(
            _Shown(seq, returned[seq], calls[block.tool_use_id], block.content, files.get(seq), answered=index < last_reply)
            for block, seq in zip(message.blocks, message.sources, strict=True)
            if isinstance(block, ToolResult) and seq in returned
        )
        calls = _calls(message)
    yield from sorted(shown, key=lambda result: result.seq)


def _returned(entries: Sequence[Logged]) -> Mapping[int, ToolReturned]:
    return {logged.seq: logged.entry for logged in entries if isinstance(logged.entry, ToolReturned)}


def _files_of_whole_outputs(entries: Sequence[Logged]) -> Mapping[int, str]:
    """The path of the whole output by the seq of its result, for those that were clipped."""
    files: dict[int, str] = {}
    for logged in entries:
        if isinstance(logged.entry, ToolReturned) and logged.entry.full_output:
            files[logged.seq] = logged.entry.full_output
        elif isinstance(logged.entry, Clipped):
            files[logged.entry.seq] = logged.entry.full_output
    return files


def _calls(message: Message) -> Mapping[str, ToolUse]:
    return {block.id: block for block in message.blocks if isinstance(block, ToolUse)}


def _placeholder(result: _Shown) -> str:
    returned = result.returned
    whole = f", or read {result.file}" if result.file else ""
    return (
        f"[Cleared to make room: {returned.tool}{_called_with(result.call.input)} gave {returned.characters:,} characters. "
        f"To see them again: recall with tool_use_id {returned.tool_use_id}{whole}]"
    )


def _called_with(call_input: Mapping[str, Json]) -> str:
    """What a tool was called with, in a few words: `(path: src/a.py)`; empty where it was called with nothing."""
    words = ", ".join(f"{name}: {_one_line(value)}" for name, value in call_input.items())
    if not words:
        return ""
    return f"({words})" if len(words) <= CALL_CHARACTERS else f"({words[: CALL_CHARACTERS - 1].rstrip()}…)"


def _one_line(value: Json) -> str:
    """The value's beginning, on one line."""
    return " ".join(str(value)[: 2 * CALL_CHARACTERS].split())

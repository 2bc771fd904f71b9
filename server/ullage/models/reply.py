"""A streamed reply put together: the events of the Messages API in, our events and at the end the `Reply` out.

Works on the decoded JSON of each event, so that kinds of blocks and events that are not known here (the API adds some
between versions) are passed over without harm to the rest. What is sent is written in `serialise.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from ullage.context.blocks import (
    AssistantBlock,
    CompactionBlock,
    Json,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from ullage.models.errors import StreamBroken
from ullage.models.model import (
    UNPARSABLE_INPUT,
    ModelEvent,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolUseStarted,
)


@dataclass(slots=True)
class _Block:
    """A block under construction. `index` is its place in the reply, None while it has none (empty text has none)."""

    kind: Literal["text", "thinking", "redacted_thinking", "tool_use"]
    index: int | None
    pieces: list[str] = field(default_factory=list[str])
    id: str = ""
    name: str = ""
    signature: str = ""
    given_input: Mapping[str, Json] = field(default_factory=dict[str, Json])


class ReplyBuilder:
    """Takes the events of one stream in order. Its indexes are places in `Reply.blocks`, whatever the API's were."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._placed = 0
        self._usage: dict[str, object] = {}
        self._stop_reason: str | None = None
        self._compaction: str | None = None
        self._dropped_thinking = 0

    def accept(self, event: Mapping[str, object]) -> list[ModelEvent]:
        """What this event of the API tells the user; nothing for bookkeeping and for what is not known here."""
        match event.get("type"):
            case "message_start":
                self._message_started(_mapping(event.get("message")))
            case "content_block_start":
                return self._block_started(_index(event), _mapping(event.get("content_block")))
            case "content_block_delta":
                return self._block_grew(_index(event), _mapping(event.get("delta")))
            case "message_delta":
                self._message_changed(event)
            case _:
                pass
        return []

    def accept_whole(self, message: Mapping[str, object]) -> list[ModelEvent]:
        """The same for a message that came in one piece."""
        content = message.get("content")
        blocks = cast(list[object], content) if isinstance(content, list) else []
        events: list[ModelEvent] = []
        self._message_started(message)
        for index, block in enumerate(blocks):
            events += self._block_started(index, _mapping(block))
        self._message_changed({"delta": message, "usage": message.get("usage")})
        return events

    def reply(self) -> Reply:
        """The whole reply. Raises `StreamBroken` where the stream ended before the model said why it stopped."""
        if self._stop_reason is None:
            raise StreamBroken("The connection ended before the reply was whole. Send the prompt again or continue the turn.")
        placed = [block for block in self._blocks.values() if block.index is not None]
        return Reply(
            blocks=tuple(_finished(block) for block in placed),
            model=self._model,
            stop_reason=self._stop_reason,
            usage=_usage(self._usage),
            compaction=CompactionBlock(self._compaction, self._model) if self._compaction is not None else None,
            dropped_thinking=self._dropped_thinking,
        )

    def _message_started(self, message: Mapping[str, object]) -> None:
        model = message.get("model")
        if isinstance(model, str) and model:
            self._model = model
        self._take_usage(message.get("usage"))
        dropped = ("thinking_dropped", "prefix_binding_mismatch")  # what another model thought is dropped too, as it should be
        changes = _mappings(message.get("input_transformations"))
        self._dropped_thinking = sum((each.get("type"), each.get("reason")) == dropped for each in changes)

    def _block_started(self, index: int, content: Mapping[str, object]) -> list[ModelEvent]:
        match content.get("type"):
            case "text":
                self._blocks[index] = _Block("text", None)
                return self._text_grew(self._blocks[index], _string(content, "text"))
            case "thinking":
                block = _Block("thinking", self._next_place())
                block.signature = _string(content, "signature")
                self._blocks[index] = block
                return self._thinking_grew(block, _string(content, "thinking"))
            case "redacted_thinking":
                block = _Block("redacted_thinking", self._next_place())
                block.pieces.append(_string(content, "data"))
                self._blocks[index] = block
            case "tool_use":
                place = self._next_place()
                block = _Block("tool_use", place)
                block.id, block.name = _string(content, "id"), _string(content, "name")
                block.given_input = cast(Mapping[str, Json], _mapping(content.get("input")))
                self._blocks[index] = block
                return [ToolUseStarted(place, block.id, block.name)]
            case "compaction":
                self._compaction = _as_it_came(content)
            case _:
                pass
        return []

    def _block_grew(self, index: int, delta: Mapping[str, object]) -> list[ModelEvent]:
        block = self._blocks.get(index)
        if block is None:
            return []
        match delta.get("type"), block.kind:
            case "text_delta", "text":
                return self._text_grew(block, _string(delta, "text"))
            case "thinking_delta", "thinking":
                return self._thinking_grew(block, _string(delta, "thinking"))
            case "signature_delta", "thinking":
                block.signature = _string(delta, "signature")
            case "input_json_delta", "tool_use":
                piece = _string(delta, "partial_json")
                if piece and block.index is not None:
                    block.pieces.append(piece)
                    return [ToolInputDelta(block.index, piece)]
            case _:
                pass
        return []

    def _text_grew(self, block: _Block, piece: str) -> list[ModelEvent]:
        if not piece:
            return []
        if block.index is None:
            block.index = self._next_place()
        block.pieces.append(piece)
        return [TextDelta(block.index, piece)]

    def _thinking_grew(self, block: _Block, piece: str) -> list[ModelEvent]:
        if not piece or block.index is None:
            return []
        block.pieces.append(piece)
        return [ThinkingDelta(block.index, piece)]

    def _next_place(self) -> int:
        place = self._placed
        self._placed += 1
        return place

    def _message_changed(self, event: Mapping[str, object]) -> None:
        stop_reason = _mapping(event.get("delta")).get("stop_reason")
        if isinstance(stop_reason, str):
            self._stop_reason = stop_reason
        self._take_usage(event.get("usage"))

    def _take_usage(self, usage: object) -> None:
        """Counts in a later event stand for the whole reply so far; what it leaves out stays as it was."""
        for name, value in _mapping(usage).items():
            if value is not None:
                self._usage[name] = value


def _finished(block: _Block) -> AssistantBlock:
    whole = "".join(block.pieces)
    match block.kind:
        case "text":
            return Text(whole)
        case "thinking":
            return Thinking(whole, block.signature)
        case "redacted_thinking":
            return RedactedThinking(whole)
        case "tool_use":
            given = _parsed_input(whole) if whole else block.given_input
            return ToolUse(block.id, block.name, given)


def _parsed_input(text: str) -> Mapping[str, Json]:
    """The input of a tool call; one that is no JSON object (cut off at `max_tokens`) is kept as text, marked as such."""
    try:
        # `NaN` and `Infinity` are no JSON and could not be sent back.
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return {UNPARSABLE_INPUT: text}
    if not isinstance(value, dict):
        return {UNPARSABLE_INPUT: text}
    return cast(dict[str, Json], value)


def _as_it_came(block: Mapping[str, object]) -> str | None:
    """A block that must go back unchanged, as JSON text; None where that cannot be: half a surrogate pair has no UTF-8."""
    text = json.dumps(block, ensure_ascii=False, separators=(",", ":"))
    return text if text.encode("utf-8", errors="ignore").decode() == text else None


def _usage(reported: Mapping[str, object]) -> Usage | None:
    """What was used; of a summary of the API's own (which nothing but `iterations` tells of) the sum of these."""
    used = _of_one(reported)
    if used.total_input_tokens == 0:
        used = sum((_of_one(each) for each in _mappings(reported.get("iterations"))), Usage(0, 0))
    # No request is empty: a sum of nothing was not counted (mocks; llama.cpp where a reply begins with half a character).
    return used if used.total_input_tokens else None


def _of_one(reported: Mapping[str, object]) -> Usage:
    split = _mapping(reported.get("cache_creation"))
    written_1h = _count(split, "ephemeral_1h_input_tokens")
    written_5m = _count(split, "ephemeral_5m_input_tokens")
    # Older servers report only the sum, which the API's default of five minutes then explains.
    written = _count(reported, "cache_creation_input_tokens")
    return Usage(
        input_tokens=_count(reported, "input_tokens"),
        output_tokens=_count(reported, "output_tokens"),
        cache_read_tokens=_count(reported, "cache_read_input_tokens"),
        cache_write_5m_tokens=max(written_5m, written - written_1h),
        cache_write_1h_tokens=written_1h,
    )


def _count(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else 0


def _string(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _index(event: Mapping[str, object]) -> int:
    return _count(event, "index")


def _mapping(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [_mapping(each) for each in cast(list[object], value)] if isinstance(value, list) else []

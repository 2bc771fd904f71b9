"""A streamed reply put together: the events of the Messages API in, our events and at the end the `Reply` out.

Works on the decoded JSON of each event, so that kinds of blocks and events that are not known here (the API adds some
between versions) are passed over without harm to the rest. `serialise.py` writes what is sent.

Everything in a reply comes from outside, and all of it goes into the log and back with the next request. So this is the room where it is
checked: what comes out here can go back as it is, whatever came in. What is reported to have been used is held against the request in
`endpoint_checks.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from ullage.context.blocks import (
    CALLED_AS,
    NOT_A_NAME,
    AssistantBlock,
    CompactionBlock,
    Json,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
    Usage,
    is_valid_name,
    valid_id,
    valid_name,
)
from ullage.models.endpoint_checks import BodyNotJson, integer, is_too_deep, mapping, mappings, parse_object, string, word
from ullage.models.errors import Nonsense, StreamBroken
from ullage.models.model import (
    UNPARSABLE_INPUT,
    ModelEvent,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolUseStarted,
)

MOST_BLOCKS = 10_000
"""The most blocks of one reply: more than there are calls in the longest (128,000 tokens, some 20 a call)."""

CHARACTERS_PER_TOKEN = 40
"""The most characters for each token. No text has so many for long; a reply that has more for each token that was asked for is not what was
asked for."""
LEAST_CHARACTERS = 1_000_000
"""How many characters are taken in any case: some servers do not keep to the limit."""

CUT_OFF = ("max_tokens", "model_context_window_exceeded")
"""Stop reasons of a reply that was cut where it stood."""


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
    """Takes the events of one stream in order. Its indexes are places in `Reply.blocks`, whatever the API's were.

    `max_tokens` is how long a reply was asked for. Raises `Nonsense` for what is no reply.
    """

    def __init__(self, model: str, max_tokens: int) -> None:
        self._model = model
        self._room = max(LEAST_CHARACTERS, max_tokens * CHARACTERS_PER_TOKEN)
        self._begun: dict[int, _Block] = {}
        """The blocks under construction, by the index that the API gave."""
        self._placed: list[_Block] = []
        self._ids: set[str] = set()
        self._usage: dict[str, object] = {}
        self._stop_reason: str | None = None
        self._compaction: str | None = None
        self._dropped_thinking = 0
        self.characters = 0
        """How many characters of the reply have come so far."""

    @property
    def is_whole(self) -> bool:
        """Whether the model has said why it stopped: nothing of the reply comes after that."""
        return self._stop_reason is not None

    def accept(self, event: Mapping[str, object]) -> list[ModelEvent]:
        """What this event of the API tells the user; empty for bookkeeping and for what is not known here."""
        match event.get("type"):
            case "message_start":
                if self._placed:
                    raise Nonsense("the beginning of a second reply within the first")
                self._message_started(mapping(event.get("message")))
            case "content_block_start":
                return self._block_started(_index(event), mapping(event.get("content_block")))
            case "content_block_delta":
                return self._block_grew(_index(event), mapping(event.get("delta")))
            case "message_delta":
                self._message_changed(event)
            case _:
                pass
        return []

    def accept_whole(self, message: Mapping[str, object]) -> list[ModelEvent]:
        """What a message that came in one piece tells the user."""
        events: list[ModelEvent] = []
        self._message_started(message)
        for index, block in enumerate(mappings(message.get("content"))):
            events += self._block_started(index, block)
        self._message_changed({"delta": message, "usage": message.get("usage")})
        return events

    def reply(self) -> Reply:
        """The whole reply. Raises `StreamBroken` if the stream ended before the model said why it stopped."""
        if self._stop_reason is None:
            raise StreamBroken("The connection ended before the reply was whole. Press Continue to try again.")
        blocks = [_finished(block) for block in self._placed]
        if blocks and self._stop_reason in CUT_OFF and blocks[-1] == ToolUse(self._placed[-1].id, self._placed[-1].name, {}):
            blocks[-1] = ToolUse(self._placed[-1].id, self._placed[-1].name, {UNPARSABLE_INPUT: ""})  # cut off before its input
        return Reply(
            blocks=tuple(blocks),
            model=self._model,
            stop_reason=self._stop_reason,
            usage=_usage(self._usage),
            compaction=CompactionBlock(self._compaction, self._model) if self._compaction is not None else None,
            dropped_thinking=self._dropped_thinking,
        )

    def _message_started(self, message: Mapping[str, object]) -> None:
        self._model = word(message, "model") or self._model
        self._take_usage(message.get("usage"))
        dropped = ("thinking_dropped", "prefix_binding_mismatch")  # what another model thought is dropped too, as it should be
        changes = mappings(message.get("input_transformations"))
        self._dropped_thinking = sum((each.get("type"), each.get("reason")) == dropped for each in changes)

    def _block_started(self, index: int, content: Mapping[str, object]) -> list[ModelEvent]:
        if len(self._placed) >= MOST_BLOCKS:
            raise Nonsense(f"a reply of more than {MOST_BLOCKS:,} blocks")
        self._begun.pop(index, None)  # the block that had this index stays in its place
        match content.get("type"):
            case "text":
                self._begun[index] = _Block("text", None)
                return self._text_grew(self._begun[index], string(content, "text"))
            case "thinking":
                block = self._place(index, _Block("thinking", len(self._placed), signature=_signature(content)))
                return self._thinking_grew(block, string(content, "thinking"))
            case "redacted_thinking":
                data = string(content, "data")
                self._count(data)
                self._place(index, _Block("redacted_thinking", len(self._placed), [data] if _is_sealed(data) else []))
            case "tool_use":
                return [self._call_started(index, content)]
            case "compaction":
                self._compaction = _as_it_came(content)
            case _:
                pass
        return []

    def _call_started(self, index: int, content: Mapping[str, object]) -> ModelEvent:
        name = string(content, "name")
        given = cast(Mapping[str, Json], mapping(content.get("input")))
        if is_too_deep(given):
            given = {UNPARSABLE_INPUT: "(nested too deep)"}
        if not is_valid_name(name):
            given = {CALLED_AS: word(content, "name"), **given}
        place = len(self._placed)
        block = _Block("tool_use", place, id=self._fresh_id(string(content, "id")), name=valid_name(name), given_input=given)
        self._place(index, block)
        return ToolUseStarted(place, block.id, block.name)

    def _fresh_id(self, given: str) -> str:
        """The id of a call, in the form that the API takes, and another one than those of the calls before it in this reply."""
        wanted = unique = valid_id(given)
        copies = 1
        while unique in self._ids:
            copies += 1
            unique = f"{wanted}_{copies}"
        self._ids.add(unique)
        return unique

    def _block_grew(self, index: int, delta: Mapping[str, object]) -> list[ModelEvent]:
        block = self._begun.get(index)
        if block is None:
            return []
        match delta.get("type"), block.kind:
            case "text_delta", "text":
                return self._text_grew(block, string(delta, "text"))
            case "thinking_delta", "thinking":
                return self._thinking_grew(block, string(delta, "thinking"))
            case "signature_delta", "thinking":
                block.signature = _signature(delta)
                self._count(block.signature)
            case "input_json_delta", "tool_use":
                piece = string(delta, "partial_json")
                if piece and block.index is not None:
                    self._count(piece)
                    block.pieces.append(piece)
                    return [ToolInputDelta(block.index, piece)]
            case _:
                pass
        return []

    def _text_grew(self, block: _Block, piece: str) -> list[ModelEvent]:
        if not piece:
            return []
        if block.index is None:
            block.index = len(self._placed)
            self._placed.append(block)
        self._count(piece)
        block.pieces.append(piece)
        return [TextDelta(block.index, piece)]

    def _thinking_grew(self, block: _Block, piece: str) -> list[ModelEvent]:
        if not piece or block.index is None:
            return []
        self._count(piece)
        block.pieces.append(piece)
        return [ThinkingDelta(block.index, piece)]

    def _place(self, index: int, block: _Block) -> _Block:
        self._begun[index] = block
        self._placed.append(block)
        return block

    def _count(self, piece: str) -> None:
        self.characters += len(piece)
        if self.characters > self._room:
            raise Nonsense(f"a reply of more than {self._room:,} characters, which is far more than was asked for")

    def _message_changed(self, event: Mapping[str, object]) -> None:
        stop_reason = word(mapping(event.get("delta")), "stop_reason")
        if stop_reason:
            self._stop_reason = stop_reason
        self._take_usage(event.get("usage"))

    def _take_usage(self, usage: object) -> None:
        """Takes in what was counted. Counts in a later event stand for the whole reply so far; what it leaves out stays as it was."""
        for name, value in mapping(usage).items():
            if value is not None:
                self._usage[name] = value


def _finished(block: _Block) -> AssistantBlock:
    whole = "".join(block.pieces)
    match block.kind:
        case "text":
            return Text(whole)
        case "thinking":
            # Half of a surrogate pair cannot go back as it came, so its signature would not fit.
            return Thinking(whole, block.signature if _has_utf8(whole) else "")
        case "redacted_thinking":
            return RedactedThinking(whole)
        case "tool_use":
            given = _parsed_input(whole) if whole else block.given_input
            if block.name == NOT_A_NAME and CALLED_AS in block.given_input:
                given = {CALLED_AS: block.given_input[CALLED_AS], **given}
            return ToolUse(block.id, block.name, given)


def _parsed_input(text: str) -> Mapping[str, Json]:
    """The input of a tool call; one that is no JSON object (cut off at `max_tokens`) is kept as text, marked as such."""
    try:
        return parse_object(text)
    except BodyNotJson:
        return {UNPARSABLE_INPUT: text}


def _signature(values: Mapping[str, object]) -> str:
    """The signature where it can be one; empty if it cannot: its thinking does not go back then."""
    found = string(values, "signature")
    return found if _is_sealed(found) else ""


def _is_sealed(text: str) -> bool:
    """Whether the text can be a signature or what is sealed by one: Anthropic's are base64, and those of others may be any word."""
    return text.isascii() and text.isprintable()


def _has_utf8(text: str) -> bool:
    return text.encode("utf-8", errors="ignore").decode() == text


def _as_it_came(block: Mapping[str, object]) -> str | None:
    """The block, which must go back unchanged, as JSON text; None if that cannot be."""
    if is_too_deep(block):
        return None
    text = json.dumps(block, ensure_ascii=False, separators=(",", ":"))
    return text if _has_utf8(text) else None


def _usage(reported: Mapping[str, object]) -> Usage | None:
    """What was used, for a summary of the API's own (which nothing but `iterations` tells of) the sum of these; None if it was not
    counted."""
    used = _of_one(reported)
    if used.total_input_tokens == 0:
        used = sum((_of_one(each) for each in mappings(reported.get("iterations"))), Usage(0, 0))
    # No request is empty: a sum of nothing was not counted (mocks; llama.cpp where a reply begins with half a character).
    return used if used.total_input_tokens else None


def _of_one(reported: Mapping[str, object]) -> Usage:
    split = mapping(reported.get("cache_creation"))
    written_1h = _tokens(split, "ephemeral_1h_input_tokens")
    written_5m = _tokens(split, "ephemeral_5m_input_tokens")
    # Older servers report only the sum, which the API's default of five minutes then explains.
    written = _tokens(reported, "cache_creation_input_tokens")
    return Usage(
        input_tokens=_tokens(reported, "input_tokens"),
        output_tokens=_tokens(reported, "output_tokens"),
        cache_read_tokens=_tokens(reported, "cache_read_input_tokens"),
        cache_write_5m_tokens=max(written_5m, written - written_1h) if written >= 0 else written,
        cache_write_1h_tokens=written_1h,
    )


def _tokens(values: Mapping[str, object], name: str) -> int:
    return integer(values.get(name)) or 0


def _index(event: Mapping[str, object]) -> int:
    return integer(event.get("index")) or 0

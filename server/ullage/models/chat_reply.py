"""A streamed reply of Chat Completions, told to the builder of replies in the words of the Messages API.

So everything that comes from outside is checked in one place (`reply.py`): ids, names, sizes, nesting. What differs is said here: a chunk
has no blocks but fields that grow, calls come in pieces by index, and the usage comes in a chunk of its own behind the reason to stop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ullage.context.blocks import SEALED_REASONING, RedactedThinking, ToolUse
from ullage.models.chat_dialect import REASONING
from ullage.models.endpoint_checks import integer, is_too_deep, mapping, mappings, string, word
from ullage.models.model import ModelEvent, Reply
from ullage.models.reply import ReplyBuilder

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}

_GROWS = ("text", "summary", "data")
"""The parts of a detail of reasoning that come in pieces. All else of it is said once."""

MOST_DETAILS = 2_000_000
"""The most characters of details that are kept. What a model thought in 128,000 tokens takes less, sealed or not."""

_Kind = Literal["text", "thinking", "tool_use"]


@dataclass(slots=True)
class _Call:
    """A call under construction. `index` is its place among the blocks; None until its name has come."""

    id: str = ""
    name: str = ""
    waiting: list[str] = field(default_factory=list[str])
    """The pieces of its arguments that came before the name."""
    index: int | None = None


class ChatReplyBuilder:
    """Takes the chunks of one stream in order. `max_tokens` is how long a reply was asked for. Raises `Nonsense` for what is no reply."""

    def __init__(self, model: str, max_tokens: int) -> None:
        self._builder = ReplyBuilder(model, max_tokens)
        self._begun = False
        self._blocks = 0
        self._open: tuple[_Kind, str, int] | None = None
        """Kind, signature and index of the block that grows."""
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._details: list[dict[str, object]] = []
        """`reasoning_details`, put together again from their pieces."""
        self._refused = False
        self._counted = False

    @property
    def characters(self) -> int:
        """How many characters of the reply have come so far."""
        return self._builder.characters

    @property
    def is_whole(self) -> bool:
        """Whether the model has said why it stopped; its usage may still come."""
        return self._builder.is_whole

    @property
    def is_counted(self) -> bool:
        """Whether the usage has come, too."""
        return self._counted

    def accept(self, chunk: Mapping[str, object]) -> list[ModelEvent]:
        """What this chunk, or a reply that came in one piece, tells the user."""
        told: list[ModelEvent] = []
        if not self._begun and word(chunk, "model"):
            self._begun = True
            self._builder.accept({"type": "message_start", "message": {"model": word(chunk, "model")}})
        for choice in mappings(chunk.get("choices"))[:1]:
            delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
            told += [event for piece in self._pieces(delta) for event in piece]
            reason = word(choice, "finish_reason")
            if reason:
                told += self._end(reason)
        usage = usage_of(mapping(chunk.get("usage")))
        if usage:
            self._counted = True
            self._builder.accept({"type": "message_delta", "usage": usage})
        return told

    def reply(self) -> Reply:
        """The whole reply. Raises `StreamBroken` if the stream ended before the model said why it stopped."""
        reply = self._with_details(self._builder.reply())
        if self._refused:
            return replace(reply, stop_reason="refusal")
        # Some servers say `stop` where the model calls a tool, and some `tool_calls` where it calls none.
        calls = any(isinstance(block, ToolUse) for block in reply.blocks)
        if calls and reply.stop_reason == "end_turn":
            return replace(reply, stop_reason="tool_use")
        if not calls and reply.stop_reason == "tool_use":
            return replace(reply, stop_reason="end_turn")
        return reply

    def _with_details(self, reply: Reply) -> Reply:
        """The reply with what was sealed of its reasoning, which stands last: what was shown before keeps its place."""
        if not self._details or is_too_deep(self._details):
            return reply
        details = json.dumps(self._details, ensure_ascii=True, separators=(",", ":"))
        if len(details) > MOST_DETAILS:
            return reply  # it is not worth a session that cannot be kept; the model thinks anew
        return replace(reply, blocks=(*reply.blocks, RedactedThinking(SEALED_REASONING + details)))

    def _detail_grew(self, piece: Mapping[str, object]) -> None:
        last = self._details[-1] if self._details else None
        if last is None or any(last.get(name) != piece.get(name) for name in ("type", "index")) or piece.get("index") is None:
            self._details.append(dict(piece))
            return
        for name, value in piece.items():
            known = last.get(name)
            if name in _GROWS and isinstance(known, str) and isinstance(value, str):
                last[name] = known + value
            elif value is not None:
                last[name] = value

    def _pieces(self, delta: Mapping[str, object]) -> Iterator[Sequence[ModelEvent]]:
        name = next((name for name in REASONING if string(delta, name)), None)
        if name is not None:
            yield self._grow("thinking", name, string(delta, name))
        for detail in mappings(delta.get("reasoning_details")):
            self._detail_grew(detail)
        content = delta.get("content")
        if isinstance(content, str):
            yield self._grow("text", "", content)
        for part in mappings(content):  # Mistral: thinking and text as parts
            if string(part, "type") == "thinking":
                thought = part.get("thinking")
                yield self._grow("thinking", "", thought if isinstance(thought, str) else "".join(map(_text_of, mappings(thought))))
            else:
                yield self._grow("text", "", _text_of(part))
        if string(delta, "refusal"):
            self._refused = True
            yield self._grow("text", "", string(delta, "refusal"))
        for call in mappings(delta.get("tool_calls")):
            yield self._call_grew(call)

    def _grow(self, kind: Literal["text", "thinking"], signature: str, piece: str) -> Sequence[ModelEvent]:
        if not piece:
            return ()
        told: list[ModelEvent] = []
        if self._open is None or self._open[:2] != (kind, signature):
            content = {"type": "text", "text": ""} if kind == "text" else {"type": "thinking", "thinking": "", "signature": signature}
            self._open = (kind, signature, self._blocks)
            told += self._start(content)
        delta = {"type": "text_delta", "text": piece} if kind == "text" else {"type": "thinking_delta", "thinking": piece}
        return [*told, *self._builder.accept({"type": "content_block_delta", "index": self._open[2], "delta": delta})]

    def _start(self, content: Mapping[str, object]) -> list[ModelEvent]:
        index = self._blocks
        self._blocks += 1
        return self._builder.accept({"type": "content_block_start", "index": index, "content_block": content})

    def _call_grew(self, piece: Mapping[str, object]) -> Sequence[ModelEvent]:
        function = mapping(piece.get("function"))
        call = self._call_of(integer(piece.get("index")), string(piece, "id"), string(function, "name"))
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments) if isinstance(arguments, dict) else ""
        if call.index is None:
            call.waiting.append(text)
            return self._begin(call) if call.name else ()
        return self._arguments(call.index, text)

    def _call_of(self, index: int | None, id: str, name: str) -> _Call:
        """The call that a piece belongs to. Gemini gives each a name and an id, and all of them the same index or none."""
        call = self._by_index.get(index or 0)
        if call is None or (name and id and call.id not in ("", id) and call.name):
            call = _Call()
            self._by_index[index or 0] = call
            self._calls.append(call)
        call.id = call.id or id
        call.name = call.name or name
        return call

    def _begin(self, call: _Call) -> list[ModelEvent]:
        self._open = None
        call.index = self._blocks
        told = self._start({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        told += self._arguments(call.index, "".join(call.waiting))
        call.waiting.clear()
        return told

    def _arguments(self, index: int, text: str) -> list[ModelEvent]:
        delta = {"type": "input_json_delta", "partial_json": text}
        return self._builder.accept({"type": "content_block_delta", "index": index, "delta": delta})

    def _end(self, reason: str) -> list[ModelEvent]:
        told = [event for call in self._calls if call.index is None for event in self._begin(call)]
        self._builder.accept({"type": "message_delta", "delta": {"stop_reason": _STOP_REASONS.get(reason, reason)}})
        return told


def _text_of(part: Mapping[str, object]) -> str:
    return string(part, "text")


def usage_of(reported: Mapping[str, object]) -> Mapping[str, int]:
    """The usage in the words of the Messages API, whose `input_tokens` leave out what was cached; empty if nothing was counted.

    `completion_tokens` leave out what was thought with some servers (xAI, Gemini), while their total has it.
    """
    prompt, completion = integer(reported.get("prompt_tokens")) or 0, integer(reported.get("completion_tokens")) or 0
    if not prompt:
        return {}
    details = mapping(reported.get("prompt_tokens_details"))
    cached = integer(details.get("cached_tokens"))
    if cached is None:
        cached = integer(reported.get("prompt_cache_hit_tokens")) or 0  # DeepSeek
    written = integer(details.get("cache_write_tokens")) or 0  # OpenRouter
    total = integer(reported.get("total_tokens")) or 0
    if min(cached, written) < 0 or cached + written > prompt:
        cached = written = 0
    return {
        "input_tokens": prompt - cached - written,
        "output_tokens": max(completion, total - prompt),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }

"""A scripted reply as chunks of a stream, or in one piece. Pure; the socket is in `endpoint.py`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.fake_api.chat.manners import Manners
from tests.fake_api.json_values import JsonObject
from tests.fake_api.reply_events import OutBlock, Outgoing, within_limits
from tests.fake_api.script import Call, Cite, RedactedThink, Reply, Say, Search, Think

_FINISH = {"end_turn": "stop", "max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "tool_calls"}


def prepared(reply: Reply, limit: int, room: int) -> Outgoing:
    """The reply cut at `limit` or at the `room` that is left in the window (tokens)."""
    blocks: list[OutBlock] = []
    for block in reply.blocks:
        match block:
            case Say(text):
                blocks.append(OutBlock({"type": "text"}, "text_delta", text))
            case Think(text):
                blocks.append(OutBlock({"type": "thinking"}, "thinking_delta", text))
            case Call(name, input, id):
                start = {"type": "tool_use", "id": id or f"call_{secrets.token_hex(8)}", "name": name}
                blocks.append(OutBlock(start, "input_json_delta", json.dumps(dict(input), ensure_ascii=False)))
            case RedactedThink() | Search() | Cite():
                pass  # there is none on this wire
    called = any(isinstance(block, Call) for block in reply.blocks)
    return within_limits(blocks, reply.stop_reason or ("tool_use" if called else "end_turn"), max_tokens=limit, room=room)


def finish_of(outgoing: Outgoing, manners: Manners) -> str:
    """The reason to stop, in the words of this wire."""
    finish = _FINISH.get(outgoing.stop_reason, "content_filter")
    return manners.calls_stop if finish == "tool_calls" else finish


def deltas(outgoing: Outgoing, chunk_size: int, manners: Manners) -> Iterator[JsonObject]:
    """What each chunk adds: the role first, as OpenAI does it."""
    yield {"role": "assistant", "content": ""}
    calls = 0
    for block in outgoing.blocks:
        pieces = [block.text[start : start + chunk_size] for start in range(0, len(block.text), chunk_size)]
        match block.start["type"]:
            case "text":
                yield from ({"content": piece} for piece in pieces)
            case "thinking":
                for piece in pieces:
                    detail = {"type": "reasoning.text", "text": piece, "format": "anthropic-claude-v1", "index": 0}
                    yield {manners.reasoning: piece, **({"reasoning_details": [detail]} if manners.seals else {})}
                if manners.seals:
                    text, sealed = details_of(block.text)
                    yield {"reasoning_details": [{**text, "text": ""}]}
                    yield {"reasoning_details": [sealed]}
            case _:
                function = {"name": block.start["name"], "arguments": ""}
                yield {"tool_calls": [{"index": calls, "id": block.start["id"], "type": "function", "function": function}]}
                yield from ({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]} for piece in pieces)
                calls += 1


def details_of(text: str) -> tuple[JsonObject, JsonObject]:
    """What stands for a thought in `reasoning_details`: signed, and sealed."""
    mark = sha256(text.encode()).hexdigest()
    signed = {"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0, "signature": mark}
    return signed, {"type": "reasoning.encrypted", "data": mark[::-1], "format": "anthropic-claude-v1", "index": 1, "id": "rs_1"}


def whole(outgoing: Outgoing, manners: Manners) -> JsonObject:
    """The message of a reply that is not streamed."""
    message: JsonObject = {"role": "assistant", "content": None}
    for block in outgoing.blocks:
        match block.start["type"]:
            case "text":
                message["content"] = (message["content"] or "") + block.text
            case "thinking":
                message[manners.reasoning] = message.get(manners.reasoning, "") + block.text
                if manners.seals:
                    message["reasoning_details"] = list(details_of(block.text))
            case _:
                function = {"name": block.start["name"], "arguments": block.text}
                message.setdefault("tool_calls", []).append({"id": block.start["id"], "type": "function", "function": function})
    return message


def sse(value: Any) -> bytes:
    """One event of a stream, which on this wire has no name."""
    return f"data: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}\n\n".encode()

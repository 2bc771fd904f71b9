"""From a scripted reply to blocks that can be sent: ids for tool calls, thinking as the request wants it shown, limits."""

from __future__ import annotations

import json
import secrets

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.json_values import JsonObject, is_object
from tests.fake_api.reply_events import OutBlock, Outgoing, within_limits
from tests.fake_api.script import Call, RedactedThink, Reply, ReplyBlock, Say, Think


def prepare_reply(reply: Reply, body: JsonObject, model: ModelFacts, input_tokens: int) -> Outgoing:
    """The blocks to send for `reply`, cut at `max_tokens` and at the window."""
    blocks = [_out_block(block, body, model) for block in reply.blocks]
    return within_limits(
        blocks,
        reply.stop_reason or _stop_reason(reply),
        max_tokens=body["max_tokens"],
        room=model.window - input_tokens,
    )


def _stop_reason(reply: Reply) -> str:
    calls = any(isinstance(block, Call) for block in reply.blocks)
    return "tool_use" if calls else "end_turn"


def _out_block(block: ReplyBlock, body: JsonObject, model: ModelFacts) -> OutBlock:
    match block:
        case Say(text):
            return OutBlock({"type": "text", "text": ""}, "text_delta", text)
        case Think(text):
            start: JsonObject = {"type": "thinking", "thinking": "", "signature": ""}
            if _shows_thinking(body, model):
                return OutBlock(start, "thinking_delta", text, signature="todo")
            return OutBlock(start, "thinking_delta", signature="todo", hidden=text)
        case RedactedThink():
            return OutBlock({"type": "redacted_thinking", "data": "todo"})
        case Call(name, input, id):
            start = {
                "type": "tool_use",
                "id": id or f"toolu_fake_{secrets.token_hex(8)}",
                "name": name,
                "input": {},
            }
            return OutBlock(start, "input_json_delta", json.dumps(dict(input), ensure_ascii=False))


def _shows_thinking(body: JsonObject, model: ModelFacts) -> bool:
    """Section 2.6: `display` decides; without it the model's default, "omitted" on 4.7 and newer."""
    thinking = body.get("thinking")
    display = thinking.get("display") if is_object(thinking) else None
    if display is None:
        return model.shows_thinking_by_default
    return display == "summarized"

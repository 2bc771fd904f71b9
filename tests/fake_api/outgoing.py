"""From a scripted reply to blocks that can be sent: ids for tool calls, thinking as the request wants it shown, limits."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.compaction_seals import CompactionSeals
from tests.fake_api.counting import count_text
from tests.fake_api.json_values import JsonObject, is_object
from tests.fake_api.reading import Reading
from tests.fake_api.reply_events import OutBlock, Outgoing, within_limits
from tests.fake_api.rules.web_search import CALL, RESULT
from tests.fake_api.script import Call, Cite, RedactedThink, Reply, Say, Search, Think
from tests.fake_api.search_seals import SearchSeals
from tests.fake_api.thinking import ThinkingSeals


def prepare_reply(
    reply: Reply,
    body: JsonObject,
    model: ModelFacts,
    input_tokens: int,
    seals: ThinkingSeals,
    reading: Reading,
    searches: SearchSeals,
) -> Outgoing:
    """The blocks to send for `reply`, cut at `max_tokens` and at the window. Thinking is signed for what `reading` has passed."""
    blocks: list[OutBlock] = []
    for scripted in reply.blocks:
        if isinstance(scripted, Search):
            done = sum(block.start["type"] == RESULT for block in blocks)
            call, result = searches.blocks(scripted, body, done)
            made = [_call(call["id"], call["name"], call["input"], CALL), OutBlock(result)]
        elif isinstance(scripted, Cite):
            made = [OutBlock({"type": "text", "text": ""}, "text_delta", scripted.text, citations=(searches.citation(scripted),))]
        else:
            made = [_out_block(scripted, _shows_thinking(body, model), seals, reading)]
        blocks += made
        for block in made:
            whole = block.whole()
            if not block.is_thinking and whole is not None:
                reading.take("assistant", whole)
    return within_limits(
        blocks,
        reply.stop_reason or _stop_reason(reply),
        max_tokens=body["max_tokens"],
        room=model.window - input_tokens,
    )


def as_compaction(outgoing: Outgoing, model: ModelFacts, seals: CompactionSeals, at_end: Reading) -> Outgoing:
    """What the API makes of the summarising model's reply (section 2.4): one block, or nothing at all where it is no whole text."""
    text = "".join(block.text for block in outgoing.blocks if block.delta_type == "text_delta")
    tokens = outgoing.output_tokens
    if outgoing.stop_reason != "end_turn" or not text.strip():
        return Outgoing((), outgoing.stop_reason, tokens)
    return Outgoing((OutBlock(seals.block(at_end, model, text), hidden=text),), "compaction", tokens - count_text(text))


def _stop_reason(reply: Reply) -> str:
    calls = any(isinstance(block, Call) for block in reply.blocks)
    return "tool_use" if calls else "end_turn"


def _call(id: str, name: str, input: Mapping[str, Any], kind: str = "tool_use") -> OutBlock:
    start: JsonObject = {"type": kind, "id": id, "name": name, "input": {}}
    return OutBlock(start, "input_json_delta", json.dumps(dict(input), ensure_ascii=False))


def _out_block(block: Say | Think | RedactedThink | Call, shows_thinking: bool, seals: ThinkingSeals, reading: Reading) -> OutBlock:
    match block:
        case Say(text):
            return OutBlock({"type": "text", "text": ""}, "text_delta", text)
        case Think(text):
            shown = text if shows_thinking else ""
            return OutBlock(
                {"type": "thinking", "thinking": "", "signature": ""},
                "thinking_delta",
                shown,
                signature=seals.sign(reading, shown),
                hidden="" if shows_thinking else text,
            )
        case RedactedThink():
            return OutBlock({"type": "redacted_thinking", "data": seals.sign(reading, "")})
        case Call(name, input, id):
            return _call(id or f"toolu_fake_{secrets.token_hex(8)}", name, input)


def _shows_thinking(body: JsonObject, model: ModelFacts) -> bool:
    """Section 2.6: `display` decides; without it the model's default, "omitted" on 4.7 and newer."""
    thinking = body.get("thinking")
    display = thinking.get("display") if is_object(thinking) else None
    if display is None:
        return model.shows_thinking_by_default
    return display == "summarized"

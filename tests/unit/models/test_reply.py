"""Whatever stream of events comes, the reply made of it can be logged, and goes back in a request that the API takes."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api import validate_request
from tests.unit.models.scripted_server import block, ended, started, text
from ullage.context.blocks import SystemPart, ToolResult, ToolSpec, ToolUse
from ullage.context.entries import AssistantReply, Logged, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.models.endpoint_checks import RequestSize, why_not_believed
from ullage.models.errors import Nonsense, StreamBroken
from ullage.models.reply import ReplyBuilder
from ullage.models.serialise import Serialiser
from ullage.store.encode import decode, encode

MODEL = "claude-opus-5-5"

ODD: list[Any] = [
    *(None, True, -1, 0, 1.5, 10**18, 10**400, float("inf")),
    *("", " ", "x", "\x00", "\ud800", "\u202e", "read file!", "../../x", "[" * 500, "é" * 300, '{"a": 1e999}', "NaN", "null"),
    *([], {}, [None], {"type": "text"}, {"a": {"b": [1]}}, json.loads('{"a":' * 150 + "1" + "}" * 150)),
    *("end_turn", "tool_use", "max_tokens", "pause_turn", "thinking", "redacted_thinking", "text_delta", "content_block_start"),
]
REAL: list[dict[str, Any]] = [
    started(input_tokens=10, cache_read_input_tokens=3),
    {"type": "ping"},
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
    *text(2, "Let me", " see"),
    *(
        event
        for index in (3, 4)
        for event in block(
            index,
            {"type": "tool_use", "id": f"toolu_{index}", "name": "read_file", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"path": '},
            {"type": "input_json_delta", "partial_json": '"a.py"}'},
        )
    ),
    *ended("tool_use"),
]


@st.composite
def streams(draw: st.DrawFn) -> list[Any]:
    """A real stream with some of its events exchanged, left out, doubled, and some of their values other ones."""
    found = deepcopy(REAL)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(found) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "value", "value", "value"])):
            case "drop" if len(found) > 1:
                del found[at]
            case "double":
                found.insert(at, deepcopy(found[at]))
            case "swap":
                other = draw(st.integers(0, len(found) - 1))
                found[at], found[other] = found[other], found[at]
            case _:
                place: Any = found[at]
                while True:
                    name = draw(st.sampled_from(sorted(place)))
                    if isinstance(place[name], dict) and place[name] and draw(st.booleans()):
                        place = place[name]
                        continue
                    place[name] = deepcopy(draw(st.sampled_from(ODD)))
                    break
    return found


@pytest.mark.deep
@settings(max_examples=many(60, deep=2_000), deadline=None)
@given(streams())
def test_a_hostile_reply_is_refused_or_goes_back_validly(stream: list[Any]) -> None:
    builder = ReplyBuilder(MODEL, 1_000)
    try:
        for event in stream:
            builder.accept(event)
        reply = builder.reply()
    except (Nonsense, StreamBroken):
        return
    usage = reply.usage
    if usage is not None and why_not_believed(usage, RequestSize(5_000, lambda: 0, 1_000), builder.characters):
        usage = None
    logged = decode(encode(AssistantReply("r1", reply.blocks, reply.model, reply.stop_reason, usage)))
    assert isinstance(logged, AssistantReply)
    calls = [each for each in logged.blocks if isinstance(each, ToolUse)]
    assert len({call.id for call in calls}) == len(calls)
    prelude = Prelude((SystemPart("system", "You are Ullage."),), (ToolSpec("read_file", "Reads", {"type": "object"}),))
    results = [ToolReturned(call.id, call.name, "text", False, 4) for call in calls]
    entries = [prelude, UserPrompt("p1", "Hello"), logged, *results, UserPrompt("p2", "And now?")]
    projection = Projection(Logged(seq, 0.0, entry) for seq, entry in enumerate(entries, start=1))
    body = Serialiser().body(build_request(projection), opening={"model": MODEL, "stream": True}, max_tokens=1_000, adaptive_thinking=True)
    validate_request(json.loads(body, parse_constant=_no_json))
    shown = [each for message in projection.messages for each in message.blocks if isinstance(each, ToolResult)]
    assert len(shown) == len(calls)


def _no_json(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")

"""What servers other than Anthropic's were seen to send: llama.cpp, LiteLLM, aimock. `docs/compatible-servers.md` has the versions."""

from __future__ import annotations

import json

import pytest

from tests.unit.models.scripted_server import Answer, ScriptedServer, ended, sse, started, text
from ullage.context.blocks import Message, Text, ToolUse, Usage
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import EndpointUnreachable
from ullage.models.model import ModelEvent, Reply, TextDelta, ToolUseStarted

REQUEST = Request((), (), [Message("user", (Text("hello"),), (1,))], ())


async def events_of(answer: Answer) -> list[ModelEvent]:
    async with ScriptedServer(answer) as server:
        model = AnthropicModel("local", api_key=None, base_url=server.url)
        events = [event async for event in model.stream(REQUEST, 1000)]
        await model.aclose()
        return events


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(sse(*text(0, "\U0001f642", " yes"), *ended()), id="llama.cpp, a reply that begins with half a character"),
        pytest.param(sse(started(input_tokens=0), *text(0, "\U0001f642", " yes"), *ended()), id="aimock"),
    ],
)
async def test_what_a_server_did_not_count_is_not_taken_for_nothing(stream: str) -> None:
    reply = (await events_of(Answer(stream)))[-1]
    assert isinstance(reply, Reply)
    assert reply.blocks == (Text("\U0001f642 yes"),)
    assert reply.usage is None


async def test_a_message_that_comes_whole_is_taken_as_it_is() -> None:
    """LiteLLM with `mock_response`, and servers that do not stream."""
    message = {
        "type": "message",
        "model": "local",
        "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 12, "output_tokens": 5},
    }
    events = await events_of(Answer(json.dumps(message), content_type="application/json; charset=utf-8"))
    blocks = (Text("I look."), ToolUse("t1", "read_file", {"path": "a"}))
    assert events == [
        TextDelta(0, "I look."),
        ToolUseStarted(1, "t1", "read_file"),
        Reply(blocks, "local", "tool_use", Usage(12, 5)),
    ]


@pytest.mark.parametrize("body", ['{"object": "list"}', "[]", "{oops"])
async def test_json_that_is_no_message_is_not_the_messages_api(body: str) -> None:
    with pytest.raises(EndpointUnreachable, match="not as the Messages API does"):
        await events_of(Answer(body, content_type="application/json"))

"""What servers other than Anthropic's were seen to send: llama.cpp, LiteLLM, aimock. `docs/compatible-servers.md` has the versions."""

from __future__ import annotations

import pytest

from tests.unit.models.scripted_server import Answer, ScriptedServer, ended, sse, started, text
from ullage.context.blocks import Text
from ullage.context.view.request import Message, Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.model import ModelEvent, Reply

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

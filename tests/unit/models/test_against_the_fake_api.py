"""Whole conversations with the strict fake of the Messages API, which refuses whatever the real one would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.fake_api import (
    Call,
    EndsAfter,
    ErrorAfter,
    Fail,
    FakeApi,
    Hang,
    HoldsAfter,
    RedactedThink,
    ResetConnection,
    ResetsAfter,
    Say,
    Think,
)
from tests.fake_api import Reply as Scripted
from ullage.context.blocks import Json, RedactedThinking, SystemPart, Text, Thinking, ToolSpec, ToolUse
from ullage.context.entries import AssistantReply, Entry, Logged, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import AuthenticationFailed, ModelError, Overloaded, PromptTooLong, StreamBroken, UnknownModel
from ullage.models.model import ModelEvent, Reply, Retrying, TextDelta

MODEL = "claude-opus-5-5"
SYSTEM = "You are Ullage. " * 400
"""Long enough to be cached."""


async def no_nap(seconds: float) -> None:
    """Waits for nothing."""


class Talk:
    """A conversation: the real log and view, the real SDK, a real socket."""

    def __init__(self, fake: FakeApi, *, name: str = MODEL, key: str | None = "key") -> None:
        self.model = AnthropicModel(name, api_key=key, base_url=fake.base_url, sleep=no_nap, dice=lambda: 0.0)
        self.projection = Projection()
        schema: dict[str, Json] = {"type": "object", "properties": {"command": {"type": "string"}}}
        self.log(Prelude((SystemPart("system", SYSTEM),), (ToolSpec("bash", "Runs a command.", schema),)))

    def log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    def stream(self) -> AsyncIterator[ModelEvent]:
        return self.model.stream(build_request(self.projection), 1_000)

    async def ask(self, prompt: str | None = None) -> list[ModelEvent]:
        """The events of one reply, which is logged."""
        if prompt is not None:
            self.log(UserPrompt(f"p{len(self.projection.entries)}", prompt))
        events = [event async for event in self.stream()]
        reply = events[-1]
        assert isinstance(reply, Reply)
        self.log(AssistantReply("r", reply.blocks, reply.model, reply.stop_reason, reply.usage))
        return events

    def result(self, call: ToolUse, content: str) -> None:
        self.log(ToolReturned(call.id, call.name, content, False, len(content)))


async def test_a_conversation_with_thinking_tools_and_the_cache() -> None:
    async with FakeApi() as fake:
        fake.enqueue(
            [Think("I should look."), RedactedThink(), Say("I look."), Call("bash", {"command": "ls"}), Call("bash", {"command": "pwd"})],
            [Think("Now I know."), Say("There are two files.")],
            [Say("You are welcome.")],
        )
        talk = Talk(fake)
        first = (await talk.ask("What is here?"))[-1]
        assert isinstance(first, Reply)
        assert [type(block) for block in first.blocks] == [Thinking, RedactedThinking, Text, ToolUse, ToolUse]
        assert first.stop_reason == "tool_use"
        for block in first.blocks:
            if isinstance(block, ToolUse):
                talk.result(block, f"output of {block.input['command']}")
        await talk.ask()
        last = (await talk.ask("Thank you"))[-1]
        await talk.model.aclose()
        assert isinstance(last, Reply)
        assert last.blocks == (Text("You are welcome."),)
        assert first.usage is not None
        assert last.usage is not None
        assert last.usage.cache_read_tokens > first.usage.total_input_tokens
        assert first.usage.cache_write_5m_tokens > 0
        for record in fake.requests:
            assert record.status == 200, record.error
            assert record.body["thinking"] == {"type": "adaptive", "display": "summarized"}
        sent_back = fake.requests[-1].body["messages"][1]["content"]
        assert sent_back == fake.requests[0].reply


async def test_the_card_comes_from_the_models_api() -> None:
    async with FakeApi(windows={MODEL: 123_000}) as fake:
        talk = Talk(fake)
        card = await talk.model.card()
        await talk.model.card()
        await talk.model.aclose()
        asked = [record for record in fake.all_requests if record.path.startswith(f"/v1/models/{MODEL}")]
    assert (card.window, card.source, card.display_name) == (123_000, "Models API", "Claude Opus 5.5")
    assert card.prices is not None
    assert len(asked) == 1


@pytest.mark.parametrize(
    "hindrance",
    [
        Fail(429, "rate_limit_error", "slow down", {"retry-after": "2"}),
        Fail(529, "overloaded_error", "Overloaded"),
        Fail(500, "api_error", "Internal server error"),
        ResetConnection(),
        Scripted((Say("lost"),), interruption=EndsAfter(0)),
        Scripted((Say("lost"),), interruption=ErrorAfter(0)),
        Scripted((Say("lost"),), interruption=ResetsAfter(0)),
    ],
)
async def test_before_any_output_it_is_tried_again(hindrance: Fail | ResetConnection | Scripted) -> None:
    async with FakeApi() as fake:
        fake.enqueue(hindrance, Say("Hello."))
        talk = Talk(fake)
        retrying, *_, reply = await talk.ask("hi")
        await talk.model.aclose()
        assert isinstance(retrying, Retrying)
        assert retrying.reason
        assert isinstance(reply, Reply)
        assert reply.blocks == (Text("Hello."),)
        bodies = [json.dumps(record.body) for record in fake.requests]
        assert bodies[0] == bodies[1]


@pytest.mark.parametrize(
    ("interruption", "expected"),
    [(EndsAfter(1), StreamBroken), (ResetsAfter(1), StreamBroken), (ErrorAfter(1), Overloaded), (ErrorAfter(1, "api_error"), StreamBroken)],
)
async def test_after_output_has_begun_it_is_not(interruption: EndsAfter | ResetsAfter | ErrorAfter, expected: type[ModelError]) -> None:
    async with FakeApi() as fake:
        fake.enqueue(Scripted((Say("word " * 40),), interruption=interruption))
        talk = Talk(fake)
        talk.log(UserPrompt("p", "hi"))
        seen: list[ModelEvent] = []
        with pytest.raises(expected):
            async for event in talk.stream():
                seen += [event]
        await talk.model.aclose()
        assert [type(event) for event in seen] == [TextDelta]
        assert len(fake.requests) == 1


async def test_cancelling_ends_the_call_at_the_server() -> None:
    async with FakeApi() as fake:
        fake.enqueue(Scripted((Say("word " * 40),), interruption=HoldsAfter(1)), Hang())
        talk = Talk(fake)
        talk.log(UserPrompt("p", "hi"))
        for _ in range(2):
            task = asyncio.create_task(_read(talk.stream()))
            await fake.until_held()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await fake.requests[-1].ended.wait()
        await talk.model.aclose()
        assert [record.state for record in fake.requests] == ["abandoned", "abandoned"]


async def _read(events: AsyncIterator[ModelEvent]) -> None:
    async for _ in events:
        pass


async def failure_at(fake: FakeApi, **changes: str) -> ModelError:
    talk = Talk(fake, **changes)
    with pytest.raises(ModelError) as caught:
        await talk.ask("word " * 5_000)
    await talk.model.aclose()
    return caught.value


async def test_a_wrong_key() -> None:
    async with FakeApi(keys={"right"}) as fake:
        failure = await failure_at(fake, key="wrong-key")
    assert type(failure) is AuthenticationFailed
    assert "Ullage: Set API key" in str(failure)
    assert "wrong-key" not in str(failure)


async def test_an_unknown_model() -> None:
    async with FakeApi() as fake:
        failure = await failure_at(fake, name="claude-nonesuch")
    assert type(failure) is UnknownModel
    assert "`claude-nonesuch`" in str(failure)


async def test_a_prompt_that_is_too_long_names_the_window() -> None:
    async with FakeApi(windows={"claude-test-small": 2_000}) as fake:
        failure = await failure_at(fake, name="claude-test-small")
    assert isinstance(failure, PromptTooLong)
    assert failure.window == 2_000

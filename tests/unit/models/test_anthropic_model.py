"""Calls over a real socket: what is sent, what comes back, and cancelling."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import pytest

from tests.patience import PATIENCE
from tests.unit.models.calls import HELLO, KEY, events_of, failure_of, model_at, request
from tests.unit.models.scripted_server import Answer, ScriptedServer, block, ended, sse, started, text
from ullage.context.blocks import Message, RedactedThinking, Text, Thinking, ToolResult, ToolUse, Usage
from ullage.context.view.request import Request
from ullage.models.errors import (
    Endpoint,
    EndpointUnreachable,
    NonsenseSent,
    StreamBroken,
)
from ullage.models.failures import understand
from ullage.models.model import UNPARSABLE_INPUT, ModelEvent, Reply, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted


async def test_text_streams_and_the_reply_comes_last() -> None:
    events = await events_of(Answer(HELLO))
    assert events == [
        TextDelta(0, "Hel"),
        TextDelta(0, "lo"),
        Reply((Text("Hello"),), "claude-test", "end_turn", Usage(input_tokens=10, output_tokens=7)),
    ]


async def test_what_is_sent() -> None:
    async with ScriptedServer(Answer(HELLO)) as server:
        model = model_at(server.url + "/v1/")
        async for _ in model.stream(request("hello"), 1234):
            pass
        await model.aclose()
    (call,) = server.calls
    assert call.path == "/v1/messages"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["anthropic-version"]
    assert call.headers["content-type"] == "application/json"
    mark = {"cache_control": {"type": "ephemeral"}}
    assert call.json == {
        "model": "claude-test",
        "max_tokens": 1234,
        "stream": True,
        "system": [{"type": "text", "text": "You are Ullage.", **mark}],
        "tools": [{"name": "bash", "description": "Runs a command", "input_schema": {"type": "object", "properties": {}}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello", **mark}]}],
    }


@pytest.mark.parametrize(("name", "expected"), [("claude-opus-5-5", {"type": "adaptive", "display": "summarized"}), ("qwen", None)])
async def test_thinking_is_asked_for_where_the_model_is_known_to_do_it(name: str, expected: object) -> None:
    async with ScriptedServer(Answer(HELLO)) as server:
        model = model_at(server.url, name=name)
        async for _ in model.stream(request(), 1000):
            pass
        await model.aclose()
    assert server.calls[0].json.get("thinking") == expected


async def test_a_server_of_ones_own_needs_no_key() -> None:
    async with ScriptedServer(Answer(HELLO)) as server:
        model = model_at(server.url, key=None)
        async for _ in model.stream(request(), 1000):
            pass
        await model.aclose()
    assert server.calls[0].headers["authorization"] == "Bearer none"


async def test_every_kind_of_block_comes_back_whole() -> None:
    events = await events_of(
        Answer(
            sse(
                started(input_tokens=3, cache_read_input_tokens=100),
                {"type": "ping"},
                *block(
                    0,
                    {"type": "thinking", "thinking": "", "signature": ""},
                    {"type": "thinking_delta", "thinking": "Let me"},
                    {"type": "thinking_delta", "thinking": " see"},
                    {"type": "signature_delta", "signature": "c2ln+/=="},
                ),
                *block(1, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
                *block(2, {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}),
                {"type": "some_new_event", "index": 9},
                *text(3),
                *block(
                    4,
                    {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}},
                    {"type": "input_json_delta", "partial_json": ""},
                    {"type": "input_json_delta", "partial_json": '{"z": 1, '},
                    {"type": "input_json_delta", "partial_json": '"a": "ü"}'},
                ),
                *ended("tool_use"),
            )
        )
    )
    assert events[:-1] == [
        ThinkingDelta(0, "Let me"),
        ThinkingDelta(0, " see"),
        ToolUseStarted(2, "toolu_1", "bash"),
        ToolInputDelta(2, '{"z": 1, '),
        ToolInputDelta(2, '"a": "ü"}'),
    ]
    reply = events[-1]
    assert isinstance(reply, Reply)
    assert reply.blocks == (
        Thinking("Let me see", "c2ln+/=="),
        RedactedThinking("ZGF0YQ=="),
        ToolUse("toolu_1", "bash", {"z": 1, "a": "ü"}),
    )
    assert list(reply.blocks[2].input) == ["z", "a"]  # type: ignore[union-attr]
    assert (reply.stop_reason, reply.usage) == ("tool_use", Usage(3, 7, cache_read_tokens=100))


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({"cache_creation_input_tokens": 50}, Usage(0, 7, 0, 50, 0)),
        (
            {"cache_creation_input_tokens": 50, "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30}},
            Usage(0, 7, 0, 20, 30),
        ),
        ({"input_tokens": 5, "cache_read_input_tokens": None}, Usage(5, 7)),
    ],
)
async def test_cache_writes_are_split_by_how_long_they_last(reported: dict[str, Any], expected: Usage) -> None:
    events = await events_of(Answer(sse(started(), *text(0, "x"), *ended(**reported))))
    assert isinstance(events[-1], Reply)
    assert events[-1].usage == expected


@pytest.mark.parametrize("cut", ['{"path": "a', '["no object"]'])
async def test_tool_input_that_is_no_object_is_kept_as_text(cut: str) -> None:
    tool = block(0, {"type": "tool_use", "id": "t", "name": "bash", "input": {}}, {"type": "input_json_delta", "partial_json": cut})
    events = await events_of(Answer(sse(started(), *tool, *ended("max_tokens"))))
    assert isinstance(events[-1], Reply)
    assert events[-1].blocks == (ToolUse("t", "bash", {UNPARSABLE_INPUT: cut}),)


async def test_a_stream_that_just_ends_is_no_reply() -> None:
    async with ScriptedServer(Answer(sse(started(), *text(0, "Hel")))) as server:
        model = model_at(server.url)
        seen: list[ModelEvent] = []
        with pytest.raises(StreamBroken, match="ended before the reply was whole"):
            async for event in model.stream(request(), 1000):
                seen += [event]
        await model.aclose()
    assert seen == [TextDelta(0, "Hel")]
    assert len(server.calls) == 1


async def test_an_event_that_is_no_json() -> None:
    failure = await failure_of(Answer("event: message_start\ndata: {oops\n\n"))
    assert type(failure) is NonsenseSent
    assert "sent nonsense: an event that is no JSON" in str(failure)


def test_a_server_that_never_answered_is_not_asked_again() -> None:
    request_sent = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    problem = anthropic.APITimeoutError(request_sent)
    problem.__cause__ = httpx2.ReadTimeout("timed out")
    failure = understand(problem, Endpoint("qwen", "http://127.0.0.1"))
    assert type(failure.error) is EndpointUnreachable
    assert failure.attempts == 1


def test_nothing_here_imports_the_sdk_before_it_is_needed() -> None:
    check = "import sys, ullage.models.choose; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


async def test_closing_the_events_closes_the_connection() -> None:
    async with ScriptedServer(Answer(sse(started(), *text(0, "Hel")), hold=True)) as server:
        model = model_at(server.url)
        events = model.stream(request(), 1000)
        assert await anext(events) == TextDelta(0, "Hel")
        assert not server.client_left.is_set()
        await events.aclose()
        async with asyncio.timeout(PATIENCE):
            await server.client_left.wait()
        await model.aclose()


@pytest.mark.parametrize("answer", [Answer(sse(started(), *text(0, "Hel")), hold=True), Answer("", hold=True)])
async def test_cancelling_the_reader_closes_the_connection(answer: Answer) -> None:
    async with ScriptedServer(answer) as server:
        model = model_at(server.url)
        reached = asyncio.Event()

        async def read(events: AsyncIterator[ModelEvent]) -> None:
            async for _ in events:
                reached.set()

        task = asyncio.create_task(read(model.stream(request(), 1000)))
        if answer.body:
            await reached.wait()
        else:
            await server.called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(PATIENCE):
            await server.client_left.wait()
        await model.aclose()


async def test_results_and_errors_are_sent_as_such() -> None:
    messages = [
        Message("user", (Text("go"),), (1,)),
        Message("assistant", (ToolUse("t", "bash", {"command": "ls"}),), (2,)),
        Message("user", (ToolResult("t", "no such command", is_error=True),), (3,)),
    ]
    async with ScriptedServer(Answer(HELLO)) as server:
        model = model_at(server.url)
        async for _ in model.stream(Request((), (), messages, ()), 10):
            pass
        await model.aclose()
    assert server.calls[0].json["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "content": "no such command", "is_error": True}
    ]
    assert not {"system", "tools"} & set(server.calls[0].json)

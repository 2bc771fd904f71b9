"""Calls over a real socket: what is sent, what comes back, cancelling, retries, and each failure in its words."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import pytest

from tests.unit.models.scripted_server import Answer, ScriptedServer, block, ended, error, sse, started, text
from ullage.context.blocks import RedactedThinking, SystemPart, Text, Thinking, ToolResult, ToolSpec, ToolUse, Usage
from ullage.context.view.request import Breakpoint, Message, Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import (
    AuthenticationFailed,
    EndpointUnreachable,
    ModelError,
    Overloaded,
    PromptTooLong,
    RequestRefused,
    StreamBroken,
    UnknownModel,
)
from ullage.models.failures import Endpoint, understand
from ullage.models.model import UNPARSABLE_INPUT, ModelEvent, Reply, Retrying, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted

KEY = "sk-ant-test-0123456789"
HELLO = sse(started(input_tokens=10), *text(0, "Hel", "lo"), *ended())


def request(*texts: str) -> Request:
    messages = [Message("user", (Text(each),), (1,)) for each in texts or ("hello",)]
    tools = (ToolSpec("bash", "Runs a command", {"type": "object", "properties": {}}),)
    return Request((SystemPart("system", "You are Ullage."),), tools, messages, (Breakpoint(len(messages) - 1, 0),))


class Naps:
    """A clock that does not wait: it only keeps what it was asked for."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def model_at(url: str, *, key: str | None = KEY, naps: Naps | None = None, name: str = "claude-test") -> AnthropicModel:
    return AnthropicModel(name, api_key=key, base_url=url, sleep=naps or Naps(), dice=lambda: 0.0)


async def events_of(*answers: Answer, naps: Naps | None = None) -> list[ModelEvent]:
    async with ScriptedServer(*answers) as server:
        model = model_at(server.url, naps=naps)
        events = [event async for event in model.stream(request(), 1000)]
        await model.aclose()
        return events


async def failure_of(answer: Answer, *, key: str | None = KEY) -> ModelError:
    async with ScriptedServer(answer) as server:
        model = model_at(server.url, key=key)
        with pytest.raises(ModelError) as caught:
            async for _ in model.stream(request(), 1000):
                pass
        await model.aclose()
        return caught.value


def refusal(status: str, kind: str, message: str) -> Answer:
    return Answer(json.dumps(error(kind, message)), status, "application/json")


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
    assert type(failure) is StreamBroken
    assert "no JSON" in str(failure)


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


async def test_a_stream_that_ends_before_any_output_is_tried_again() -> None:
    events = await events_of(Answer(sse(started())), Answer(HELLO))
    assert [type(event) for event in events] == [Retrying, TextDelta, TextDelta, Reply]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("overloaded_error", Overloaded), ("api_error", StreamBroken), ("invalid_request_error", StreamBroken)],
)
async def test_an_error_inside_a_stream(kind: str, expected: type[ModelError]) -> None:
    failure = await failure_of(Answer(sse(started(), *text(0, "Hel"), error(kind, "the reason"))))
    assert type(failure) is expected
    assert "the reason" in str(failure)


async def test_closing_the_events_closes_the_connection() -> None:
    async with ScriptedServer(Answer(sse(started(), *text(0, "Hel")), hold=True)) as server:
        model = model_at(server.url)
        events = model.stream(request(), 1000)
        assert await anext(events) == TextDelta(0, "Hel")
        assert not server.client_left.is_set()
        await events.aclose()
        async with asyncio.timeout(5):
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
        async with asyncio.timeout(5):
            await server.client_left.wait()
        await model.aclose()


@pytest.mark.parametrize("status", ["408 Timeout", "409 Conflict", "429 Too Many", "500 Oops", "503 Unavailable", "529 Overloaded"])
async def test_a_busy_endpoint_is_called_again(status: str) -> None:
    naps = Naps()
    busy = refusal(status, "overloaded_error", "Overloaded")
    events = await events_of(busy, busy, Answer(HELLO), naps=naps)
    assert naps.taken == [0.5, 1.0]
    assert [event for event in events if isinstance(event, Retrying)] == [
        Retrying(2, 0.5, events[0].reason),  # type: ignore[union-attr]
        Retrying(3, 1.0, events[0].reason),  # type: ignore[union-attr]
    ]
    assert status[:3] in events[0].reason  # type: ignore[union-attr]
    assert isinstance(events[-1], Reply)


async def test_after_the_last_attempt_the_user_is_told() -> None:
    naps = Naps()
    async with ScriptedServer(refusal("529 Overloaded", "overloaded_error", "Overloaded")) as server:
        model = model_at(server.url, naps=naps)
        with pytest.raises(Overloaded, match=r"overloaded \(HTTP 529: Overloaded\). Continue in a while"):
            async for _ in model.stream(request(), 1000):
                pass
        await model.aclose()
    assert naps.taken == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert len(server.calls) == 7


@pytest.mark.parametrize(
    ("header", "value", "waits"), [("retry-after", "7", [7.0]), ("retry-after-ms", "250", [0.25]), ("retry-after", "soon", [0.5])]
)
async def test_the_wish_of_the_server_is_obeyed(header: str, value: str, waits: list[float]) -> None:
    naps = Naps()
    busy = Answer(json.dumps(error("rate_limit_error", "slow")), "429 Too Many", "application/json", {header: value})
    await events_of(busy, Answer(HELLO), naps=naps)
    assert naps.taken == waits


async def test_nobody_waits_for_an_hour() -> None:
    busy = Answer(json.dumps(error("rate_limit_error", "slow")), "429 Too Many", "application/json", {"retry-after": "3600"})
    failure = await failure_of(busy)
    assert type(failure) is Overloaded
    assert "again in 60 min" in str(failure)


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (refusal("401 No", "authentication_error", f"bad key {KEY}"), AuthenticationFailed, "Ullage: Set API key"),
        (refusal("403 No", "permission_error", "not for you"), AuthenticationFailed, "not for you"),
        (refusal("402 Pay", "billing_error", "pay first"), AuthenticationFailed, "Add credit"),
        (refusal("400 No", "invalid_request_error", "Your credit balance is too low"), AuthenticationFailed, "Add credit"),
        (refusal("404 No", "not_found_error", "model: claude-test"), UnknownModel, "`claude-test`"),
        (refusal("404 No", "not_found_error", "model 'x' not found, try pulling it first"), UnknownModel, "ullage.model.name"),
        (Answer("<html>nginx</html>", "404 Not Found", "text/html"), EndpointUnreachable, "HTTP 404, text/html"),
        (Answer('{"error":{"message":"File Not Found"}}', "404 No", "application/json"), EndpointUnreachable, "baseUrl"),
        (Answer("Unsupported method", "501 Unsupported", "text/html"), EndpointUnreachable, "HTTP 501"),
        (Answer("<html>hello</html>", "200 OK", "text/html"), EndpointUnreachable, "HTTP 200, text/html"),
        (refusal("400 No", "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), PromptTooLong, "210000"),
        (
            Answer(
                '{"error":{"code":400,"type":"exceed_context_size_error",'
                '"message":"request (200030 tokens) exceeds the available context size (16384 tokens), try increasing it"}}',
                "400 Bad Request",
                "application/json",
            ),
            PromptTooLong,
            "16384",
        ),
        (Answer("<html>413</html>", "413 Too Large", "text/html"), PromptTooLong, "Compact it"),
        (
            refusal("400 No", "BadRequestError", "This model's maximum context length is 4096 tokens. However, you requested 5000"),
            PromptTooLong,
            "4096",
        ),
        (refusal("400 No", "invalid_request_error", "tools.0: bad schema"), RequestRefused, "tools.0: bad schema"),
        (Answer("", "422 No", "application/json"), RequestRefused, "HTTP 422"),
    ],
)
async def test_failures_are_told_in_words_that_help(answer: Answer, expected: type[ModelError], words: str) -> None:
    failure = await failure_of(answer)
    assert type(failure) is expected
    assert words in str(failure)
    assert KEY not in str(failure)


async def test_a_server_that_wants_a_key_when_none_is_set() -> None:
    failure = await failure_of(refusal("401 No", "authentication_error", "key missing"), key=None)
    assert type(failure) is AuthenticationFailed
    assert "Ullage: Set API key" in str(failure)


async def test_where_nothing_listens() -> None:
    async with ScriptedServer(Answer()) as server:
        url = server.url
    naps = Naps()
    model = model_at(url, naps=naps)
    with pytest.raises(EndpointUnreachable, match=r"cannot be reached.*ullage\.model\.baseUrl"):
        async for _ in model.stream(request(), 1000):
            pass
    await model.aclose()
    assert naps.taken == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://here", "http://[", "nonsense", "http://user:secret@"])
async def test_what_is_no_web_address(url: str) -> None:
    model = model_at(url)
    with pytest.raises(EndpointUnreachable, match=r"ullage\.model\.baseUrl") as caught:
        async for _ in model.stream(request(), 1000):
            pass
    assert "secret" not in str(caught.value)
    await model.aclose()


@pytest.mark.parametrize("key", ["my-own-secret\n", "my\x00-own-secret"])
async def test_a_key_that_cannot_be_sent_is_not_quoted(key: str) -> None:
    async with ScriptedServer() as server:
        model = model_at(server.url, key=key)
        with pytest.raises(AuthenticationFailed, match="cannot be sent") as caught:
            async for _ in model.stream(request(), 1000):
                pass
        assert "secret" not in str(caught.value)
        await model.aclose()


async def test_without_any_key_anthropic_is_not_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    model = AnthropicModel("claude-opus-5-5", api_key=None, sleep=Naps())
    assert (await model.card()).source == "table"
    with pytest.raises(AuthenticationFailed, match="There is no API key"):
        async for _ in model.stream(request(), 1000):
            pass
    await model.aclose()


async def test_credentials_of_the_environment_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    model = AnthropicModel("claude-opus-5-5", api_key=None, sleep=Naps())
    with pytest.raises(AuthenticationFailed, match="Config file not found"):
        async for _ in model.stream(request(), 1000):
            pass
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

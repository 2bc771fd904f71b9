"""What an endpoint says that cannot be, in whole sessions: the prompt after it works, and so does the session opened anew."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deep import DEEP, diagonal, sampled
from tests.endpoint_faults import FaultyEndpoint, Raw
from tests.fake_api import FakeApi, Say
from tests.unit.models.scripted_server import block, ended, error, sse, started, text
from tests.unit.session.harness import Stage, calls, notices, stage
from ullage.context.blocks import Text, ToolUse, Usage
from ullage.context.entries import AssistantReply, TurnEnded
from ullage.session.session import Session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@asynccontextmanager
async def behind_a_faulty_endpoint(folder: Path) -> AsyncGenerator[tuple[Stage, FaultyEndpoint]]:
    async with (
        FakeApi() as fake,
        FaultyEndpoint(fake.base_url) as endpoint,
        stage(folder, fake=fake, base_url=endpoint.base_url) as here,
    ):
        yield here, endpoint


def streamed(*events: dict[str, Any]) -> Raw:
    return Raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + sse(*events).encode())


def refused(status: str, kind: str, message: str) -> Raw:
    body = json.dumps(error(kind, message))
    return Raw(f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())


def said(session: Session) -> list[str]:
    return [notice.text for notice in notices(session) if notice.level != "info"]


async def answers(here: Stage, session: Session) -> None:
    here.fake.enqueue(Say("Well."))
    await here.say(session, "And now?")
    entries = session._conversation.entries  # noqa: SLF001
    assert entries[-1].entry == TurnEnded("end_turn"), entries[-1].entry
    assert here.refused() == []


ABSURD = {"ten million": 10_000_000, "10^18": 10**18, "10^4000": 10**4000, "negative": -5}
FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@sampled(("absurd", "field"), itertools.product(ABSURD, FIELDS), keep=diagonal([*ABSURD], FIELDS).__contains__)
async def test_an_absurd_usage_is_told_once_and_not_counted(folder: Path, absurd: str, field: str) -> None:
    async with behind_a_faulty_endpoint(folder) as (here, endpoint):
        session = await here.new()
        for _ in range(2):
            usage: dict[str, Any] = {"input_tokens": 10, "output_tokens": 7, field: ABSURD[absurd]}
            endpoint.faults.append(streamed(started(**usage), *text(0, "Hello"), *ended(**usage)))
            await here.say(session, "Hi")
        [told] = said(session)
        assert "That cannot be, so it is not counted" in told
        assert session.snapshot().gauge.used < 50_000
        assert (session.snapshot().gauge.cost or 0) < 1
        await answers(here, session)


@pytest.mark.parametrize("tokens", [10_000_000, 10**18])
async def test_a_log_with_an_absurd_usage_works_again(folder: Path, tokens: int) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await here.say(session, "Hi")
        reply = AssistantReply("r-old", (Text("Hello"),), "claude-opus-5-5", "end_turn", Usage(tokens, 7), 30.0)
        session._conversation.append(reply)  # noqa: SLF001
        session_id = session.id
    async with stage(folder) as here:
        session = await here.sessions.open(session_id)
        assert session.snapshot().gauge.used < 50_000
        if tokens > 10**9:
            assert (session.snapshot().gauge.cost or 0) < 1
        await answers(here, session)


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 3000 tokens > 1 maximum",
        "prompt is too long: 3000 tokens > 2000 maximum",
        "prompt is too long: 999999999999999999999999 tokens > 1 maximum",
        "prompt is too long: 100 tokens > 30000 maximum",
        "prompt is too long: 9000000 tokens > 1100 maximum",
        "prompt is too long",
    ],
)
async def test_an_absurd_window_stops_no_session(folder: Path, words: str) -> None:
    async with behind_a_faulty_endpoint(folder) as (here, endpoint):
        first, second = await here.new(), await here.new()
        await here.say(second, "Hi")
        endpoint.faults.append(refused("400 Bad Request", "invalid_request_error", words))
        await here.say(first, "Hi")
        await answers(here, first)
        await answers(here, first)
        await answers(here, second)
        await answers(here, await here.new())
        assert first.snapshot().gauge.size == 1_000_000 or first.snapshot().gauge.size == 200_000


NAMES = ["", "read file!", "x" * 300, "read\nfile", "../../bash", "читать", "bash\x00", "\ud800", "a" * 200_000]


IDS = ["toolu_1", "", "../../x", "a b", "é" * 500]
CALLS = [(name, IDS[number % len(IDS)]) for number, name in enumerate(NAMES)]
"""Each name with an id, and each id with a name; the long run has every pair."""


@pytest.mark.deep
@pytest.mark.parametrize(("name", "call_id"), [*itertools.product(NAMES, IDS)] if DEEP else CALLS)
async def test_a_call_of_what_is_no_name_goes_back_validly(folder: Path, name: str, call_id: str) -> None:
    async with behind_a_faulty_endpoint(folder) as (here, endpoint):
        session = await here.new()
        call: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": '{"path": "a.py"}'}
        endpoint.faults.append(streamed(started(input_tokens=10), *block(0, call, delta), *block(1, call, delta), *ended("tool_use")))
        here.fake.enqueue(Say("I see."))
        await here.say(session, "Read it")
        assert here.refused() == []
        assert [each.status for each in calls(session)] == ["failed", "failed"]
        [results] = [message["content"] for message in here.fake.requests[-1].body["messages"] if message["role"] == "user"][1:]
        assert "The tools are: " in results[0]["content"]
        assert results[0]["is_error"]
        await answers(here, session)
        session_id = session.id
    async with stage(folder) as here:
        await answers(here, await here.sessions.open(session_id))


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_a_log_with_a_call_of_what_is_no_name_works_again(folder: Path, name: str) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await here.say(session, "Hi")
        call = ToolUse("t 1", name, {"a": float("inf"), "b": [{"c": float("nan")}]})
        session._conversation.append(AssistantReply("r-old", (call,), "m", "tool_use", None))  # noqa: SLF001
        session_id = session.id
    async with stage(folder) as here:
        await answers(here, await here.sessions.open(session_id))

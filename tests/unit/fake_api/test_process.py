"""The fake as a process, driven over HTTP as tests in other languages do."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import FakeApi
from tests.unit.fake_api.bodies import request, tool, user

ROOT = Path(__file__).parents[3]


@pytest.fixture
async def control(fake: FakeApi) -> AsyncIterator[httpx2.AsyncClient]:
    """The control endpoints of `fake`."""
    async with httpx2.AsyncClient(base_url=f"{fake.base_url}/__fake__/") as http:
        yield http


async def ask(client: AsyncAnthropic, words: str = "hello") -> anthropic.types.Message:
    """One streamed reply."""
    async with client.messages.stream(**request(user(words), tools=[tool()])) as running:
        return await running.get_final_message()


@pytest.mark.parametrize(
    ("outcome", "content"),
    [
        ({"say": "hi"}, [{"type": "text", "text": "hi"}]),
        ([{"say": "a"}, {"say": "b"}], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (
            {"reply": [{"call": "read_file", "input": {"path": "a"}, "id": "toolu_1"}], "chunk_size": 2, "delay": 0.001},
            [{"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}],
        ),
        ({"reply": [{"say": "abcdef"}], "chunk_size": 2, "interruption": {"ends_after": 2}}, [{"type": "text", "text": "abcd"}]),
        ({"reply": [{"say": "no"}], "stop_reason": "refusal"}, [{"type": "text", "text": "no"}]),
    ],
)
async def test_replies(control: httpx2.AsyncClient, client: AsyncAnthropic, outcome: Any, content: list[Any]) -> None:
    """Each JSON form becomes its reply."""
    assert (await control.post("enqueue", json=[outcome])).json() == {"queued": 1}
    assert (await ask(client)).to_dict(exclude_none=True)["content"] == content


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"fail": 429, "headers": {"retry-after": "3"}}, anthropic.RateLimitError),
        ({"fail": 529}, anthropic.OverloadedError),
        ({"fail": 402, "type": "billing_error", "message": "no credit"}, anthropic.PaymentRequiredError),
        ({"html": 502}, anthropic.InternalServerError),
        ({"html": 503, "body": "<p>down</p>"}, anthropic.InternalServerError),
        ({"reset": True}, anthropic.APIConnectionError),
        ({"reply": [{"say": "abc"}], "interruption": {"error_after": 0, "type": "api_error"}}, anthropic.APIStatusError),
        ({"reply": [{"say": "abc"}], "interruption": {"resets_after": 1}}, httpx2.RemoteProtocolError),
    ],
)
async def test_failures(control: httpx2.AsyncClient, client: AsyncAnthropic, outcome: Any, expected: type[Exception]) -> None:
    """Each JSON form becomes its failure."""
    await control.post("enqueue", json=[outcome])
    with pytest.raises(expected):
        await ask(client)


async def test_rules_requests_and_reset(control: httpx2.AsyncClient, client: AsyncAnthropic) -> None:
    """Rules answer what they match; requests can be read and waited for; a reset forgets all."""
    await control.post("rules", json=[{"when": "^sum", "outcome": {"say": "a summary"}, "times": 1}])
    waiting = asyncio.create_task(control.get("requests", params={"ended": 2}))
    assert (await ask(client, "Sum it up")).to_dict()["stop_reason"] == "end_turn"
    await ask(client, "And now?")
    seen = (await waiting).json()
    assert [record["reply"][0]["text"] for record in seen["requests"]] == ["a summary", "You said: And now?"]
    assert seen["requests"][0]["body"]["messages"] == [user("Sum it up")]
    assert seen["dollars"] > 0
    assert "key-of-tests" not in json.dumps(seen)
    await control.post("reset")
    assert (await control.get("requests")).json() == {"requests": [], "queued": 0, "dollars": 0}


async def test_held_and_released(control: httpx2.AsyncClient, client: AsyncAnthropic) -> None:
    """Another process can wait for a held response and let it go."""
    await control.post("enqueue", json=[{"hang": {"say": "at last"}}])
    reading = asyncio.create_task(ask(client))
    assert (await control.get("held", params={"count": 1})).json() == {"held": 1}
    assert (await control.post("release")).json() == {"released": 1}
    assert (await reading).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("enqueue", {"say": "hi"}, "outcomes: a list is expected"),
        ("enqueue", [{"sy": "hi"}], "neither a block nor an outcome"),
        ("enqueue", [{"fail": 429, "retry": 3}], "fail: unknown key `retry`"),
        ("enqueue", [{"reply": [{"say": "x"}], "interruption": {"stops_after": 1}}], "no interruption"),
        ("rules", [{"when": 5, "outcome": {"say": "x"}}], "`when` is a regular expression"),
        ("nothing", {}, "no control endpoint POST /__fake__/nothing"),
    ],
)
async def test_bad_scripts_are_named(control: httpx2.AsyncClient, path: str, value: Any, message: str) -> None:
    """A mistake in a test is told to the test."""
    response = await control.post(path, json=value)
    assert response.status_code == 400
    assert message in response.json()["error"]


async def test_the_process(tmp_path: Path) -> None:
    """It prints its port, takes window and script from its arguments, and ends when its standard input is closed."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"queue": [{"say": "from a file"}], "rules": []}))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.fake_api",
        "--window",
        "5000",
        "--script",
        str(script),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    port = json.loads(await process.stdout.readline())["port"]
    async with AsyncAnthropic(base_url=f"http://127.0.0.1:{port}", api_key="k") as client:
        assert (await client.models.retrieve("claude-opus-5-5")).max_input_tokens == 5_000
        assert (await ask(client)).to_dict(exclude_none=True)["content"] == [{"type": "text", "text": "from a file"}]
    process.stdin.close()
    assert await process.wait() == 0

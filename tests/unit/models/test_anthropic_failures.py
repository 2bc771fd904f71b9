"""Calls over a real socket that fail: which are made again and when, and each failure in its words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.models.calls import HELLO, KEY, Naps, events_of, failure_of, model_at, refusal, request
from tests.unit.models.scripted_server import Answer, ScriptedServer, error, sse, started, text
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
from ullage.models.model import Reply, Retrying, TextDelta
from ullage.models.retry import retry_after


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
        with pytest.raises(Overloaded, match=r"overloaded \(HTTP 529: Overloaded\). Wait a moment, then press Continue"):
            async for _ in model.stream(request(), 1000):
                pass
        await model.aclose()
    assert naps.taken == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert len(server.calls) == 7


@pytest.mark.parametrize(
    ("header", "value", "waits"),
    [
        ("retry-after", "7", [7.0]),
        ("retry-after", "7.25", [7.25]),
        ("retry-after-ms", "7250", [7.25]),
        ("retry-after-ms", "250", [0.5]),  # never sooner than without a wish
        ("retry-after", "0", [0.5]),
        ("retry-after", "-30", [0.5]),
        ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", [0.5]),
        ("retry-after", "soon", [0.5]),
        ("retry-after", "inf", [0.5]),
        ("retry-after", "nan", [0.5]),
        ("retry-after", "Wed, 99 Oct 99999 07:28:00 GMT", [0.5]),
    ],
)
async def test_the_wish_of_the_server_is_obeyed(header: str, value: str, waits: list[float]) -> None:
    naps = Naps()
    busy = Answer(json.dumps(error("rate_limit_error", "slow")), "429 Too Many", "application/json", {header: value})
    await events_of(busy, Answer(HELLO), naps=naps)
    assert naps.taken == waits


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ("3600", "again in 60 min"),
        ("1e6", "again in 12 days"),
        ("1e300", "not to be called again for years"),
        ("Fri, 21 Oct 9999 07:28:00 GMT", "not to be called again for years"),
    ],
)
async def test_nobody_waits_for_an_hour(wish: str, words: str) -> None:
    busy = Answer(json.dumps(error("rate_limit_error", "slow")), "429 Too Many", "application/json", {"retry-after": wish})
    failure = await failure_of(busy)
    assert type(failure) is Overloaded
    assert words in str(failure)


def test_a_wish_as_a_date_is_the_time_until_then() -> None:
    now = datetime(2026, 11, 22, 13, 0, tzinfo=UTC)
    assert retry_after({"retry-after": "Sun, 22 Nov 2026 13:00:20 GMT"}, now) == 20.0
    assert retry_after({"retry-after": "Sun, 22 Nov 2026 14:00:20 +0100"}, now) == 20.0


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (refusal("401 No", "authentication_error", f"bad key {KEY}"), AuthenticationFailed, "Ullage: Set API key"),
        (refusal("403 No", "permission_error", "not for you"), AuthenticationFailed, "not for you"),
        (refusal("402 Pay", "billing_error", "pay first"), AuthenticationFailed, "Add credit"),
        (refusal("400 No", "invalid_request_error", "Your credit balance is too low"), AuthenticationFailed, "Add credit"),
        (refusal("404 No", "not_found_error", "model: claude-test"), UnknownModel, "`claude-test`"),
        (refusal("404 No", "not_found_error", "model 'x' not found, try pulling it first"), UnknownModel, "/model"),
        (Answer("<html>nginx</html>", "404 Not Found", "text/html"), EndpointUnreachable, "HTTP 404, text/html"),
        (Answer('{"error":{"message":"File Not Found"}}', "404 No", "application/json"), EndpointUnreachable, "Check the address"),
        (Answer("Unsupported method", "501 Unsupported", "text/html"), EndpointUnreachable, "HTTP 501"),
        (Answer("<html>hello</html>", "200 OK", "text/html"), EndpointUnreachable, "HTTP 200, text/html"),
        (refusal("400 No", "invalid_request_error", "prompt is too long: 9000 tokens > 8192 maximum"), PromptTooLong, "9000 tokens > 8192"),
        (
            Answer(
                '{"error":{"code":400,"type":"exceed_context_size_error",'
                '"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"}}',
                "400 Bad Request",
                "application/json",
            ),
            PromptTooLong,
            "8192",
        ),
        (
            refusal("400 No", "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            PromptTooLong,
            "impossible sizes",  # for a request of some hundred bytes
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
    with pytest.raises(EndpointUnreachable, match=r"cannot be reached: nothing listens there\. Check the address"):
        async for _ in model.stream(request(), 1000):
            pass
    await model.aclose()
    assert naps.taken == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://here", "http://[", "nonsense", "http://user:secret@"])
async def test_what_is_no_web_address(url: str) -> None:
    model = model_at(url)
    with pytest.raises(EndpointUnreachable, match="Ullage › Model: Base Url") as caught:
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

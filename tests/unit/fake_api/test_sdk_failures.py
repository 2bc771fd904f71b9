"""Failures as the real SDK reports them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import (
    EndsAfter,
    ErrorAfter,
    Fail,
    FakeApi,
    Hang,
    HoldsAfter,
    Html,
    Reply,
    ResetConnection,
    ResetsAfter,
    Say,
)
from tests.unit.fake_api.bodies import assistant, call, request, user

LONG = (Say("word " * 100),)


async def read_stream(client: AsyncAnthropic, **body: Any) -> anthropic.types.Message:
    """Reads a stream to its end."""
    async with client.messages.stream(**body) as running:
        return await running.get_final_message()


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (401, "authentication_error", anthropic.AuthenticationError),
        (402, "billing_error", anthropic.PaymentRequiredError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (404, "not_found_error", anthropic.NotFoundError),
        (413, "request_too_large", anthropic.ContentTooLargeError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.OverloadedError),
    ],
)
async def test_error_responses(fake: FakeApi, client: AsyncAnthropic, status: int, kind: str, expected: type[Exception]) -> None:
    """Each status becomes its exception, with type, message and request id."""
    fake.enqueue(Fail(status, kind, "no luck", {"retry-after": "7"}))
    with pytest.raises(expected) as raised:
        await read_stream(client, **request())
    error = raised.value
    assert isinstance(error, anthropic.APIStatusError)
    assert (error.status_code, error.type, error.api_message) == (status, kind, "no luck")
    assert error.request_id == fake.requests[0].id
    assert error.response.headers["retry-after"] == "7"
    assert (fake.requests[0].status, fake.requests[0].error) == (status, "no luck")
    assert fake.dollars == 0


async def test_the_sdk_tries_again_by_itself(fake: FakeApi) -> None:
    """A failure that may pass is followed by the next outcome."""
    fake.enqueue(Fail(529, "overloaded_error", "Overloaded", {"retry-after-ms": "1"}), Say("there you are"))
    async with AsyncAnthropic(base_url=fake.base_url, api_key="k", max_retries=1) as client:
        message = await read_stream(client, **request())
    assert message.stop_reason == "end_turn"
    assert [record.status for record in fake.requests] == [529, 200]


async def test_a_refusal_comes_in_the_words_of_the_api(fake: FakeApi, client: AsyncAnthropic) -> None:
    """An invalid body is refused before the script is asked."""
    fake.enqueue(Say("never mind"))
    with pytest.raises(anthropic.BadRequestError, match="`tool_use` ids were found without `tool_result` blocks immediately after: a"):
        await read_stream(client, **request(user("go"), assistant(call("a")), user("well?")))
    assert fake.state.script.queued == 1


async def test_input_over_the_window() -> None:
    """The words are those that clients look for."""
    async with FakeApi(windows={"claude-tiny": 200}) as fake, AsyncAnthropic(base_url=fake.base_url, api_key="k") as client:
        question: Any = user("word " * 1_000)
        body = request(question, model="claude-tiny") | {"max_tokens": 100}
        with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: \d+ tokens > 200 maximum"):
            await read_stream(client, **body)
        counted = await client.messages.count_tokens(model="claude-tiny", messages=[question])
        assert counted.input_tokens > 200


async def test_a_body_over_32_megabytes(fake: FakeApi, client: AsyncAnthropic) -> None:
    """That is 413."""
    with pytest.raises(anthropic.ContentTooLargeError):
        await read_stream(client, **request(user("x" * (32 * 1024 * 1024))))


@pytest.mark.parametrize("chunks", [0, 3])
async def test_an_error_inside_a_stream(fake: FakeApi, client: AsyncAnthropic, chunks: int) -> None:
    """The status was 200, and that is what the exception says."""
    fake.enqueue(Reply(LONG, interruption=ErrorAfter(chunks)))
    with pytest.raises(anthropic.APIStatusError) as raised:
        await read_stream(client, **request())
    assert (raised.value.status_code, raised.value.type) == (200, "overloaded_error")
    assert fake.requests[0].error == "Overloaded"


async def test_a_stream_that_just_ends(fake: FakeApi, client: AsyncAnthropic) -> None:
    """No exception, and no stop reason either."""
    fake.enqueue(Reply(LONG, interruption=EndsAfter(2), chunk_size=5))
    message = await read_stream(client, **request())
    assert message.stop_reason is None
    assert [block.to_dict() for block in message.content] == [{"type": "text", "text": "word word "}]


async def test_an_interruption_beyond_the_last_delta_comes_at_the_end(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Then only the stop reason is missing."""
    fake.enqueue(Reply((Say("hello"),), interruption=EndsAfter(50)))
    message = await read_stream(client, **request())
    assert message.stop_reason is None


async def test_a_connection_that_breaks_off_in_a_stream(fake: FakeApi, client: AsyncAnthropic) -> None:
    """The exception is the transport's: the SDK does not wrap it once the stream is open."""
    fake.enqueue(Reply(LONG, interruption=ResetsAfter(2)))
    with pytest.raises(httpx2.RemoteProtocolError):
        await read_stream(client, **request())
    assert fake.requests[0].state == "reset"


async def test_a_connection_that_breaks_off_at_once(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Before any byte of a response it is a connection error."""
    fake.enqueue(ResetConnection())
    with pytest.raises(anthropic.APIConnectionError):
        await read_stream(client, **request())


async def test_something_else_answers(fake: FakeApi, client: AsyncAnthropic) -> None:
    """A proxy's page is no API error, but has its status."""
    fake.enqueue(Html(502))
    with pytest.raises(anthropic.InternalServerError) as raised:
        await read_stream(client, **request())
    assert raised.value.type is None


async def test_held_until_released(fake: FakeApi, client: AsyncAnthropic) -> None:
    """A held response comes when it is let go, at its beginning or in its middle."""
    fake.enqueue(Hang(), Reply(LONG, interruption=HoldsAfter(3)))
    for expected in ("Released.", "word " * 100):
        reading = asyncio.create_task(read_stream(client, **request()))
        await fake.until_held()
        assert not reading.done()
        assert fake.release() == 1
        message = await reading
        assert message.to_dict()["content"] == [{"type": "text", "text": expected}]


async def test_a_client_that_goes_away_is_noticed(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Cancelling closes the connection, and the record says so."""
    fake.enqueue(Hang())
    reading = asyncio.create_task(read_stream(client, **request()))
    await fake.until_held()
    reading.cancel()
    await fake.requests[0].ended.wait()
    assert fake.requests[0].state == "abandoned"
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_slow_reply_can_be_left(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Leaving a stream in its middle ends it."""
    fake.enqueue(Reply(LONG, delay=0.01, chunk_size=1))
    async with client.messages.stream(**request()) as running:
        async for piece in running.text_stream:
            assert piece == "w"
            break
    await fake.requests[0].ended.wait()
    assert fake.requests[0].state == "abandoned"


@pytest.fixture
async def guarded() -> AsyncIterator[FakeApi]:
    """A fake that knows one key."""
    async with FakeApi(keys=["right"]) as running:
        yield running


@pytest.mark.parametrize(("key", "accepted"), [("right", True), ("wrong", False)])
async def test_keys(guarded: FakeApi, key: str, accepted: bool) -> None:
    """A wrong key is 401 everywhere."""
    async with AsyncAnthropic(base_url=guarded.base_url, api_key=key, max_retries=0) as client:
        if accepted:
            assert (await read_stream(client, **request())).stop_reason == "end_turn"
            return
        with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
            await read_stream(client, **request())
        with pytest.raises(anthropic.AuthenticationError):
            await client.models.retrieve("claude-test-small")


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "message"),
    [
        ("POST", "/v1/messages", {}, b"{}", 401, "x-api-key header is required"),
        ("POST", "/v1/messages", {"x-api-key": "k"}, b"{}", 400, "anthropic-version: header is required"),
        ("POST", "/v1/messages", {"x-api-key": "k", "anthropic-version": "2023-06-01"}, b"{}", 400, "2026-10-21"),
        ("POST", "/v1/messages", {"x-api-key": "k", "anthropic-version": "2026-10-21"}, b"{", 400, "The request body is not valid JSON"),
        ("POST", "/v1/messages", {"x-api-key": "k", "anthropic-version": "2026-10-21"}, b"[]", 400, "valid dictionary"),
        ("GET", "/v1/messages", {"x-api-key": "k", "anthropic-version": "2026-10-21"}, b"", 405, "Method Not Allowed"),
        ("POST", "/v1/complete", {"x-api-key": "k", "anthropic-version": "2026-10-21"}, b"{}", 404, "Not Found"),
    ],
)
async def test_requests_that_are_none(
    fake: FakeApi, method: str, path: str, headers: dict[str, str], body: bytes, status: int, message: str
) -> None:
    """What does not even come from an SDK gets an error of the API's shape."""
    async with httpx2.AsyncClient() as http:
        response = await http.request(method, fake.base_url + path, headers=headers, content=body)
    assert response.status_code == status
    assert message in response.json()["error"]["message"]

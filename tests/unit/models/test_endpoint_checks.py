"""Numbers of an endpoint: which are believed, what a refusal teaches, and how that is forgotten again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.models.calls import model_at, request
from tests.unit.models.scripted_server import Answer, ScriptedServer, ended, error, sse, started, text
from ullage.context.blocks import Usage
from ullage.models.endpoint_checks import LARGEST_WINDOW, LEAST_WINDOW, RequestSize, why_not_believed
from ullage.models.errors import PromptTooLong
from ullage.models.model import Reply

SMALL = RequestSize(1_000, lambda: 0, 1_000)
WITH_IMAGES = RequestSize(1_000, lambda: 50_000, 1_000)


@pytest.mark.parametrize(
    ("usage", "size", "words"),
    [
        (Usage(900, 50), SMALL, None),
        (Usage(9_000, 1_500), SMALL, None),
        (Usage(1, 1), SMALL, None),
        (Usage(12_000, 50), SMALL, "12,000 tokens for a request of 1,000 bytes"),
        (Usage(12_000, 50), WITH_IMAGES, None),
        (Usage(900, 5, cache_read_tokens=10**7), SMALL, "10,000,900 tokens"),
        (Usage(900, 10**7), SMALL, "a reply of 10,000,000 tokens"),
        (Usage(-1, 5), SMALL, "negative"),
        (Usage(5, 5, cache_write_1h_tokens=-(10**400)), SMALL, "negative count of tokens (endlessly many)"),
        (Usage(10**30, 5), RequestSize(10**40, lambda: 0, 10), "about 1e+30 tokens"),
    ],
)
def test_what_is_believed_of_usage(usage: Usage, size: RequestSize, words: str | None) -> None:
    why = why_not_believed(usage, size, received=100)
    assert why is None if words is None else words in str(why)


def too_long(tokens: int, window: int) -> Answer:
    words = f"prompt is too long: {tokens} tokens > {window} maximum"
    return Answer(json.dumps(error("invalid_request_error", words)), "400 Bad Request", "application/json")


def replied(tokens: int) -> Answer:
    return Answer(sse(started(input_tokens=tokens), *text(0, "Hello"), *ended()))


TEXT = "tank " * 20_000


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([too_long(30_000, 20_000)], 20_000),
        ([too_long(30_000, LEAST_WINDOW)], LEAST_WINDOW),
        ([too_long(30_000, 1)], None),
        ([too_long(30_000, 0)], None),
        ([too_long(20_000, 30_000)], None),
        ([too_long(20_000, 20_000)], None),
        ([too_long(10**9, 20_000)], None),
        ([too_long(30_000, 20_000), too_long(30_000, 10_000)], 10_000),
        ([too_long(30_000, 2_000), replied(25_000)], None),  # a larger call went well
        ([too_long(30_000, 20_000), replied(15_000)], 20_000),
        ([replied(25_000), too_long(30_000, 20_000)], None),
        ([replied(10**9), too_long(30_000, 20_000)], 20_000),
    ],
)
async def test_what_a_refusal_teaches_of_the_window(answers: list[Answer], expected: int | None) -> None:
    async with ScriptedServer(*answers) as server:
        model = model_at(server.url)
        stated = (await model.card()).window
        for _ in answers:
            try:
                async for _event in model.stream(request(TEXT), 1_000):
                    pass
            except PromptTooLong:
                pass
        card = await model.card()
        await model.aclose()
    assert card.window == (expected or stated)
    assert card.hold_window == stated, "hearsay holds no call"


@pytest.mark.parametrize("window", [0, -1, 10**18, 10**400, "200000", True, None, [], {}, 1.5e5, LEAST_WINDOW - 1, LARGEST_WINDOW + 1])
@pytest.mark.parametrize("path", ["/v1/models/claude-test", "/v1/models", "/props"])
async def test_a_window_that_cannot_be_is_as_good_as_none(path: str, window: Any) -> None:
    told = {
        "/v1/models/claude-test": {"max_input_tokens": window, "max_tokens": window, "display_name": ["x"], "capabilities": [1]},
        "/v1/models": {"data": [None, {"id": "claude-test", "max_model_len": window}]},
        "/props": {"default_generation_settings": {"n_ctx": window}, "model_path": "x\u202e" * 500},
    }[path]
    page = Answer(json.dumps(told), "200 OK", "application/json")
    async with ScriptedServer(replied(10), pages={path: page}) as server:
        model = model_at(server.url)
        card = await model.card()
        events = [event async for event in model.stream(request(), 1_000)]
        await model.aclose()
    assert card == model.expected()
    assert isinstance(events[-1], Reply)


@pytest.mark.parametrize(
    "page",
    [
        Answer("[" * 100_000, "200 OK", "application/json"),
        Answer("5", "200 OK", "application/json"),
        Answer('{"max_input_tokens": NaN}', "200 OK", "application/json"),
        Answer("<html>", "200 OK", "text/html"),
        Answer("", "204 No Content"),
        Answer("", "302 Found", headers={"location": "http://127.0.0.1:9/"}),
        Answer("x", "200 OK", "application/json", {"content-encoding": "br"}),
        Answer("x", "200 OK", "application/json", {"content-encoding": "gzip"}),
        Answer("\n" * 5_000_000, "500 Oops", "application/json"),
    ],
)
async def test_a_listing_that_cannot_be_read_is_as_good_as_none(page: Answer) -> None:
    async with ScriptedServer(replied(10), pages={"/v1/models/claude-test": page, "/v1/models": page, "/props": page}) as server:
        model = model_at(server.url)
        card = await model.card()
        events = [event async for event in model.stream(request(), 1_000)]
        await model.aclose()
    assert card == model.expected()
    assert isinstance(events[-1], Reply)


@pytest.mark.parametrize(("output", "expected"), [(0, 8_192), (-5, 8_192), (1, 8_192), ("x", 8_192), (10**9, 100_000), (4_096, 4_096)])
async def test_the_longest_reply_fits_into_the_window(output: Any, expected: int) -> None:
    page = Answer(json.dumps({"max_input_tokens": 100_000, "max_tokens": output}), "200 OK", "application/json")
    async with ScriptedServer(replied(10), pages={"/v1/models/claude-test": page}) as server:
        model = model_at(server.url)
        card = await model.card()
        await model.aclose()
    assert (card.window, card.max_output) == (100_000, expected)

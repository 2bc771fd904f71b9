"""Token counts of the fake, and what requests cost by its tables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fake_api import MODELS
from tests.fake_api.counting import count_request, count_text
from tests.fake_api.usage import InputUsage, dollars
from tests.unit.fake_api.bodies import assistant, call, request, result, tool, user
from tests.unit.fake_api.test_message_rules import PNG, image

SMALL = MODELS["claude-test-small"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("hello world", 4),
        ("字" * 100, 100),
        ("1234567890", 6),
        ("a" * 3_000, 990),
    ],
)
def test_text(text: str, tokens: int) -> None:
    """By kind of character."""
    assert count_text(text) == tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The quick brown fox jumps over the lazy dog, and then it sleeps. " * 20, 2.8, 4.0),
        ('{"path": "src/app.py", "lines": [1, 250], "ok": true}\n' * 20, 1.8, 2.6),
        ("def read(path: str) -> str:\n    return open(path).read()\n" * 20, 2.2, 3.2),
    ],
)
def test_characters_a_token(text: str, least: float, most: float) -> None:
    """About what was measured for the newest tokenizer, so that windows of tests fill as real ones do."""
    assert least <= len(text) / count_text(text) <= most


def with_result(output: str) -> dict[str, Any]:
    """A body with one tool result."""
    return request(user("hi"), assistant(call("a")), user(result("a", output)))


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (request(user("hi")), request(user("hi"), system="You help.")),
        (request(user("hi")), request(user("hi"), tools=[tool()])),
        (request(user("hi")), request(user("hi", "there"))),
        (request(user("hi", "there")), request(user("hi"), user("there"))),
        (with_result("x"), with_result("x" * 50)),
        (request(user("hi")), request(user("hi", image()))),
    ],
)
def test_everything_counts(smaller: dict[str, Any], larger: dict[str, Any]) -> None:
    """More of anything is more tokens."""
    assert count_request(smaller, SMALL) < count_request(larger, SMALL)


def test_notation_does_not_count() -> None:
    """A string is a text block, and marks are free."""
    assert count_request(request({"role": "user", "content": "hi"}), SMALL) == count_request(request(user("hi")), SMALL)
    marked = request(user("hi"), tools=[tool(cache_control={"type": "ephemeral"})])
    assert count_request(marked, SMALL) == count_request(request(user("hi"), tools=[tool()]), SMALL)


def test_an_image_counts_by_its_size() -> None:
    """28 by 28 pixels a token."""
    one_pixel = count_request(request(user("hi", image(data=PNG))), SMALL)
    assert one_pixel == count_request(request(user("hi")), SMALL) + 3


@pytest.mark.parametrize(
    ("model", "usage", "output", "expected"),
    [
        ("claude-opus-5-5", InputUsage(1_000_000), 0, 4.0),
        ("claude-opus-5-5", InputUsage(0, read=1_000_000), 0, 0.20),
        ("claude-opus-5-5", InputUsage(0, written_5m=1_000_000), 0, 5.0),
        ("claude-opus-5-5", InputUsage(0, written_1h=1_000_000), 1_000_000, 28.0),
        ("claude-sonnet-5-5", InputUsage(0, read=1_000_000), 0, 0.10),
        ("claude-fable-5-2", InputUsage(0, read=1_000_000, written_1h=1_000_000), 0, 16.20),
        ("claude-sonnet-4-6", InputUsage(0, read=1_000_000), 100_000, 1.80),
        ("claude-haiku-4-5", InputUsage(100_000, read=100_000, written_5m=100_000), 0, 0.235),
        # Haiku 5.5 is five times dearer where the whole input is over 100,000 tokens, output included.
        ("claude-haiku-5-5", InputUsage(50_000, read=50_000), 1_000, 0.006),
        ("claude-haiku-5-5", InputUsage(50_000, read=50_001), 1_000, 0.03000005),
    ],
)
def test_prices(model: str, usage: InputUsage, output: int, expected: float) -> None:
    """Dollars by price class and model."""
    assert dollars(MODELS[model], usage, output) == pytest.approx(expected)

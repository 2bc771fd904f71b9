"""Prices and minimum sizes by a model's name, whatever it is called."""

from __future__ import annotations

import json
import re
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from ullage.models.known_models import card_from_table
from ullage.replay.pricing.recorded_models import as_of, minimum_cached, plain_name, prices_of, tokenizer_share, tokens_factor

DATA: dict[str, Any] = json.loads(files("ullage.models").joinpath("prices.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("claude-opus-5", "claude-opus-5"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic.claude-sonnet-4-6-v1", "claude-sonnet-4-6"),
        ("anthropic/claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("claude-opus-4-1-20250805[1m]", "claude-opus-4-1"),
        ("gpt-5.5", "gpt-5.5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("openai/gpt-5.5", "gpt-5.5"),
        ("<synthetic>", "<synthetic>"),
        ("", ""),
    ],
)
def test_the_plain_name(name: str, plain: str):
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    ("model", "input", "output", "read", "write_5m", "write_1h"),
    [
        ("claude-opus-4-5-20251101", 5.0, 25.0, 0.5, 6.25, 10.0),
        ("claude-opus-5-5", 4.0, 20.0, 0.2, 5.0, 8.0),
        ("claude-fable-5-1", 10.0, 50.0, 0.25, 12.5, 20.0),
        ("claude-opus-4-1-20250805", 15.0, 75.0, 1.5, 18.75, 30.0),
        ("gpt-5.5", 5.0, 30.0, 0.5, 5.0, 5.0),
    ],
)
def test_the_prices(model: str, input: float, output: float, read: float, write_5m: float, write_1h: float):
    prices = prices_of(model)
    assert prices is not None
    found = (prices.input, prices.output, prices.cache_read, prices.cache_write_5m, prices.cache_write_1h)
    assert found == pytest.approx((input, output, read, write_5m, write_1h))


def test_the_step_of_haiku():
    prices = prices_of("claude-haiku-5-5")
    assert prices is not None
    assert (prices.long_prompt, prices.long_prompt_factor) == (100_000, 5.0)


@pytest.mark.parametrize("model", ["<synthetic>", "llama", "claude-9", ""])
def test_what_is_not_known_has_no_prices(model: str):
    assert prices_of(model) is None


@pytest.mark.parametrize("model", [*DATA["prices"], *DATA["minimum_cached"]])
def test_the_data_file_speaks_of_plain_names(model: str):
    assert plain_name(model) == model


@pytest.mark.parametrize("model", DATA["minimum_cached"])
def test_the_agent_and_replay_have_the_same_prices(model: str):
    card = card_from_table(model)
    assert card is None or (card.prices is not None and card.prices == prices_of(model))


@pytest.mark.parametrize("model", DATA["prices"])
def test_every_price_names_its_source(model: str):
    assert DATA["prices"][model]["source"] in DATA["sources"]


def test_the_data_file_is_dated():
    assert date.fromisoformat(as_of()) >= date(2026, 11, 20)
    assert all(
        re.search(r"\d{4}-\d{2}-\d{2}", DATA["sources"][name]) for name in ("anthropic-caching", "anthropic-pricing", "openai-pricing")
    )


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("claude-opus-5-5", 512), ("claude-opus-4-6", 4_096), ("claude-opus-4-5-20251101", 4_096), ("gpt-5.5", 1_024), ("llama", 1_024)],
)
def test_the_minimum(model: str, tokens: int):
    assert minimum_cached(model) == tokens


@pytest.mark.parametrize(
    ("model", "share"),
    [
        ("claude-opus-5", 1.0),
        ("claude-opus-4-7", 1.0),
        ("claude-fable-5", 1.0),
        ("claude-mythos-5-2", 1.0),
        ("claude-opus-4-6", 0.78),
        ("claude-sonnet-4", 0.78),
        ("claude-opus-4-1", 0.78),
        ("claude-3-7-sonnet", 0.78),
        ("gpt-5.5", 0.7),
        ("llama", 0.7),
    ],
)
def test_the_tokenizer(model: str, share: float):
    assert tokenizer_share(model) == share


def test_the_same_text_has_more_tokens_for_a_newer_model():
    assert tokens_factor("claude-opus-4-6", "claude-opus-5") == pytest.approx(1 / 0.78)
    assert tokens_factor("claude-opus-5", "claude-opus-5") == 1.0

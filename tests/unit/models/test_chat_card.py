"""What is known of a model behind Chat Completions, and what the user says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ullage.context.blocks import Usage
from ullage.models.chat_card import ask_chat_server, chat_models, expected_chat_card, offered_by
from ullage.models.choose import choose_model
from ullage.models.facts import SOURCE, ModelFacts, offered_with, read_facts
from ullage.models.known_models import LOCAL_WINDOW, local_card
from ullage.models.model import ModelCard
from ullage.models.model_card import CardAnswer, OfferedModel

ADDRESS = "http://127.0.0.1:9/v1"

OPEN_ROUTER = {
    "id": "vendor/model-x",
    "name": "Vendor: Model X",
    "context_length": 262_144,
    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
    "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
    "top_provider": {"context_length": 262_144, "max_completion_tokens": 65_536},
    "supported_parameters": ["tools", "reasoning"],
}


async def asked(name: str, pages: Mapping[str, Any]) -> tuple[CardAnswer, list[str]]:
    """The card of a server with these pages (by path; None: not ready), and what was asked."""
    seen: list[str] = []

    async def get(address: str) -> Mapping[str, object] | None:
        path = address.removeprefix("http://127.0.0.1:9")
        seen.append(path)
        return pages.get(path, {})

    return await ask_chat_server(get, ADDRESS, name), seen


async def test_open_router_tells_window_prices_and_what_it_can_be_shown() -> None:
    (known, seen) = await asked("vendor/model-x", {"/v1/models": {"data": [OPEN_ROUTER]}})
    card = known.card
    assert (card.display_name, card.window, card.max_output, card.source) == ("Vendor: Model X", 262_144, 65_536, "server")
    assert (card.takes_images, card.takes_pdfs, card.efforts) == (True, False, ("low", "medium", "high"))
    assert card.prices is not None
    assert card.prices.cost(Usage(1_000_000, 1_000_000, 1_000_000)) == pytest.approx(3 + 15 + 0.3)
    assert seen == ["/v1/models"]
    assert known.settled


@pytest.mark.parametrize(
    ("pages", "window", "settled"),
    [
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 40_000}]}}, 40_000, True),  # vLLM
        ({"/v1/models": {"data": [{"id": "m", "context_window": 131_072}]}}, 131_072, True),  # Groq
        ({"/v1/models": {"data": [{"id": "m"}]}, "/props": {"default_generation_settings": {"n_ctx": 16_384}}}, 16_384, True),  # llama.cpp
        ({"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 8_192}]}}, 8_192, True),  # LM Studio
        ({"/api/ps": {"models": [{"name": "m:latest", "context_length": 65_536}]}}, 65_536, True),  # Ollama
        ({"/api/ps": {"models": []}}, LOCAL_WINDOW, False),  # Ollama, before it has loaded the model
        ({}, LOCAL_WINDOW, True),
        ({"/v1/models": None}, LOCAL_WINDOW, False),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 7}]}}, LOCAL_WINDOW, True),
        ({"/v1/models": {"data": "none"}}, LOCAL_WINDOW, True),
    ],
)
async def test_who_tells_the_window(pages: Mapping[str, Any], window: int, settled: bool) -> None:
    known, _ = await asked("m", pages)
    assert (known.card.window, known.settled) == (window, settled)
    assert known.card.max_output <= window


async def test_a_vendors_model_is_known_from_the_table_and_nobody_else_is_asked() -> None:
    known, seen = await asked("gpt-5.5-2026-04-23", {"/v1/models": {"data": [{"id": "gpt-5.5-2026-04-23"}]}})
    assert (known.card.source, known.card.window) == ("table", 1_050_000)
    assert known.card.prices is not None
    assert seen == ["/v1/models"]


@pytest.mark.parametrize("price", ["-1", "many", "nan", "inf", None, True, [], "1e999"])
def test_a_price_that_can_be_none_is_none(price: object) -> None:
    [offered] = offered_by({"data": [{**OPEN_ROUTER, "pricing": {"prompt": price, "completion": "1"}}]}, {})
    assert offered.prices is None


def test_the_table_is_one_of_models_that_can_work() -> None:
    for name in chat_models():
        card = expected_chat_card(name)
        assert card.window >= 100_000, name
        assert card.max_output <= card.window, name
        assert card.prices is not None, name
        assert card.prices.cache_read <= card.prices.input < card.prices.output, name
        assert not card.caches


def test_only_models_for_conversations_are_offered() -> None:
    names = ["gpt-5.5", "text-embedding-3-large", "whisper-1", "gpt-4o-realtime", "qwen"]
    picture = {"id": "painter", "architecture": {"output_modalities": ["image"]}}
    offered = offered_by({"data": [*({"id": name} for name in names), picture, {"name": "no id"}]}, {})
    assert [(model.name, model.window) for model in offered] == [("gpt-5.5", 1_050_000), ("qwen", None)]


CARD = local_card("m", 40_000)


@pytest.mark.parametrize(
    ("facts", "card", "expected"),
    [
        (ModelFacts(), CARD, CARD),
        (ModelFacts(window=100_000), CARD, replace(CARD, window=100_000, source=SOURCE)),
        (ModelFacts(window=4_000), CARD, replace(CARD, window=4_000, max_output=4_000, source=SOURCE)),
        (ModelFacts(max_output=900, images=False), CARD, replace(CARD, max_output=900, takes_images=False)),
        # a refusal named less than the user says: it counts, and the user's is what holds calls
        (
            ModelFacts(window=100_000),
            replace(CARD, window=30_000, stated_window=40_000),
            replace(CARD, window=30_000, stated_window=100_000),
        ),
    ],
)
def test_what_the_user_says_goes_first(facts: ModelFacts, card: ModelCard, expected: ModelCard) -> None:
    assert facts.applied(card) == expected


async def test_the_user_says_it_of_any_provider() -> None:
    facts = ModelFacts(window=50_000, input_price=1.0, output_price=2.0, cached_price=0.5)
    for provider in ("anthropic", "openai"):
        model = choose_model(provider=provider, name="claude-opus-5-5", base_url="", api_key="k", facts=facts, environment={})
        card = model.expected()
        assert (card.window, card.source) == (50_000, SOURCE)
        assert card.prices is not None
        assert (card.prices.input, card.prices.output, card.prices.cache_read) == (1.0, 2.0, 0.5)
        await model.aclose()
    offered = offered_with(OfferedModel("m", "M", None, None), facts)
    assert (offered.window, offered.prices) == (50_000, facts.prices)


def test_a_price_of_input_alone_is_none() -> None:
    assert ModelFacts(input_price=1.0).prices is None
    assert read_facts({"m": {"inputPrice": 1}}) == {"m": ModelFacts(input_price=1.0)}

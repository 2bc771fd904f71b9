"""What is known of a model: by the endpoint, by the table, by assumption, and by what a refusal said."""

from __future__ import annotations

import json

import pytest

from tests.fake_api import MODELS
from tests.unit.models.scripted_server import Answer, ScriptedServer, error
from ullage.context.blocks import Message, Text, Usage
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import PromptTooLong
from ullage.models.known_models import card_from_table
from ullage.models.model import EFFORTS, ModelCard

INFO = {
    "id": "claude-opus-5-5",
    "type": "model",
    "display_name": "Claude Opus 5.5",
    "max_input_tokens": 500_000,
    "max_tokens": 64_000,
    "capabilities": {"thinking": {"supported": True, "types": {"adaptive": {"supported": False}}}},
}


async def card_of(name: str, pages: dict[str, object]) -> ModelCard:
    answers = {path: Answer(json.dumps(page), content_type="application/json") for path, page in pages.items()}
    async with ScriptedServer(pages=answers) as server:
        model = AnthropicModel(name, api_key="key", base_url=server.url)
        card = await model.card()
        await model.aclose()
        return card


async def test_the_models_api_counts_more_than_the_table() -> None:
    card = await card_of("claude-opus-5-5", {"/v1/models/claude-opus-5-5": INFO})
    assert (card.window, card.max_output, card.source, card.adaptive_thinking) == (500_000, 64_000, "Models API", False)
    assert card.prices is not None


@pytest.mark.parametrize(
    ("told", "efforts"),
    [
        ({"supported": True, "low": {"supported": True}, "max": {"supported": True}, "xhigh": None}, ("low", "max")),
        ({"supported": False, "low": {"supported": True}}, ()),
        ({"low": "yes"}, EFFORTS),
        ("high", EFFORTS),
    ],
)
async def test_the_models_api_says_which_efforts_a_model_takes(told: object, efforts: tuple[str, ...]) -> None:
    card = await card_of("claude-opus-5-5", {"/v1/models/claude-opus-5-5": {**INFO, "capabilities": {"effort": told}}})
    assert card.efforts == efforts


@pytest.mark.parametrize(
    ("pages", "window", "source"),
    [
        ({}, 32_768, "assumed"),
        ({"/props": {"default_generation_settings": {"n_ctx": 16_384}}}, 16_384, "server"),
        ({"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, {"id": "qwen/3", "max_model_len": 40_960}]}}, 40_960, "server"),
        ({"/v1/models": {"data": [{"id": "qwen.gguf", "meta": {"n_ctx": 24_576, "n_ctx_train": 262_144}}]}}, 24_576, "server"),
        ({"/v1/models": {"data": [{"id": "qwen.gguf", "meta": {"n_ctx_train": 65_536}}]}}, 65_536, "server"),
        ({"/v1/models": {"data": [{"id": "a", "meta": {"n_ctx": 9_000}}, {"id": "b", "meta": {"n_ctx": 8_000}}]}}, 32_768, "assumed"),
        (
            {"/api/v0/models": {"data": [{"id": "qwen/3", "max_context_length": 131_072, "loaded_context_length": 4_096}]}},
            4_096,
            "server",
        ),
        ({"/api/v0/models": {"data": [{"id": "qwen/3", "max_context_length": 131_072}, {"id": "other"}]}}, 131_072, "server"),
        ({"/api/ps": {"models": [{"name": "qwen/3:latest", "context_length": 8_192}]}}, 8_192, "server"),
        ({"/api/ps": {"models": [{"name": "other", "context_length": 8_192}]}}, 32_768, "assumed"),
        ({"/v1/models/qwen%2F3": {"id": "qwen/3", "max_model_len": 40_960}}, 40_960, "server"),
        ({"/v1/models/qwen%2F3": {"id": "qwen/3"}, "/v1/models": [], "/props": "yes", "/api/ps": 3}, 32_768, "assumed"),
    ],
)
async def test_other_servers_are_asked_in_their_own_ways(pages: dict[str, object], window: int, source: str) -> None:
    card = await card_of("qwen/3", pages)
    assert (card.window, card.source, card.prices) == (window, source, None)
    assert 0 < card.max_output < card.window
    assert not card.adaptive_thinking


@pytest.mark.parametrize(
    ("props", "title"),
    [
        ({"model_alias": "/models/qwen3-coder.gguf", "model_path": "/models/qwen3-coder.gguf"}, "qwen3-coder.gguf"),
        ({"model_alias": "", "model_path": "C:\\models\\qwen3.gguf"}, "qwen3.gguf"),
        ({}, "claude-opus-5-5"),
    ],
)
async def test_llama_cpp_is_not_taken_for_the_model_it_is_asked_for(props: dict[str, object], title: str) -> None:
    """It answers with the model it has loaded, also where the setting still names Anthropic's."""
    card = await card_of("claude-opus-5-5", {"/props": {"default_generation_settings": {"n_ctx": 16_384}, **props}})
    assert (card.window, card.display_name, card.prices, card.adaptive_thinking) == (16_384, title, None, False)
    assert card.max_output < card.window


async def test_the_limits_that_litellm_tells() -> None:
    """It names the output limit in its own way."""
    card = await card_of("small", {"/v1/models/small": {"id": "small", "max_input_tokens": 12_288, "max_output_tokens": 2_048}})
    assert (card.window, card.max_output) == (12_288, 2_048)


async def test_a_server_that_is_not_ready_is_asked_again() -> None:
    pages = {"/props": Answer(json.dumps(error("unavailable_error", "Loading model")), "503 Service Unavailable", "application/json")}
    async with ScriptedServer(pages=pages) as server:
        model = AnthropicModel("qwen", api_key=None, base_url=server.url)
        assert (await model.card()).source == "assumed"
        pages["/props"] = Answer(json.dumps({"default_generation_settings": {"n_ctx": 16_384}}), content_type="application/json")
        card = await model.card()
        del pages["/props"]
        assert await model.card() == card, "what it has said once is not asked again"
        await model.aclose()
    assert (card.window, card.source) == (16_384, "server")


async def test_a_server_that_is_started_later_is_asked_again() -> None:
    props = Answer(json.dumps({"default_generation_settings": {"n_ctx": 16_384}}), content_type="application/json")
    async with ScriptedServer(pages={"/props": props}) as server:
        await server.stop()
        model = AnthropicModel("qwen", api_key=None, base_url=server.url)
        assert (await model.card()).source == "assumed"
        await server.start()
        assert (await model.card()).window == 16_384
        await model.aclose()


async def test_the_table_stands_in_for_a_proxy_that_does_not_tell() -> None:
    card = await card_of("claude-sonnet-5-5", {})
    assert (card.window, card.source, card.adaptive_thinking) == (1_000_000, "table", True)


async def test_a_refusal_teaches_the_window() -> None:
    words = "request (200030 tokens) exceeds the available context size (16384 tokens), try increasing it"
    refused = Answer(json.dumps(error("exceed_context_size_error", words)), "400 Bad Request", "application/json")
    async with ScriptedServer(refused) as server:
        model = AnthropicModel("qwen", api_key=None, base_url=server.url)
        assert (await model.card()).window == 32_768
        with pytest.raises(PromptTooLong) as caught:
            async for _ in model.stream(Request((), (), [Message("user", (Text("hi " * 100_000),), (1,))], ()), 100):
                pass
        assert caught.value.window == 16_384
        card = await model.card()
        await model.aclose()
    assert (card.window, card.source) == (16_384, "server")


@pytest.mark.parametrize("name", [name for name, facts in MODELS.items() if card_from_table(name) and facts.line != "mythos"])
def test_the_table_agrees_with_what_the_fake_api_knows(name: str) -> None:
    """Two tables, written apart from the same source."""
    card, facts = card_from_table(name), MODELS[name]
    assert card is not None
    assert card.prices is not None
    assert (card.window, card.max_output) == (facts.window, facts.max_output)
    assert card.adaptive_thinking == ("adaptive" in facts.thinking_types)
    ours = (card.prices.input, card.prices.output, card.prices.cache_read, card.prices.cache_write_5m, card.prices.cache_write_1h)
    theirs = facts.prices
    assert ours == pytest.approx((theirs.input, theirs.output, theirs.read, theirs.write_5m, theirs.write_1h))


def test_a_dated_name_is_known() -> None:
    card = card_from_table("claude-haiku-4-5-20251001")
    assert card is not None
    assert card.name == "claude-haiku-4-5-20251001"


@pytest.mark.parametrize(
    ("name", "usage", "dollars"),
    [
        ("claude-opus-5-5", Usage(1_000_000, 100_000, 1_000_000, 1_000_000, 1_000_000), 4 + 2 + 0.2 + 5 + 8),
        ("claude-haiku-5-5", Usage(100_000, 10_000), 0.01 + 0.005),
        ("claude-haiku-5-5", Usage(100_000, 10_000, cache_read_tokens=1_000_000), 5 * (0.01 + 0.005 + 0.01)),
    ],
)
def test_what_a_call_costs(name: str, usage: Usage, dollars: float) -> None:
    card = card_from_table(name)
    assert card is not None
    assert card.prices is not None
    assert card.prices.cost(usage) == pytest.approx(dollars)


@pytest.mark.parametrize("refused", ["", "anthropic-beta"])
async def test_who_refuses_the_beta_header_is_asked_without_it(refused: str) -> None:
    pages = {"/v1/models/claude-opus-5-5": Answer(json.dumps(INFO), content_type="application/json")}
    async with ScriptedServer(pages=pages, refused_header=refused) as server:
        model = AnthropicModel("claude-opus-5-5", api_key="key", base_url=server.url)
        card = await model.card()
        await model.aclose()
    assert (card.window, card.source, card.compacts) == (500_000, "Models API", False)

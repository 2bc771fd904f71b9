"""Which models an endpoint offers, and what is said where it does not tell."""

from __future__ import annotations

import json

import pytest

from tests.fake_api import FakeApi, Say
from tests.unit.models.scripted_server import Answer, ScriptedServer, error
from ullage.models.choose import offered_models, try_model
from ullage.models.errors import AuthenticationFailed, EndpointUnreachable, ListRefused, ModelError, UnknownModel
from ullage.models.model_card import OfferedModel

LIST = "/v1/models?limit=1000"


async def offered(pages: dict[str, object]) -> tuple[OfferedModel, ...]:
    answers = {path: Answer(json.dumps(page), content_type="application/json") for path, page in pages.items()}
    async with ScriptedServer(pages=answers) as server:
        return await offered_models(provider="auto", base_url="", api_key="key", address=server.url, environment={})


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ({LIST: {"data": [{"id": "qwen3"}]}}, ("qwen3", "qwen3", None, None)),
        ({LIST: {"data": [{"id": "qwen3", "max_model_len": 40_960}]}}, ("qwen3", "qwen3", 40_960, None)),
        ({LIST: {"data": [{"id": "m", "display_name": "M", "max_input_tokens": 500_000}]}}, ("m", "M", 500_000, None)),
        ({LIST: {"data": [{"id": "claude-opus-5-5"}]}}, ("claude-opus-5-5", "Claude Opus 5.5", 1_000_000, 4.0)),
        (
            {LIST: {"data": [{"id": "qwen3.gguf"}]}, "/props": {"default_generation_settings": {"n_ctx": 16_384}}},
            ("qwen3.gguf", "qwen3.gguf", 16_384, None),
        ),
        ({LIST: {"data": [{"id": "g.gguf", "meta": {"n_ctx": 16_384}}]}}, ("g.gguf", "g.gguf", 16_384, None)),
        ({LIST: {"data": [{"id": ""}, "x", {"id": "y", "max_model_len": -3}]}}, ("y", "y", None, None)),
    ],
    ids=["ollama", "vllm", "litellm", "known", "llama.cpp", "llama.cpp without /props", "nonsense"],
)
async def test_each_server_tells_in_its_own_way(pages: dict[str, object], expected: tuple[object, ...]) -> None:
    (model,) = await offered(pages)
    assert (model.name, model.display_name, model.window, model.prices and model.prices.input) == expected


async def test_a_list_without_models_is_empty() -> None:
    assert await offered({LIST: {"data": "none"}}) == ()


async def test_a_server_that_only_the_client_named_does_not_get_the_key() -> None:
    refusal = Answer(json.dumps(error("authentication_error", "who are you?")), "401 Unauthorized", "application/json")
    async with ScriptedServer(pages={LIST: refusal}) as server:
        with pytest.raises(AuthenticationFailed, match="asks for a key"):
            await offered_models(provider="auto", base_url="", api_key="secret", address=server.url, environment={})
        assert "secret" not in "".join(value for request in server.gets for value in request.headers.values())


@pytest.mark.parametrize(
    ("address", "words"),
    [("http://127.0.0.1:9", "cannot be reached"), ("no address", "no web address")],
)
async def test_what_cannot_be_asked_is_said_in_words(address: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        await offered_models(provider="auto", base_url="", api_key=None, address=address, environment={})


async def test_an_address_that_is_not_confirmed_is_not_asked() -> None:
    with pytest.raises(EndpointUnreachable, match="not confirmed"):
        await offered_models(provider="auto", base_url="", api_key="key", environment={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})


async def test_the_practice_model_offers_itself() -> None:
    (model,) = await offered_models(provider="practice", base_url="", api_key=None, environment={})
    assert model.name == "practice"


async def test_a_server_that_lists_nothing_says_so_and_is_tried_by_a_name() -> None:
    async with FakeApi(lists_models=False) as fake:
        with pytest.raises(ListRefused, match=r"does not list its models \(HTTP 404\)"):
            await offered_models(provider="auto", base_url="", api_key=None, address=fake.base_url, environment={})
        fake.enqueue(Say("Hello."))
        await try_model("claude-opus-5-5", provider="auto", base_url="", api_key=None, address=fake.base_url, environment={})
        (request,) = fake.requests
    assert [message["role"] for message in request.body["messages"]] == ["user"]
    assert request.body["max_tokens"] <= 64


async def test_a_name_that_the_server_does_not_know_is_refused_in_words() -> None:
    async with FakeApi(lists_models=False) as fake:
        with pytest.raises(UnknownModel, match=r"does not know the model `no-such-model`\. Choose"):
            await try_model("no-such-model", provider="auto", base_url="", api_key=None, address=fake.base_url, environment={})


async def test_a_trial_goes_to_the_address_in_force_with_its_key() -> None:
    async with FakeApi(lists_models=False, keys=["secret"]) as fake:
        fake.enqueue(Say("Hello."))
        await try_model("claude-opus-5-5", provider="auto", base_url=fake.base_url, api_key="secret", environment={})
        with pytest.raises(AuthenticationFailed):
            await try_model("claude-opus-5-5", provider="auto", base_url="", api_key="secret", address=fake.base_url, environment={})


async def test_what_is_no_messages_api_is_told_from_a_server_without_a_list() -> None:
    async with ScriptedServer(Answer("<html>", "404 Not Found", "text/html")) as server:
        with pytest.raises(EndpointUnreachable, match="not as the Messages API does"):
            await try_model("m", provider="auto", base_url="", api_key=None, address=server.url, environment={})

"""Which model answers under which settings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.fake_api import FakeApi
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.choose import Provider, RefusingModel, choose_model, offered_models, shown_address, try_model
from ullage.models.errors import EndpointUnreachable
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import BadScenario


@pytest.mark.parametrize(
    ("provider", "base_url", "api_key", "environment", "expected"),
    [
        ("auto", "", None, {}, PracticeModel),
        ("auto", "", "", {}, PracticeModel),
        ("auto", "", "sk-ant-1", {}, AnthropicModel),
        ("auto", "http://127.0.0.1:8080", None, {}, AnthropicModel),
        ("auto", "  ", None, {}, PracticeModel),
        ("auto", "", None, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}, RefusingModel),
        ("practice", "http://127.0.0.1:8080", "sk-ant-1", {}, PracticeModel),
        ("anthropic", "", None, {}, AnthropicModel),
    ],
)
async def test_choice(provider: Provider, base_url: str, api_key: str | None, environment: dict[str, str], expected: type) -> None:
    model = choose_model(provider=provider, name="claude-opus-5-5", base_url=base_url, api_key=api_key, environment=environment)
    assert type(model) is expected
    await model.aclose()


async def test_a_key_of_blanks_is_none() -> None:
    model = choose_model(provider="auto", name="claude-opus-5-5", base_url="", api_key=" \n", environment={})
    assert isinstance(model, PracticeModel)
    await model.aclose()


def test_a_broken_folder_of_scenarios_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(BadScenario, match=r"a\.json"):
        choose_model(provider="practice", name="", base_url="", api_key=None, environment={"ULLAGE_PRACTICE_SCENARIOS": str(tmp_path)})


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8080",
        "https://evil.example",
        "http://api.anthropic.com",
        "https://api.anthropic.com.evil.example",
        "https://api.anthropic.com@evil.example",
        "https://api.anthropic.com:8443",
        "https://evil.example/https://api.anthropic.com",
        "//evil.example",
        "http://[",
    ],
)
async def test_an_address_of_the_environment_is_asked_nothing_before_it_is_confirmed(address: str) -> None:
    environment = {"ANTHROPIC_BASE_URL": address}
    model = choose_model(provider="auto", name="claude-opus-5-5", base_url="", api_key="sk-ant-1", environment=environment)
    assert isinstance(model, RefusingModel)
    assert await model.card() == model.expected()
    with pytest.raises(EndpointUnreachable, match=r"ANTHROPIC_BASE_URL.*not confirmed.*Ullage › Model: Base Url"):
        async for _ in model.stream(Request((), (), (), ()), 100):
            raise AssertionError("it answered")
    confirmed = choose_model(
        provider="auto", name="a", base_url="", api_key="sk-ant-1", environment=environment, is_confirmed=lambda asked: asked == address
    )
    assert isinstance(confirmed, AnthropicModel)


@pytest.mark.parametrize(
    ("provider", "base_url", "address"),
    [
        ("auto", "", "https://api.anthropic.com"),
        ("auto", "", "https://api.anthropic.com/v1/"),
        ("auto", "http://127.0.0.1:8080", "https://evil.example"),
        ("anthropic", "", ""),
    ],
)
async def test_the_users_own_setting_and_anthropics_own_address_need_no_confirming(provider: Provider, base_url: str, address: str) -> None:
    model = choose_model(provider=provider, name="a", base_url=base_url, api_key="sk-ant-1", environment={"ANTHROPIC_BASE_URL": address})
    assert isinstance(model, AnthropicModel)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://a.example/v1?x=1", "https://a.example/v1?x=1"),
        ("https://a.example/[Fix](command:quit)", "https://a.example/%5BFix%5D%28command:quit%29"),
        ("https://a.example/\u202e\n\x1b", "https://a.example/%202E%0A%1B"),
        ("https://аpple.example", "https://%430pple.example"),
    ],
)
def test_an_address_is_shown_as_what_it_is(address: str, shown: str) -> None:
    assert shown_address(address) == shown


async def test_where_a_setting_is_at_fault_nothing_is_sent_with_any_key() -> None:
    async with FakeApi() as fake:
        environment = {"ANTHROPIC_BASE_URL": fake.base_url}
        model = choose_model(
            provider="auto",
            name="claude-opus-5-5",
            base_url="",
            api_key="sk-ant-1",
            environment=environment,
            is_confirmed=lambda _: True,
            fault="Nothing was sent: mend it.",
        )
        with pytest.raises(EndpointUnreachable, match="mend it"):
            async for _ in model.stream(Request((), (), (), ()), 100):
                raise AssertionError("it answered")
        for asking in (offered_models, partial(try_model, "claude-opus-5-5")):
            with pytest.raises(EndpointUnreachable, match="mend it"):
                await asking(provider="auto", base_url="", api_key="sk-ant-1", environment=environment, fault="Mend it: mend it.")
        assert fake.requests == []

"""Which model answers under which settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.models.anthropic_model import AnthropicModel
from ullage.models.choose import Provider, choose_model
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
        ("auto", "", None, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}, AnthropicModel),
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

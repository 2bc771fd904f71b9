"""Which model answers, by the user's settings and whether there is a key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.models.anthropic_model import AnthropicModel
from ullage.models.model import Model
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import load_scenarios
from ullage.models.shown_media import MediaBytes, none_kept

Provider: TypeAlias = Literal["auto", "anthropic", "practice"]

BASE_URL = "ANTHROPIC_BASE_URL"
"""The SDK's own variable for a base URL; the setting goes before it."""
SCENARIOS = "ULLAGE_PRACTICE_SCENARIOS"
"""A folder with more scenario files for the practice model; they go before those that come with Ullage."""
PACE = "ULLAGE_PRACTICE_PACE"
"""How much the practice model waits: 1 is the usual, 0 not at all."""


def choose_model(
    *,
    provider: Provider,
    name: str,
    base_url: str,
    api_key: str | None,
    media: MediaBytes = none_kept,
    environment: Mapping[str, str] = os.environ,
) -> Model:
    """The model for these settings. `auto` takes Anthropic where a key or a base URL is there, else the practice model.

    Raises `BadScenario` or `OSError` where the folder of scenarios that the environment names cannot be used, and
    `ValueError` where its pace is no number.
    """
    api_key = (api_key or "").strip() or None  # copied or read from a file, it may end with a line end
    base_url = base_url.strip() or environment.get(BASE_URL, "").strip()
    if provider == "anthropic" or (provider == "auto" and (api_key or base_url)):
        return AnthropicModel(name, api_key=api_key, base_url=base_url, media=media)
    folder = environment.get(SCENARIOS)
    scenarios = load_scenarios(Path(folder) if folder else None)
    return PracticeModel(scenarios, pace=float(environment.get(PACE, "1")))

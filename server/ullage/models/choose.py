"""Which model answers, by the user's settings and whether there is a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.models.anthropic_model import AnthropicModel
from ullage.models.model import Effort, Model
from ullage.models.offered import OfferedModel
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import load_scenarios
from ullage.models.shown_media import MediaBytes, none_kept
from ullage.models.unconfirmed import UnconfirmedModel, needs_confirming

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
    effort: Effort | None = None,
    media: MediaBytes = none_kept,
    environment: Mapping[str, str] = os.environ,
    is_confirmed: Callable[[str], bool] = lambda _: False,
) -> Model:
    """The model for these settings. `auto` takes Anthropic where a key or a base URL is there, else the practice model.

    A base URL of the environment is used where the user has confirmed it; else the model that is given sends nothing.

    Raises `BadScenario` or `OSError` where the folder of scenarios that the environment names cannot be used, and
    `ValueError` where its pace is no number.
    """
    api_key = (api_key or "").strip() or None  # copied or read from a file, it may end with a line end
    unconfirmed = unconfirmed_address(provider, base_url, environment, is_confirmed)
    if unconfirmed:
        return UnconfirmedModel(name, unconfirmed)
    base_url = base_url.strip() or environment.get(BASE_URL, "").strip()
    if provider == "anthropic" or (provider == "auto" and (api_key or base_url)):
        return AnthropicModel(name, api_key=api_key, effort=effort, base_url=base_url, media=media)
    folder = environment.get(SCENARIOS)
    scenarios = load_scenarios(Path(folder) if folder else None)
    return PracticeModel(scenarios, pace=float(environment.get(PACE, "1")))


def unconfirmed_address(provider: Provider, base_url: str, environment: Mapping[str, str], is_confirmed: Callable[[str], bool]) -> str:
    """The address of the environment that would be asked, but that the user has not confirmed; empty where there is none."""
    address = environment.get(BASE_URL, "").strip()
    if provider == "practice" or base_url.strip() or not address or not needs_confirming(address) or is_confirmed(address):
        return ""
    return address


async def offered_models(
    *,
    provider: Provider,
    base_url: str,
    api_key: str | None,
    address: str | None = None,
    environment: Mapping[str, str] = os.environ,
    is_confirmed: Callable[[str], bool] = lambda _: False,
) -> tuple[OfferedModel, ...]:
    """The models that can be chosen with these settings, or at `address`, which is asked without the key.

    Raises `ModelError`, in words for the user.
    """
    if address is not None:
        model: Model = AnthropicModel("", api_key=None, base_url=address)
    else:
        model = choose_model(
            provider=provider, name="", base_url=base_url, api_key=api_key, environment=environment, is_confirmed=is_confirmed
        )
    try:
        if isinstance(model, AnthropicModel):
            return await model.offered()
        if isinstance(model, UnconfirmedModel):
            raise model.refusal
        card = model.expected()
        return (OfferedModel(card.name, card.display_name, card.window, card.prices),)
    finally:
        await model.aclose()

"""Which models an endpoint offers: its own list, with windows where it tells them and prices from the table.

Anthropic's list and those of OpenAI-compatible servers (Ollama, LM Studio, llama.cpp, vLLM, LiteLLM) have the same address and outer shape.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.models.failures import Endpoint, understand
from ullage.models.foreign_json import mapping, mappings, word
from ullage.models.limits import card_from_table
from ullage.models.model import Prices
from ullage.models.model_card import loaded_window, window_told

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from ullage.models.model_card import Connect

TIMEOUT = 10.0
"""Seconds for the list: the user waits for it."""

MOST_MODELS = 500
"""Of a list; a gateway may offer thousands, and nobody picks from so many."""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model that an endpoint offers. `window` is in tokens; None where nobody tells. `prices` is None where they are not known."""

    name: str
    display_name: str
    window: int | None
    prices: Prices | None


async def ask_offered(connect: Connect, endpoint: Endpoint) -> tuple[OfferedModel, ...]:
    """What the endpoint lists, in its own order. Raises `ModelError`, in words for the user."""
    try:
        async with asyncio.timeout(TIMEOUT):
            client = await connect()
            listed = await client.get("/v1/models?limit=1000", cast_to=object)
            props = await _props(client, endpoint)
    except Exception as problem:
        raise understand(problem, endpoint).error from problem
    loaded = loaded_window(props)
    models = [_offered(described, loaded) for described in mappings(mapping(listed).get("data")) if word(described, "id")]
    return tuple(models[:MOST_MODELS])


def _offered(described: Mapping[str, object], loaded: int | None) -> OfferedModel:
    """`loaded` is the window that llama.cpp was started with."""
    name = word(described, "id")
    known = card_from_table(name)
    window = loaded or window_told(described)
    return OfferedModel(
        name=name,
        display_name=word(described, "display_name") or (known.display_name if known else name),
        window=window or (known.window if known else None),
        prices=known.prices if known and not loaded else None,
    )


async def _props(client: AsyncAnthropic, endpoint: Endpoint) -> Mapping[str, object]:
    """What llama.cpp tells of itself; empty at any other server."""
    if not endpoint.base_url:
        return {}
    try:
        return mapping(await client.get("/props", cast_to=object))
    except Exception:  # noqa: BLE001 - the list is what was asked for
        return {}

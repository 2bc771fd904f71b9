"""What is known of a model behind Chat Completions: what its server lists, else `chat_models.json`, else an assumption.

The list of models is the same page everywhere, but of each only the id is. OpenRouter, vLLM, Groq, Mistral and others add the window,
OpenRouter the prices. Servers of one's own have further pages for it, the same as beside the Messages API (`model_card.py`).
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TypeAlias, cast

from ullage.models.endpoint_checks import LEAST_OUTPUT, integer, mapping, mappings, plausible_window, word
from ullage.models.known_models import card_from_table, local_card
from ullage.models.model import PRICED_TOKENS, Effort, ModelCard, Prices
from ullage.models.model_card import (
    MOST_MODELS,
    CardAnswer,
    OfferedModel,
    listed_window,
    loaded_by_ollama,
    loaded_model,
    loaded_window,
    window_told,
)

Get: TypeAlias = Callable[[str], Awaitable[Mapping[str, object] | None]]
"""A function that gives the JSON object at a whole address; empty if there is none, None if the server cannot be asked yet."""

EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")
"""The efforts that `reasoning_effort` has had from the beginning; what else a model takes differs."""

_NO_CHAT = re.compile(r"embed|whisper|tts|dall-e|moderation|transcribe|realtime|rerank|sora-|-image|speech", re.IGNORECASE)
"""What stands in the names of models that a vendor lists and that hold no conversation."""

_VENDOR = re.compile(r"^.*/")
_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")


@cache
def chat_models() -> Mapping[str, Mapping[str, object]]:
    """The table of models that comes with Ullage, by name; its date and source stand in the file."""
    raw = json.loads(files("ullage.models").joinpath("chat_models.json").read_text(encoding="utf-8"))
    return cast("Mapping[str, Mapping[str, object]]", raw["models"])


def expected_chat_card(name: str) -> ModelCard:
    """The card of a model without asking anybody: by the table, also under a vendor's prefix or a date, else what is assumed of any
    model."""
    plain = _VENDOR.sub("", name)
    row = chat_models().get(plain) or chat_models().get(_DATE.sub("", plain))
    if row is None:
        claude = card_from_table(plain)  # a gateway may have it, which writes no cache marks
        card = local_card(name, None) if claude is None else replace(claude, name=name, adaptive_thinking=False, efforts=(), compacts=False)
        return _of_this_wire(card)
    window, most = integer(row["window"]) or 0, integer(row["max_output"]) or 0
    return _of_this_wire(
        replace(
            local_card(name, window),
            max_output=min(most, window),
            prices=_prices(row, "input", "output", "cache_read", "cache_write", 1.0),
            source="table",
            efforts=EFFORTS if row.get("effort") is True else (),
            takes_images=row["images"] if isinstance(row.get("images"), bool) else None,  # pyright: ignore[reportArgumentType]
        )
    )


def _of_this_wire(card: ModelCard) -> ModelCard:
    return replace(card, takes_pdfs=False, caches=False)


async def ask_chat_server(get: Get, address: str, name: str) -> CardAnswer:
    """The card of a model at an address, which ends in `/v1` with most servers: by the list of models, else the table, else by what servers
    of one's own tell beside the list, else assumed."""
    listed = await get(f"{address}/models")
    expected = expected_chat_card(name)
    described = next((each for each in mappings(mapping(listed).get("data")) if each.get("id") == name), mapping(None))
    card = _described(expected, described)
    window = listed_window(mapping(listed), name)
    if window is not None:
        return CardAnswer(_with_window(card, window), settled=True)
    if expected.source == "table":
        return CardAnswer(card, settled=listed is not None)
    root = address.removesuffix("/v1")
    props, studio, running = await asyncio.gather(get(f"{root}/props"), get(f"{root}/api/v0/models"), get(f"{root}/api/ps"))
    window = loaded_window(mapping(props))
    if window is not None:
        return CardAnswer(replace(_with_window(card, window), display_name=loaded_model(mapping(props)) or name), settled=True)
    window = listed_window(mapping(studio), name) or loaded_by_ollama(mapping(running), name)
    if window is not None:
        return CardAnswer(_with_window(card, window), settled=True)
    # Ollama tells the window of a model that it has loaded, which it does with the first call.
    is_known = None not in (listed, props, studio, running) and "models" not in mapping(running)
    return CardAnswer(card, settled=is_known)


def _with_window(card: ModelCard, window: int) -> ModelCard:
    most = card.max_output if card.source == "table" else max(card.max_output, min(local_card(card.name, window).max_output, window))
    return replace(card, window=window, max_output=min(most, window), source="server")


def _described(card: ModelCard, described: Mapping[str, object]) -> ModelCard:
    """The card with what OpenRouter and others say in their list beside the window."""
    best = mapping(described.get("top_provider"))
    most = integer(best.get("max_completion_tokens")) or integer(described.get("max_completion_tokens"))
    parameters, architecture = described.get("supported_parameters"), mapping(described.get("architecture"))
    shown = architecture.get("input_modalities")
    if isinstance(parameters, list) and ("reasoning" in parameters or "reasoning_effort" in parameters):
        card = replace(card, efforts=EFFORTS)
    return replace(
        card,
        display_name=word(described, "name") or card.display_name,
        max_output=most if most is not None and most >= LEAST_OUTPUT else card.max_output,
        prices=_prices(mapping(described.get("pricing")), "prompt", "completion", "input_cache_read", "input_cache_write", PRICED_TOKENS)
        or card.prices,
        takes_images="image" in cast("list[object]", shown) if isinstance(shown, list) else card.takes_images,
    )


def _prices(said: Mapping[str, object], input: str, output: str, read: str, write: str, times: float) -> Prices | None:
    """The prices in dollars per million tokens, from a description that has them by these names; None if it has none, or none that can
    be."""
    paid, made = _dollars(said.get(input)), _dollars(said.get(output))
    if paid is None or made is None:
        return None
    cached, written = _dollars(said.get(read)), _dollars(said.get(write))
    write_price = paid if written is None else written
    return Prices(paid * times, made * times, (paid if cached is None else cached) * times, write_price * times, write_price * times)


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        price = float(value)
    except ValueError:
        return None
    return price if math.isfinite(price) and price >= 0 else None


def offered_by(listed: Mapping[str, object], props: Mapping[str, object]) -> list[OfferedModel]:
    """The models of a server's list that hold conversations. `props` is what llama.cpp tells of itself."""
    loaded = loaded_window(props)
    found: list[OfferedModel] = []
    for described in mappings(listed.get("data")):
        name = word(described, "id")
        spoken = mapping(described.get("architecture")).get("output_modalities")
        if not name or _NO_CHAT.search(name) or (isinstance(spoken, list) and "text" not in spoken):
            continue
        card = _described(expected_chat_card(name), described)
        told = loaded or plausible_window(window_told(described))
        window = told or (card.window if card.source == "table" else None)
        found.append(OfferedModel(name, card.display_name, window, None if loaded else card.prices))
    return found[:MOST_MODELS]

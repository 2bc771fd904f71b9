"""Windows, limits and prices of the models that are known, and what is assumed of others. No network here.

Source of windows and limits: Anthropic's model overview as of 2026-11-20. Prices are in `prices.json`, which is dated and names its
sources. `model_card.py` asks the endpoint first; the table stands in where the endpoint does not tell, and supplies prices, which no
endpoint reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ullage.context.counting.media import LIMITS, LIMITS_BEFORE
from ullage.models.model import EFFORTS, Effort, ModelCard, Prices, TokenizerVersion


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of models and what goes with them, by the plain names of models: without a date or a gateway's decoration."""

    as_of: str
    """The date of the prices (`YYYY-MM-DD`)."""
    prices: Mapping[str, Prices]
    minimum_cached: Mapping[str, int]
    """The tokens below which a prefix is not cached."""
    minimum_cached_of_others: int
    clouds: Mapping[str, Mapping[str, float]]
    """What is paid in the clouds, as factors of these prices: by cloud, and by where it is asked."""


@cache
def price_list() -> PriceList:
    """The list of prices that comes with Ullage."""
    raw = json.loads(files("ullage.models").joinpath("prices.json").read_text(encoding="utf-8"))
    return PriceList(
        as_of=raw["as_of"],
        prices={name: _prices(row) for name, row in raw["prices"].items()},
        minimum_cached=raw["minimum_cached"],
        minimum_cached_of_others=raw["minimum_cached_of_others"],
        clouds={name: raw["clouds"][name] for name in ("bedrock", "vertex")},
    )


def _prices(row: dict[str, float]) -> Prices:
    long_prompt = row.get("long_prompt")
    return Prices(
        input=row["input"],
        output=row["output"],
        cache_read=row["cache_read"],
        cache_write_5m=row.get("cache_write_5m", row["input"]),
        cache_write_1h=row.get("cache_write_1h", row["input"]),
        long_prompt=None if long_prompt is None else int(long_prompt),
        long_prompt_factor=row.get("long_prompt_factor", 1.0),
    )


_MILLION = 1_000_000

_BEFORE_XHIGH: tuple[Effort, ...] = ("low", "medium", "high", "max")
_BEFORE_MAX: tuple[Effort, ...] = ("low", "medium", "high")
"""`max` came with Opus 4.6, `xhigh` with Opus 4.7; Sonnet 4.5 and Haiku 4.5 take no effort (the API's page on effort)."""

OLD_TOKENIZER = 0.78
"""How many tokens models up to 4.6 make of a text, as a share of what the newer tokenizer makes (code and prose)."""
OTHER_TOKENIZERS = 0.7
"""The share of what local servers usually run, by the figures for OpenAI's o200k."""

CLAUDE_WINDOW, CLAUDE_OUTPUT = 200_000, 64_000
"""Tokens that are assumed of a Claude model that is not in the table: the least that any since 4.5 has."""
LOCAL_WINDOW, LOCAL_OUTPUT = 32_768, 8_192
"""Tokens that are assumed of a model on another server that does not tell: what local servers are commonly started with."""


@dataclass(frozen=True, slots=True)
class _Known:
    title: str
    window: int
    max_output: int
    adaptive_thinking: bool = True
    tokenizer: TokenizerVersion = "4.8"
    efforts: tuple[Effort, ...] = EFFORTS


_KNOWN: dict[str, _Known] = {
    "claude-fable-5-2": _Known("Claude Fable 5.2", _MILLION, 128_000),
    "claude-fable-5-1": _Known("Claude Fable 5.1", _MILLION, 128_000),
    "claude-opus-5-5": _Known("Claude Opus 5.5", _MILLION, 128_000),
    "claude-opus-5": _Known("Claude Opus 5", _MILLION, 128_000),
    "claude-sonnet-5-5": _Known("Claude Sonnet 5.5", _MILLION, 128_000),
    "claude-sonnet-5": _Known("Claude Sonnet 5", _MILLION, 128_000),
    # Of Haiku 5.5 no page names the efforts: those that every model with effort takes. The Models API knows better, and is asked first.
    "claude-haiku-5-5": _Known("Claude Haiku 5.5", _MILLION, 128_000, efforts=_BEFORE_MAX),
    "claude-opus-4-8": _Known("Claude Opus 4.8", _MILLION, 128_000),
    "claude-opus-4-7": _Known("Claude Opus 4.7", _MILLION, 128_000, tokenizer="4.7"),
    "claude-opus-4-6": _Known("Claude Opus 4.6", _MILLION, 128_000, tokenizer="3.0", efforts=_BEFORE_XHIGH),
    "claude-sonnet-4-6": _Known("Claude Sonnet 4.6", _MILLION, 128_000, tokenizer="3.0", efforts=_BEFORE_XHIGH),
    "claude-opus-4-5": _Known("Claude Opus 4.5", 200_000, 64_000, False, tokenizer="3.0", efforts=_BEFORE_MAX),
    "claude-sonnet-4-5": _Known("Claude Sonnet 4.5", 200_000, 64_000, False, tokenizer="3.0", efforts=()),
    "claude-haiku-4-5": _Known("Claude Haiku 4.5", 200_000, 64_000, False, tokenizer="3.0", efforts=()),
}

_DATE = re.compile(r"-\d{8}$")


def expected_card(name: str, *, anthropic: bool) -> ModelCard:
    """The card of a model without asking anybody: by the table, else by what is assumed of Anthropic's own or another endpoint."""
    return card_from_table(name) or (_assumed_claude_card(name) if anthropic else local_card(name, None))


def card_from_table(name: str) -> ModelCard | None:
    """The card of a model by the table, also under its dated name; None if it is not in it."""
    plain = _DATE.sub("", name)
    known = _KNOWN.get(plain)
    if known is None:
        return None
    return ModelCard(
        name=name,
        display_name=known.title,
        window=known.window,
        max_output=known.max_output,
        prices=price_list().prices.get(plain),
        source="table",
        adaptive_thinking=known.adaptive_thinking,
        efforts=known.efforts,
        characters_per_token_factor=OLD_TOKENIZER if known.tokenizer == "3.0" else 1.0,
        tokenizer=known.tokenizer,
        images=LIMITS_BEFORE if known.tokenizer == "3.0" else LIMITS,
        minimum_cached=price_list().minimum_cached.get(plain, price_list().minimum_cached_of_others),
    )


def _assumed_claude_card(name: str) -> ModelCard:
    """The card that is assumed of a model of Anthropic's own endpoint that is not in the table."""
    return ModelCard(
        name=name,
        display_name=name,
        window=CLAUDE_WINDOW,
        max_output=CLAUDE_OUTPUT,
        prices=None,
        source="assumed",
        adaptive_thinking=False,
        tokenizer="4.8",
    )


def local_card(name: str, window: int | None) -> ModelCard:
    """The card of a model of another server; `window` (tokens) is what the server said, None if it did not."""
    size = window or LOCAL_WINDOW
    return ModelCard(
        name=name,
        display_name=name,
        window=size,
        max_output=min(LOCAL_OUTPUT, size // 4),
        prices=None,
        source="server" if window else "assumed",
        adaptive_thinking=False,
        characters_per_token_factor=OTHER_TOKENIZERS,
    )

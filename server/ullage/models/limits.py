"""Windows, limits and prices of the models that are known, and what is assumed of others. No network here.

Source: Anthropic's model overview, pricing and prompt caching pages as of 2026-11-20. `model_card.py` asks the endpoint first;
this table supplies prices, which no endpoint reports, and stands in where the endpoint does not tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ullage.models.model import ModelCard, Prices

_MILLION = 1_000_000

OLD_TOKENIZER = 0.78
"""Tokens that models up to 4.6 make of a text, as a share of what the newer tokenizer makes (code and prose)."""
OTHER_TOKENIZERS = 0.7
"""The same for what local servers usually run, by the figures for OpenAI's o200k."""

CLAUDE_WINDOW, CLAUDE_OUTPUT = 200_000, 64_000
"""The least that any Claude model since 4.5 has: assumed of one that is not in the table."""
LOCAL_WINDOW, LOCAL_OUTPUT = 32_768, 8_192
"""Assumed of a model on another server that does not tell: what local servers are commonly started with."""


@dataclass(frozen=True, slots=True)
class _Known:
    title: str
    window: int
    max_output: int
    prices: Prices
    adaptive_thinking: bool = True
    old_tokenizer: bool = False


def _prices(
    input: float,
    output: float,
    read_share: float = 0.1,
    long_prompt: int | None = None,
    long_prompt_factor: float = 1.0,
) -> Prices:
    """Prices with the usual factors of cache writes: 1.25 for five minutes, 2 for an hour."""
    return Prices(
        input=input,
        output=output,
        cache_read=input * read_share,
        cache_write_5m=input * 1.25,
        cache_write_1h=input * 2,
        long_prompt=long_prompt,
        long_prompt_factor=long_prompt_factor,
    )


_OPUS_BEFORE_5_5 = _prices(5.0, 25.0)

_KNOWN: dict[str, _Known] = {
    "claude-fable-5-2": _Known("Claude Fable 5.2", _MILLION, 128_000, _prices(8.0, 40.0, 0.025)),
    "claude-fable-5-1": _Known("Claude Fable 5.1", _MILLION, 128_000, _prices(10.0, 50.0, 0.025)),
    "claude-opus-5-5": _Known("Claude Opus 5.5", _MILLION, 128_000, _prices(4.0, 20.0, 0.05)),
    "claude-opus-5": _Known("Claude Opus 5", _MILLION, 128_000, _OPUS_BEFORE_5_5),
    "claude-sonnet-5-5": _Known("Claude Sonnet 5.5", _MILLION, 128_000, _prices(2.0, 10.0, 0.05)),
    "claude-sonnet-5": _Known("Claude Sonnet 5", _MILLION, 128_000, _prices(2.0, 10.0)),
    "claude-haiku-5-5": _Known(
        "Claude Haiku 5.5",
        _MILLION,
        128_000,
        _prices(0.10, 0.50, long_prompt=100_000, long_prompt_factor=5.0),
    ),
    "claude-opus-4-8": _Known("Claude Opus 4.8", _MILLION, 128_000, _OPUS_BEFORE_5_5),
    "claude-opus-4-7": _Known("Claude Opus 4.7", _MILLION, 128_000, _OPUS_BEFORE_5_5),
    "claude-opus-4-6": _Known("Claude Opus 4.6", _MILLION, 128_000, _OPUS_BEFORE_5_5, old_tokenizer=True),
    "claude-sonnet-4-6": _Known("Claude Sonnet 4.6", _MILLION, 128_000, _prices(3.0, 15.0), old_tokenizer=True),
    "claude-opus-4-5": _Known("Claude Opus 4.5", 200_000, 64_000, _OPUS_BEFORE_5_5, False, old_tokenizer=True),
    "claude-sonnet-4-5": _Known("Claude Sonnet 4.5", 200_000, 64_000, _prices(3.0, 15.0), False, old_tokenizer=True),
    "claude-haiku-4-5": _Known("Claude Haiku 4.5", 200_000, 64_000, _prices(1.0, 5.0), False, old_tokenizer=True),
}

_DATE = re.compile(r"-\d{8}$")


def expected_card(name: str, *, anthropic: bool) -> ModelCard:
    """What is known of a model without asking: the table, else what is assumed of Anthropic's own or another endpoint."""
    return card_from_table(name) or (assumed_claude_card(name) if anthropic else local_card(name, None))


def card_from_table(name: str) -> ModelCard | None:
    """What the table knows of a model, also under its dated name; None where it is not in it."""
    known = _KNOWN.get(_DATE.sub("", name))
    if known is None:
        return None
    return ModelCard(
        name=name,
        display_name=known.title,
        window=known.window,
        max_output=known.max_output,
        prices=known.prices,
        source="table",
        adaptive_thinking=known.adaptive_thinking,
        characters_per_token_factor=OLD_TOKENIZER if known.old_tokenizer else 1.0,
    )


def assumed_claude_card(name: str) -> ModelCard:
    """For a model of Anthropic's own endpoint that is not in the table."""
    return ModelCard(
        name=name,
        display_name=name,
        window=CLAUDE_WINDOW,
        max_output=CLAUDE_OUTPUT,
        prices=None,
        source="assumed",
        adaptive_thinking=False,
    )


def local_card(name: str, window: int | None) -> ModelCard:
    """For a model of another server; `window` (tokens) is what the server said, None where it did not."""
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

"""What is known of a recorded model: the prices of its tokens, its tokenizer, the smallest prefix that it caches, and its window.

All of it comes from the list that the agent itself uses (`models/known_models.py`). Here a model is found under any of its names.
"""

from __future__ import annotations

import re

from ullage.context.counting.media import LIMITS, ImageLimits
from ullage.models.known_models import OLD_TOKENIZER, OTHER_TOKENIZERS, card_from_table, price_list
from ullage.models.model import Prices
from ullage.recorded.transcript import Transcript

_DECORATION = re.compile(r"^.*/|^.*(?=claude-)|\[1m\]$|-v\d+(:\d+)?$|@[\w-]+$")
"""What gateways put around a model's name: a provider before it; a version, a date or a window behind it."""
_BEFORE_5 = re.compile(r"claude-(3|[a-z]+-4)(-|$)")
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")

UNKNOWN_WINDOW = 200_000
"""The window in tokens that is assumed of a model that is not known."""
CODEX_WINDOW = 272_000
"""The window in tokens of OpenAI's models as Codex uses them: it records 258,400 as the window, which is 95 % of this."""
LARGER_WINDOWS = (400_000, 1_000_000)
"""Windows in tokens that are sold; Claude has only the last. A session that had more in its context than its model's usual window ran on
the next larger one that holds it; its record does not name that."""


def as_of() -> str:
    """The date of the data file with prices (`YYYY-MM-DD`)."""
    return price_list().as_of


def prices_of(model: str) -> Prices | None:
    """The prices of a model under any of its names; None if they are not known."""
    return price_list().prices.get(plain_name(model))


def minimum_cached(model: str) -> int:
    """Tokens below which a prefix is not cached. A model that is not known has that of most models."""
    return price_list().minimum_cached.get(plain_name(model), price_list().minimum_cached_of_others)


def tokens_factor(model: str, other: str) -> float:
    """How many tokens `other` makes of a text that `model` made one token of, on average over prose and code."""
    return tokenizer_share(other) / tokenizer_share(model)


def tokenizer_share(model: str) -> float:
    """How many tokens a model makes of a text that the newest Claude tokenizer makes one of (what our estimates are for)."""
    name = plain_name(model)
    card = card_from_table(name)
    if card is not None:
        return card.characters_per_token_factor
    if not name.startswith("claude-"):
        return OTHER_TOKENIZERS
    return OLD_TOKENIZER if _BEFORE_5.match(name) else 1.0


def image_limits(model: str) -> ImageLimits:
    """The limits of what a model takes of an image."""
    card = card_from_table(plain_name(model))
    return LIMITS if card is None else card.images


def plain_name(model: str) -> str:
    """The name without a gateway's decoration and without its date: `us.anthropic.claude-opus-4-5-20251101-v1:0` and the like."""
    name, before = model, None
    while name != before:
        before = name
        name = _DATE.sub("", _DECORATION.sub("", name))
    return name


def window_of(model: str) -> int:
    """The window of a model in tokens, by its name."""
    name = plain_name(model)
    card = card_from_table(name)
    if card is not None:
        return card.window
    return CODEX_WINDOW if name.startswith("gpt-5") else UNKNOWN_WINDOW


def window_in(transcript: Transcript, model: str, as_model: str | None = None) -> int:
    """Tokens that a model takes in a recorded session; at least what was recorded, unless another model is put in its place."""
    window = window_of(as_model or model)
    if as_model is not None:
        return window
    counted = (reply.usage.total_input_tokens for reply in transcript.replies if reply.usage is not None and reply.model == model)
    largest = max(counted, default=0)
    if largest <= window:
        return window
    sold = LARGER_WINDOWS[-1:] if plain_name(model).startswith("claude-") else LARGER_WINDOWS
    return min((each for each in sold if each >= largest), default=largest)

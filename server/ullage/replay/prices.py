"""What a recorded model's tokens cost, and below which size it caches nothing.

Prices come from the list that the agent itself uses (`models/price_list.py`); here a model is found under any of its names.
"""

from __future__ import annotations

import re

from ullage.models.limits import OLD_TOKENIZER, OTHER_TOKENIZERS, card_from_table
from ullage.models.model import Prices
from ullage.models.price_list import price_list

_DECORATION = re.compile(r"^.*/|^.*(?=claude-)|\[1m\]$|-v\d+(:\d+)?$|@[\w-]+$")
"""What gateways put around a model's name: a provider before it; a version, a date or a window behind it."""
_BEFORE_5 = re.compile(r"claude-(3|[a-z]+-4)(-|$)")
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def as_of() -> str:
    """The date of the data file (`YYYY-MM-DD`)."""
    return price_list().as_of


def prices_of(model: str) -> Prices | None:
    """The prices of a model under any of its names; None where they are not known."""
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


def plain_name(model: str) -> str:
    """The name without a gateway's decoration and without its date: `us.anthropic.claude-opus-4-5-20251101-v1:0` and the like."""
    name, before = model, None
    while name != before:
        before = name
        name = _DATE.sub("", _DECORATION.sub("", name))
    return name

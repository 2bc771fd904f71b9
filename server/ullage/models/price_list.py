"""What the tokens of each known model cost, and below which size it caches nothing: `prices.json`, which is dated and names its sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ullage.models.model import Prices


@dataclass(frozen=True, slots=True)
class PriceList:
    """By the plain names of models: without a date or a gateway's decoration."""

    as_of: str
    """`YYYY-MM-DD`."""
    prices: Mapping[str, Prices]
    minimum_cached: Mapping[str, int]
    """Tokens."""
    minimum_cached_of_others: int


@cache
def price_list() -> PriceList:
    """The list that comes with Ullage."""
    raw = json.loads(files("ullage.models").joinpath("prices.json").read_text(encoding="utf-8"))
    return PriceList(
        as_of=raw["as_of"],
        prices={name: _prices(row) for name, row in raw["prices"].items()},
        minimum_cached=raw["minimum_cached"],
        minimum_cached_of_others=raw["minimum_cached_of_others"],
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

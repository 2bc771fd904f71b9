"""Whether it pays to compact before the line, asked as often as the agent would in a simulated session (`session/compacting/saving.py`)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ullage.context.economy import (
    COOLING_SECONDS,
    ECONOMIES,
    Carried,
    Economy,
    Terms,
    is_cold,
    pays,
    pays_before_cold,
    pays_when_cold,
    since,
)
from ullage.context.policy import Policy
from ullage.replay.cache import TTL_SECONDS, RequestShape
from ullage.replay.recorded_models import prices_of

Due: TypeAlias = Literal["no", "now", "before cold", "cold"]
"""Nothing to save; compacting now is cheaper than carrying on; it was just before the cache went, when nobody asked; the cache is gone."""


class Saving:
    """Weighs for one session under one policy. Tokens throughout, times in Unix seconds."""

    def __init__(self, policy: Policy, economy: Economy) -> None:
        self._numbers = ECONOMIES[economy] if policy.saves else None
        self._carried: Carried | None = None

    def requested(self, tokens: int, at: float, fixed: int) -> None:
        """A request was made that held so many."""
        so_far = self._carried or since((), fixed)
        self._carried = Carried(so_far.beyond + max(0, tokens - so_far.left), so_far.left, at)

    def compacted(self, tokens_after: int) -> None:
        """A compaction left so many."""
        last_at = self._carried.last_at if self._carried is not None else 0.0
        self._carried = Carried(0, tokens_after, last_at)

    def due(self, recorded: RequestShape, used: int, fixed: int, *, by_model: bool, idle: bool) -> Due:
        """Whether a compaction is due before this request, which comes after a pause of the user where `idle`."""
        if self._numbers is None or self._carried is None:
            return "no"
        terms = terms_of(recorded)
        if terms is None:
            return "no"
        lives = TTL_SECONDS[recorded.marks[0].ttl]
        if is_cold(recorded.at, self._carried.last_at, lives):
            if idle and pays_before_cold(used, fixed, self._carried, terms, self._numbers, by_model=by_model):
                return "before cold"
            return "cold" if pays_when_cold(used, self._carried, terms, self._numbers) else "no"
        return "now" if pays(used, fixed, self._carried, terms, self._numbers, by_model=by_model) else "no"

    def before_cold(self, recorded: RequestShape) -> float:
        """When the compaction before the cache went would have been made."""
        last_at = self._carried.last_at if self._carried is not None else recorded.at
        return last_at + COOLING_SECONDS * TTL_SECONDS[recorded.marks[0].ttl] / TTL_SECONDS["5m"]


def terms_of(recorded: RequestShape) -> Terms | None:
    """The proportions of the prices of the model that is asked; None where they are not known."""
    prices = prices_of(recorded.model)
    if prices is None or not prices.input:
        return None
    written = prices.cache_write_1h if recorded.marks[0].ttl == "1h" else prices.cache_write_5m
    return Terms(prices.cache_read / prices.input, written / prices.input, prices.output / prices.input)

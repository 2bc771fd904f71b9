"""Whether one session saves by compacting before its line: what carrying has cost so far is kept up to date, a reply at a time.

What is weighed against what is known in `context/economy.py`; making the compaction is the business of `room.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.counting.accounting import Counted
from ullage.context.economy import (
    ECONOMIES,
    Carried,
    Terms,
    is_cold,
    pays,
    pays_before_cold,
    pays_when_cold,
    saved_before_cold,
    saved_by_carrying_less,
    saved_when_cold,
    since,
)
from ullage.context.entries import Logged
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import place_of
from ullage.models.model import ModelCard
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings

When: TypeAlias = Literal["now", "pause", "cold", "cold later"]
"""Carrying has cost enough; just before the cache goes, while nobody asks; it is gone, and whatever is sent is written anew; it will be."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compaction before the line saves, and what for."""

    when: When
    saved: float
    """In prices of one uncached input token."""


FIXED = ("system", "rules", "tools")
"""The categories of what no compaction takes away."""


class Saving:
    """Weighs for one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._key: EpochKey | None = None
        self._read = 0
        self._carried = Carried(0, 0)

    def outlook(self, counted: Counted, card: ModelCard) -> Outlook | None:
        """What a compaction before the line would save; None where it would not."""
        terms, numbers = terms_of(card), ECONOMIES[self._surroundings.settings.economy]
        if terms is None:
            return None
        so_far, fixed, used = self._up_to_date(counted), _fixed(counted), counted.used
        by_model = card.writes_summaries and self._surroundings.settings.summary_engine == "model"
        if is_cold(self._conversation.clock(), so_far.last_at):
            cold = pays_when_cold(used, so_far, terms, numbers)
            return Outlook("cold", saved_when_cold(used, so_far.left, terms)) if cold else None
        if pays(used, fixed, so_far, terms, numbers, by_model=by_model):
            return Outlook("now", saved_by_carrying_less(used, fixed, so_far, terms, by_model=by_model))
        if pays_before_cold(used, fixed, so_far, terms, numbers, by_model=by_model):
            return Outlook("pause", saved_before_cold(used, fixed, so_far.left, terms, by_model=by_model))
        if pays_when_cold(used, so_far, terms, numbers):
            return Outlook("cold later", saved_when_cold(used, so_far.left, terms))
        return None

    def last_request(self, counted: Counted) -> float:
        """When the newest request of this epoch started (Unix seconds); 0 where there was none."""
        return self._up_to_date(counted).last_at

    def _up_to_date(self, counted: Counted) -> Carried:
        projection = self._conversation.projection
        entries = projection.entries
        if projection.key != self._key:
            self._key = projection.key
            self._carried = since(projection.active, _fixed(counted))
            self._read = _after_newest(entries, projection.key)
        if self._read < len(entries):
            self._carried = self._carried.and_then(*entries[self._read :])
        self._read = len(entries)
        return self._carried


def terms_of(card: ModelCard) -> Terms | None:
    """The proportions of a model's prices; None where they are not known, or it costs nothing."""
    prices = card.prices
    if prices is None or not prices.input:
        return None
    return Terms(prices.cache_read / prices.input, prices.cache_write_5m / prices.input, prices.output / prices.input)


def _after_newest(entries: Sequence[Logged], key: EpochKey) -> int:
    """The index of the first entry after the newest compaction in force."""
    return place_of(entries, key[-1] + 1) if len(key) > 1 else 0


def _fixed(counted: Counted) -> int:
    return sum(tokens for name, tokens in counted.categories if name in FIXED)

"""Tokens of one request by price class, what they cost, and how the API reports them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.json_values import JsonObject

_PRICE_STEP_TOKENS = 100_000
"""Section 2.2: a request of Haiku 5.5 whose whole input is over this pays the higher prices."""


@dataclass(frozen=True, slots=True)
class InputUsage:
    """Input tokens: `uncached` is what the API calls `input_tokens`."""

    uncached: int
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0

    @property
    def total(self) -> int:
        """The whole prompt (section 2.1: the sum of the classes)."""
        return self.uncached + self.read + self.written_5m + self.written_1h

    def as_json(self, output_tokens: int, thinking_tokens: int = 0) -> JsonObject:
        """The `usage` object of a reply."""
        return {
            "input_tokens": self.uncached,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
            "output_tokens": output_tokens,
            "output_tokens_details": {"thinking_tokens": thinking_tokens},
            "service_tier": "standard",
        }


def with_found(usage: InputUsage, tokens: int) -> InputUsage:
    """The usage of a request whose searches found so many tokens (section 2.8)."""
    return replace(usage, uncached=usage.uncached + tokens)


SEARCH_DOLLARS = 0.01
"""Section 2.8: $10 for 1,000 searches that did not fail."""


def dollars(model: ModelFacts, input: InputUsage, output_tokens: int, searches: int = 0) -> float:
    """What a request costs by the model's table (section 2.2)."""
    above = model.prices_above_100k
    prices = above if above is not None and input.total > _PRICE_STEP_TOKENS else model.prices
    return (
        input.uncached * prices.input
        + input.read * prices.read
        + input.written_5m * prices.write_5m
        + input.written_1h * prices.write_1h
        + output_tokens * prices.output
    ) / 1_000_000 + searches * SEARCH_DOLLARS

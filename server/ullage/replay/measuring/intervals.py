"""How sure a share is, that was counted over sessions: an interval by bootstrap.

Sessions are drawn, with replacement, and not facts: facts of one session stand and fall together. Sub-agents belong to the session
that they work for. The draws are the same in every run, so that a report can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from ullage.replay.measuring.retention import Share

DRAWS = 1_000
COVERAGE = 0.95
"""Of the draws, how many lie in the interval."""
FEWEST_SESSIONS = 3
"""With fewer an interval says nothing."""
_MOST_NUMBERS = 2_000_000
"""That all draws take together, so that memory is bounded where there are very many sessions."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the share of other sessions of the same kind would lie."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share over `sessions` that had something of the kind; without an interval where these are too few."""

    share: Share
    sessions: int
    interval: Interval | None


def estimate(shares: Sequence[Share]) -> Estimate:
    """`shares` are those of single sessions."""
    some = [each for each in shares if each.of]
    low_high = ratio_interval([(each.hits, each.of) for each in some])
    return Estimate(sum(some, Share()), len(some), low_high)


def ratio_interval(parts: Sequence[tuple[float, float]]) -> Interval | None:
    """The interval of one sum divided by another, each part being a session's. None where there are too few, where there
    is nothing to divide by, and where all are so alike that drawing them tells nothing."""
    if len(parts) < FEWEST_SESSIONS or any(below < 0 for _, below in parts) or not any(below for _, below in parts):
        return None
    above, below = [each for each, _ in parts], [each for _, each in parts]
    drawn: list[float] = []
    for draw in _draws(len(parts)):
        divisor = sum(map(below.__getitem__, draw))
        if divisor:
            drawn.append(sum(map(above.__getitem__, draw)) / divisor)
    drawn.sort()
    tail = (1 - COVERAGE) / 2
    low, high = drawn[int(tail * (len(drawn) - 1))], drawn[round((1 - tail) * (len(drawn) - 1))]
    return Interval(low, high) if high - low > 1e-9 else None


@lru_cache(maxsize=16)
def _draws(sessions: int) -> tuple[tuple[int, ...], ...]:
    random = Random(sessions)  # noqa: S311 - no secret
    often = max(100, min(DRAWS, _MOST_NUMBERS // sessions))
    return tuple(tuple(random.choices(range(sessions), k=sessions)) for _ in range(often))

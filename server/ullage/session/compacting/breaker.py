"""A breaker: after three failures in a row something is not tried again for a while, longer each time."""

from __future__ import annotations

FAILURES = 3
"""In a row (Claude Code)."""

PAUSES = (60.0, 300.0, 900.0)
"""Seconds until it is tried again, after the first, the second and every later opening (Hermes)."""


class Breaker:
    """Counts failures. Times are Unix seconds and come from the caller."""

    def __init__(self) -> None:
        self._failures = 0
        self._openings = 0
        self._closed_at = 0.0

    def is_open(self, now: float) -> bool:
        """Whether it must not be tried now. After the pause one try is let through (half-open)."""
        return now < self._closed_at

    def seconds_left(self, now: float) -> float:
        """Until the next try is let through; 0 where it is not open."""
        return max(0.0, self._closed_at - now)

    def failed(self, now: float) -> None:
        """A try failed. Half-open, one failure is enough to open it again."""
        self._failures += 1
        if self._failures >= FAILURES or self._openings:
            self._closed_at = now + PAUSES[min(self._openings, len(PAUSES) - 1)]
            self._openings += 1
            self._failures = 0

    def succeeded(self) -> None:
        """A try worked: everything is forgotten."""
        self._failures = 0
        self._openings = 0
        self._closed_at = 0.0

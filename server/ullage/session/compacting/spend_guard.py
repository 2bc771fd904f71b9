"""A guard on what summaries cost: where a model has been asked for many within minutes, something goes round in circles."""

from __future__ import annotations

from collections import deque

MOST_CALLS, WITHIN_SECONDS = 24, 600.0
REST_SECONDS = 1_800.0
"""So many calls within so long, and none for so long after (lossless-claw)."""


class SpendGuard:
    """Counts calls of one session. Times are Unix seconds and come from the caller."""

    def __init__(self) -> None:
        self._calls = deque[float]()
        self._rests_until = 0.0

    def rests(self, now: float) -> bool:
        """Whether no call may be made now."""
        return now < self._rests_until

    def called(self, now: float) -> None:
        """A call is made."""
        self._calls.append(now)
        while self._calls[0] < now - WITHIN_SECONDS:
            self._calls.popleft()
        if len(self._calls) >= MOST_CALLS:
            self._rests_until = now + REST_SECONDS
            self._calls.clear()

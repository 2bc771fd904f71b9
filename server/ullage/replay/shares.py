"""A share with what it is a share of, so that shares of several sessions can be put together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `of`."""

    hits: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        """Between 0 and 1; None of nothing."""
        return self.hits / self.of if self.of else None

    def __add__(self, other: Share) -> Share:
        return Share(self.hits + other.hits, self.of + other.of)

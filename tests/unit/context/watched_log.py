"""A log that counts how often an entry of it is looked at: the measure of work that grows with it."""

from __future__ import annotations

from collections.abc import Iterator

from ullage.context.entries import Logged
from ullage.context.view.paged_log import Log


class Watched(Log):
    """`looks` counts."""

    looks = 0

    def at(self, index: int) -> Logged:
        """One look."""
        self.looks += 1
        return super().at(index)

    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """A look at each."""
        for logged in super().between(start, stop):
            self.looks += 1
            yield logged

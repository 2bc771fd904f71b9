"""Changing many files: done in batches, shown while it takes long, and stopped between two batches where the user wants that.

Each batch is on disk and in the log before the next one begins. So whoever stops it, or kills the process, loses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar

BATCH = 100
"""Files that are changed in one go. They take some 50 ms, and an entry of the log for each batch is little."""

SHOWN_AFTER_SECONDS = 0.4
"""What is done sooner is not shown: it would only flicker."""

STOPPED = "You stopped before it was done"

T = TypeVar("T")


class ShownProgress(Protocol):
    """A progress that the user sees."""

    def report(self, percent: int) -> None:
        """Shows how much of the work is done, in percent."""
        ...

    def end(self) -> None:
        """Takes the progress away: the work is done, or stopped."""
        ...


class ShowProgress(Protocol):
    """Shows what takes long; `stop` is called where the user wants it to end."""

    def __call__(self, title: str, stop: Callable[[], None]) -> ShownProgress: ...


class _Nowhere:
    def report(self, percent: int) -> None: ...

    def end(self) -> None: ...


def nowhere(title: str, stop: Callable[[], None]) -> ShownProgress:
    """A progress that is shown nowhere, since nobody looks on."""
    return _Nowhere()


class ManyFiles:
    """One piece of work on many files, as a context that ends what is shown of it."""

    def __init__(self, show: ShowProgress, title: str) -> None:
        self._show = show
        self._title = title
        self._began = time.monotonic()
        self._shown: ShownProgress | None = None
        self.is_stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown is not None:
            self._shown.end()

    def stop(self) -> None:
        """Ends the work before the next batch."""
        self.is_stopped = True

    def batches(self, items: Sequence[T], begins: float = 0.0, ends: float = 1.0) -> Iterator[Sequence[T]]:
        """The items in batches, one after the other, until the work is stopped. Together they are the part from `begins` to `ends` of it (0
        to 1)."""
        for at in range(0, len(items), BATCH):
            if self.is_stopped:
                return
            yield items[at : at + BATCH]
            done = begins + (ends - begins) * min(1.0, (at + BATCH) / len(items))
            if self._shown is None and time.monotonic() - self._began > SHOWN_AFTER_SECONDS and done < 1.0:
                self._shown = self._show(self._title, self.stop)
            if self._shown is not None:
                self._shown.report(int(done * 100))

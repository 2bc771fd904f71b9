"""How much memory the work on one file may take, where somebody ends a process that takes more.

A worker of a scheduler is ended past its limit, and its work is done again elsewhere, in vain. So it stops before that, and the file is
worked on by whoever asked, who has no limit. Without a limit nothing is looked at.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

SHARE = 0.88
"""The share of the limit at which the work stops. Dask ends a worker at 0.95, and looks ten times a second."""

LOOK_SECONDS = 0.02

_LEAST = 32_000_000
"""The least bytes that the work itself has to have taken before it stops. Where it took less, what was before it fills the process: to stop
would gain nothing."""


class WorkTooLarge(Exception):
    """The work would take more memory than there is for it. `megabytes` is the limit."""

    def __init__(self, megabytes: int) -> None:
        super().__init__(f"it takes more memory than the {megabytes:,} MB of a worker")
        self.megabytes = megabytes


@dataclass(slots=True)
class _Limit:
    size: int
    process: Any
    before: int
    looked: float = 0.0

    def look(self) -> None:
        now = time.monotonic()
        if now - self.looked < LOOK_SECONDS:
            return
        if self._is_passed():
            gc.collect()
            if self._is_passed():
                raise WorkTooLarge(self.size // 1_000_000)
        self.looked = now

    def _is_passed(self) -> bool:
        taken = int(self.process.memory_info().rss)
        return taken > self.size * SHARE and taken - self.before > _LEAST


_IN_FORCE = ContextVar[_Limit | None]("memory of this process", default=None)


@contextmanager
def within(size: int | None) -> Generator[None]:
    """Makes `look` raise inside of the block where the process has come near `size` bytes. With None or 0 there is no limit."""
    limit = None
    if size:
        process = import_module("psutil").Process()  # comes with Dask
        limit = _Limit(size, process, int(process.memory_info().rss))
    token = _IN_FORCE.set(limit)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def look() -> None:
    """Looks how much memory the process has, where there is a limit. To be called wherever memory grows, as often as may be. Raises
    `WorkTooLarge`."""
    limit = _IN_FORCE.get()
    if limit is not None:
        limit.look()

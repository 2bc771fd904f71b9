"""Giving others their turn while something long is done on the event loop, however many do so at once."""

from __future__ import annotations

import asyncio
from time import perf_counter
from types import TracebackType
from typing import ClassVar, Self

SHARED_SECONDS = 0.005
"""How long all of them together keep the loop before everybody else comes in between."""


class Breath:
    """One that does something long. Those that do so at the same time share `SHARED_SECONDS` in equal parts."""

    _working: ClassVar[int] = 0

    def __init__(self) -> None:
        self._since = perf_counter()

    def __enter__(self) -> Self:
        Breath._working += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        Breath._working -= 1

    async def take(self) -> None:
        """Lets others go first where its part is used up. To be called often."""
        if perf_counter() - self._since > SHARED_SECONDS / Breath._working:
            await asyncio.sleep(0)
            self._since = perf_counter()


class Round:
    """One round of the event loop, and how much of it those have used who do a piece of work of some milliseconds.

    A hundred sessions whose turns end together would keep the loop for as long as all of their pieces take. So only as many are done in a
    round as fit in `SHARED_SECONDS`, and at least one; the others come in the next rounds, in the order in which they asked.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._began = 0.0

    async def has_room(self) -> None:
        """Waits for a round that has."""
        while self._is_used_up():  # noqa: ASYNC110 - those who wait go round in their order
            await asyncio.sleep(0)

    def _is_used_up(self) -> bool:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return perf_counter() - self._began > SHARED_SECONDS
        self._loop, self._began = loop, perf_counter()
        loop.call_soon(self._over)
        return False

    def _over(self) -> None:
        self._loop = None


ROUND = Round()
"""The present one: there is one loop, which all sessions share."""

"""Calls of the store that are made again while another program has the log locked: the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ullage.store.errors import StoreBusy

_T = TypeVar("_T")

AGAIN_SECONDS = 0.25
"""Between two tries."""

PATIENCE = 480
"""Tries, two minutes: whoever locks a log for longer has forgotten it, and the user should hear of that."""


async def patiently(call: Callable[[], Awaitable[_T]]) -> _T:
    """What the call gives. Raises `StoreBusy` where the log is not free in time, and whatever else the call raises."""
    for _ in range(PATIENCE):
        try:
            return await call()
        except StoreBusy:
            await asyncio.sleep(AGAIN_SECONDS)
    return await call()


async def patiently_at_once(call: Callable[[], _T]) -> _T:
    """The same of a call that is quick enough for the event loop."""

    async def made() -> _T:
        return call()

    return await patiently(made)

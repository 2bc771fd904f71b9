"""Doing what takes long without holding anybody up.

- Work on the event loop lets others in between, however many do something long at once (`Breath`, `Round`).
- Work is done in the background, owned by somebody (`Background`).
- A call of the store is made again while another program has the log locked (`patiently`).
- Very many values that live as long as their session are made without having the garbage collector walk them again and again
  (`uncollected`). A whole walk of a long session's values takes a tenth of a second and more, and holds up every thread. Values that are
  never walked go when nobody refers to them any more, but for those that refer to each other: a session that is let go of needs
  `collect_all`.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import ClassVar, Self, TypeVar
from weakref import WeakMethod

from ullage.store.errors import StoreBusy

logger = logging.getLogger(__name__)

SHARED_SECONDS = 0.005
"""How long all pieces of long work together keep the loop before everybody else comes in between."""


MANY = 2_000
"""Entries or messages: fewer are walked in some milliseconds."""


AGAIN_SECONDS = 0.25
"""Seconds between two tries."""


PATIENCE = 480
"""Tries, two minutes: whoever locks a log for longer has forgotten it, and the user should hear of that."""


_T = TypeVar("_T")


class Breath:
    """A piece of long work. All that go on at the same time share `SHARED_SECONDS` in equal parts."""

    _working: ClassVar[int] = 0

    def __init__(self) -> None:
        self._since = perf_counter()

    def __enter__(self) -> Self:
        Breath._working += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        Breath._working -= 1

    async def take(self) -> None:
        """Lets others go first once its part of the time is used up. To be called often."""
        if perf_counter() - self._since > SHARED_SECONDS / Breath._working:
            await asyncio.sleep(0)
            self._since = perf_counter()


class Round:
    """One round of the event loop, and how much of it is used up by pieces of work of some milliseconds.

    A hundred sessions whose turns end together would keep the loop for as long as all of their pieces take. So only as many are done in a
    round as fit in `SHARED_SECONDS`, and at least one; the others come in the next rounds, in the order in which they asked.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._began = 0.0

    async def has_room(self) -> None:
        """Waits for a round that has room for a piece of work."""
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
"""The present round: there is one loop, which all sessions share."""


class Background:
    """Work that is done beside everything else. A failure in it goes to the server's log."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def keep(self, work: Coroutine[None, None, None]) -> None:
        """Runs the work until it is done, or until `close`."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def close(self) -> None:
        """Cancels what still runs, and waits for its end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("background work failed", exc_info=task.exception())


@dataclass(slots=True)
class ValuesMade:
    """How many values are made. Whoever learns that only by making them sets it then."""

    values: int


@contextmanager
def uncollected(values: int = MANY) -> Generator[ValuesMade]:
    """Lets the garbage collector rest while that many values are made, and has it never walk again what there is by then: also what is
    garbage then stays until `collect_all`. If the values are fewer than `MANY`, or making them fails, the collector does as always."""
    made = ValuesMade(values)
    if values < MANY:
        yield made
        return
    gc.disable()
    try:
        yield made
        if made.values >= MANY:
            gc.freeze()
    finally:
        gc.enable()


def collect_all() -> None:
    """Frees all values that only refer to each other, also those that the collector was not to walk. What lives stays spared."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


async def patiently(call: Callable[[], Awaitable[_T]]) -> _T:
    """Makes a call, and makes it again while another program has the log locked; gives what the call gives. Raises `StoreBusy` if the log
    is not free in time, and whatever else the call raises."""
    for _ in range(PATIENCE):
        try:
            return await call()
        except StoreBusy:
            await asyncio.sleep(AGAIN_SECONDS)
    return await call()


async def patiently_at_once(call: Callable[[], _T]) -> _T:
    """Makes a call as `patiently` does, if the call is quick enough for the event loop."""

    async def made() -> _T:
        return call()

    return await patiently(made)


async def to_its_end(work: Coroutine[None, None, _T]) -> _T:
    """Does the work although the task is cancelled meanwhile. The cancel takes effect afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # asyncio would complain if nobody looked at it
        raise cancelled
    return task.result()


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call of the method that keeps nothing alive: a session that was let go of is not held by a clock."""
    reference = WeakMethod(method)

    def call() -> None:
        bound = reference()
        if bound is not None:
            bound()

    return call


def call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Has the event loop make a call, from any thread. Does nothing if the loop was closed."""
    with suppress(RuntimeError):  # it was closed by now
        loop.call_soon_threadsafe(call)

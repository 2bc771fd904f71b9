"""The draft of a compaction that is made in the background, so that nobody waits for its summary when the threshold is reached."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

from ullage.context.compaction.draft import Draft, NothingToCompact, PolicyFailed

logger = logging.getLogger(__name__)


class Preparation:
    """At most one draft of one session: none, in work, ready or failed. Whether one serves is judged in `context/compaction/ahead.py`."""

    def __init__(self, done: Callable[[], None]) -> None:
        """`done` is called when one is ready or has failed."""
        self._told_done = done
        self._task: asyncio.Task[Draft] | None = None
        self._then: Callable[[], None] | None = None

    @property
    def begun(self) -> bool:
        """Whether one is in work, ready or has failed."""
        return self._task is not None

    def outcome(self) -> Draft | BaseException | None:
        """The draft that is ready, or why there is none; None where one is in work or none was begun."""
        task = self._task
        if task is None or not task.done():
            return None
        if task.cancelled():
            return asyncio.CancelledError()
        return task.exception() or task.result()

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins one. There is none before."""
        self._task = asyncio.create_task(work, name="prepare a compaction")
        self._task.add_done_callback(self._done)

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls back once the draft in work is ready or has failed; the last one who asked is called, once."""
        self._then = then

    def _done(self, task: asyncio.Task[Draft]) -> None:
        then, self._then = self._then, None
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, NothingToCompact | PolicyFailed):
            logger.warning("a compaction could not be prepared", exc_info=error)
        self._told_done()
        if then is not None:
            then()

    async def take(self) -> Draft | None:
        """The draft, waited for where it is in work, and not kept; None where there is none, it failed or it was given up meanwhile."""
        task = self._task
        if task is None:
            return None
        await asyncio.wait({task})
        if self._task is not task:
            return None
        self._task = None
        # After a failure the caller makes a draft of its own, and meets the same trouble where it can be told.
        return None if task.cancelled() or task.exception() is not None else task.result()

    def drop(self) -> Draft | None:
        """Ends what is in work, and keeps none; gives the one that was ready."""
        self._then = None
        task, self._task = self._task, None
        if task is None:
            return None
        task.cancel()
        return task.result() if task.done() and not task.cancelled() and task.exception() is None else None

    async def ended(self, drop: Callable[[], None]) -> None:
        """Has it dropped; what was in work has ended when this returns."""
        task = self._task
        drop()
        if task is not None:
            await asyncio.wait({task})

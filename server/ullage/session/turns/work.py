"""One thing at a time is done for a session: a turn, a compaction, or going back to a checkpoint. It runs as a task, and can be stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Literal, TypeVar

from ullage.session.errors import SessionError

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class Work:
    """The one thing that is being done for one session, as a task."""

    def __init__(self, session_id: str, done: Callable[[bool], None]) -> None:
        self._session_id = session_id
        self._done = done
        self._task: asyncio.Task[bool] | None = None
        self.ending: Literal["cancelled", "interrupted"] = "cancelled"
        """What a cancel means: the user stopped it, or the session is closed."""
        self._is_over = False

    @property
    def is_running(self) -> bool:
        """Whether anything is being done."""
        return self._task is not None

    @property
    def can_begin(self) -> bool:
        """Whether something may be begun: nothing is being done, and the session is open."""
        return self._task is None and not self._is_over

    def refuse_if_over(self) -> None:
        """Raises `SessionError` if the session is closed: a turn would write into a log that is no longer its own."""
        if self._is_over:
            raise SessionError("unknown_session", f"The session {self._session_id} is not open")

    def begin(self, work: Coroutine[None, None, bool]) -> None:
        """Begins a piece of work, which gives whether it went well. Raises `RuntimeError` if something is being done already, or the
        session is closed."""
        if not self.can_begin:
            raise RuntimeError("something is being done already, or the session is closed")
        self.ending = "cancelled"
        self._task = asyncio.create_task(work, name=f"session {self._session_id}")
        self._task.add_done_callback(self._ended)

    async def do(self, work: Coroutine[None, None, _T]) -> _T:
        """Does the work as the one thing, and gives what came of it once nothing is being done any more. The queue goes on after it. Raises
        what the work raises, and `RuntimeError` as `begin` does."""
        told: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self.begin(_telling(told, work))
        return await told

    def cancel(self) -> None:
        """Stops what is being done, for the user; does nothing if nothing is."""
        if self._task is not None:
            self.ending = "cancelled"
            self._task.cancel()

    async def close(self) -> None:
        """Interrupts what is being done, and waits for its end. Nothing can begin any more."""
        self._is_over = True
        if self._task is not None:
            self.ending = "interrupted"
            self._task.cancel()
            await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[bool]) -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("session %s: work failed", self._session_id, exc_info=error)
        self._done(not self._is_over and not task.cancelled() and error is None and task.result())


async def _telling(told: asyncio.Future[_T], work: Coroutine[None, None, _T]) -> bool:
    """Does the work, and gives what comes of it to whoever asked for it, once the task has ended. True: the queue goes on after it."""

    def tell(task: asyncio.Task[_T]) -> None:
        error = task.exception()
        if told.done():
            return
        if error is not None:
            told.set_exception(error)
        else:
            told.set_result(task.result())

    task = asyncio.ensure_future(work)
    await asyncio.wait({task})
    asyncio.get_running_loop().call_soon(tell, task)
    return True

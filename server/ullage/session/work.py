"""One thing at a time that is done for a session, and how it is ended. What it is, is the business of `session.py`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Literal

logger = logging.getLogger(__name__)


class Work:
    """A turn or a compaction of one session, as a task.

    `done` is called after each, whatever became of it, with whether it went well: only then does the queue go on.
    """

    def __init__(self, session_id: str, done: Callable[[bool], None]) -> None:
        self._session_id = session_id
        self._done = done
        self._task: asyncio.Task[bool] | None = None
        self.ending: Literal["cancelled", "interrupted"] = "cancelled"
        """What a cancel means: the user stopped it, or the session is closed."""

    @property
    def is_running(self) -> bool:
        """Whether anything is being done."""
        return self._task is not None

    def begin(self, work: Coroutine[None, None, bool]) -> None:
        """Begins; nothing may be running. `work` gives whether it went well."""
        if self._task is not None:
            raise RuntimeError("something is being done already")
        self.ending = "cancelled"
        self._task = asyncio.create_task(work, name=f"session {self._session_id}")
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """The user stops what is being done; nothing happens where nothing is."""
        if self._task is not None:
            self.ending = "cancelled"
            self._task.cancel()

    async def close(self) -> None:
        """Interrupts what is being done, and waits for its end."""
        while self._task is not None:  # what ended well just now may have been followed by the next prompt
            self.ending = "interrupted"
            self._task.cancel()
            await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[bool]) -> None:
        """Called even where the task was cancelled before it began."""
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("session %s: work failed", self._session_id, exc_info=error)
        self._done(not task.cancelled() and error is None and task.result())

"""A compaction prepared in the background, so that nobody waits for its summary when the line is reached.

nothing ──start──► working ──► ready ──take──► nothing
                      └──(failed, or the epoch changed)──► nothing
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from ullage.session.compacting.draft import Draft


class Preparation:
    """At most one draft of one session, in work or ready."""

    def __init__(self, still_fits: Callable[[Draft], bool], discarded: Callable[[Draft], None], done: Callable[[], None]) -> None:
        """`discarded` is told of each draft that was ready and is thrown away; `done` is called when one is ready or has failed."""
        self._told_done = done
        self._still_fits = still_fits
        self._discarded = discarded
        self._task: asyncio.Task[Draft] | None = None
        self._then: Callable[[], None] | None = None

    @property
    def begun(self) -> bool:
        """Whether a draft is in work or ready."""
        return self._task is not None

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins a draft. One in work is given up."""
        self.give_up()
        self._task = asyncio.create_task(work, name="prepare a compaction")
        self._task.add_done_callback(self._done)

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls back once the draft in work is ready or has failed; the last one who asked is called, once."""
        self._then = then

    def _done(self, task: asyncio.Task[Draft]) -> None:
        then, self._then = self._then, None
        if task.cancelled():
            return
        task.exception()  # told where it was raised
        self._told_done()
        if then is not None:
            then()

    def ready(self) -> bool:
        """Whether a draft is ready and still speaks of the epoch in force. One that does not is given up."""
        task = self._task
        if task is None or not task.done():
            return False
        if task.cancelled() or task.exception() is not None or not self._still_fits(task.result()):
            self.give_up()
            return False
        return True

    def look(self) -> Draft | None:
        """The draft that is ready; it stays."""
        return self._task.result() if self._task is not None and self.ready() else None

    async def take(self) -> Draft | None:
        """The draft, waited for where it is in work; None where there is none or it failed."""
        task = self._task
        if task is None:
            return None
        await asyncio.wait({task})
        if self._task is not task:
            return None  # given up meanwhile
        self._task = None
        if task.cancelled() or task.exception() is not None:
            return None  # the caller makes a draft of its own and meets the same trouble where it can be told
        draft = task.result()
        if self._still_fits(draft):
            return draft
        self._discarded(draft)
        return None

    def give_up(self) -> None:
        """Ends what is in work and throws away what is ready."""
        self._then = None
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        if task.done() and not task.cancelled() and task.exception() is None:
            self._discarded(task.result())

    async def close(self) -> None:
        """The same; what was in work has ended when it returns."""
        task = self._task
        self.give_up()
        if task is not None:
            await asyncio.wait({task})

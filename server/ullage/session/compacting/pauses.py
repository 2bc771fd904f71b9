"""Compacting in a pause, when no turn runs: while the user edits, or just before the prompt cache goes cold.

While the user edits near the threshold, the next prompt would have to wait. The summary is prepared at the first keystroke. The compaction
is made at a pause in typing: it reads again what the user edits, and a half-written line is not what they mean.

Before the cache goes cold it is made only where that saves (`saving.py`). Whoever comes back later has the whole context written to the
cache anew. Less of it is cheaper, and the cache still serves the summary now. That is written in the background: a prompt which comes
meanwhile does not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ullage.session.compacting.controller import CompactionController

PAUSE_SECONDS = 1.5
"""About a thought's length."""


def later(seconds: float, then: Callable[[], None]) -> asyncio.TimerHandle:
    """Calls back in so many seconds."""
    return asyncio.get_running_loop().call_later(seconds, then)


class WhileEditing:
    """Waits for the moment to compact one session. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, controller: CompactionController, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._controller = controller
        self._is_idle = is_idle
        self._compact = compact
        self._pause: asyncio.TimerHandle | None = None

    def user_edits(self) -> None:
        """The user typed: where the next turn would cross the threshold, the compaction is prepared, and made when they pause."""
        if not self._is_wanted():
            return
        self._controller.prepare()
        self.give_up()
        self._pause = later(PAUSE_SECONDS, self._paused)

    def give_up(self) -> None:
        """Nothing is waited for any more."""
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _paused(self) -> None:
        self._pause = None
        self._compact_when_prepared()

    def _compact_when_prepared(self) -> None:
        if self._pause is not None or not self._is_wanted():
            return
        if self._controller.making.ahead.ready():
            self._compact()
        else:
            self._controller.prepare()
            self._controller.preparation.when_done(self._compact_when_prepared)

    def _is_wanted(self) -> bool:
        return self._is_idle() and self._controller.wants_idle_compaction()


class Cooling:
    """Waits for that moment in one session. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, controller: CompactionController, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._controller = controller
        self._is_idle = is_idle
        self._compact = compact
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The session has become idle. The cache has been cooling since the last request started."""
        self.give_up()
        self._timer = later(self._controller.cools_in(), self._cooled)

    def give_up(self) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cooled(self) -> None:
        self._timer = None
        if self._is_idle() and self._controller.prepare_in_pause():
            self._compact_when_prepared()

    def _compact_when_prepared(self) -> None:
        if not self._is_idle():
            return  # somebody asks again: what is prepared serves when it is needed
        if self._controller.making.ahead.ready():
            if self._controller.saves_in_pause():  # the user may have put it off meanwhile, or the cache has gone
                self._compact()
        elif self._controller.preparation.begun:
            self._controller.preparation.when_done(self._compact_when_prepared)

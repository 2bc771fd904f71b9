"""Compacting while nobody asks anything, just before the prompt cache goes cold, where that saves.

Whoever comes back later has the whole context written to the cache anew; less of it is cheaper, and now the cache still serves the
summary. That is written in the background: a prompt which comes meanwhile does not wait for it. Whether it pays is known in `saving.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ullage.context.economy import COOLING_SECONDS
from ullage.session.compacting.room import Room


class Cooling:
    """Waits for that moment in one session. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, room: Room, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._room = room
        self._is_idle = is_idle
        self._compact = compact
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The session has become idle. The cache has been cooling since the last request started."""
        self.give_up()
        seconds = max(0.0, COOLING_SECONDS - self._room.since_last_request())
        self._timer = asyncio.get_running_loop().call_later(seconds, self._cooled)

    def give_up(self) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cooled(self) -> None:
        self._timer = None
        if self._is_idle() and self._room.saves_in_pause():
            self._room.prepare_in_pause()
            self._compact_when_prepared()

    def _compact_when_prepared(self) -> None:
        if not self._is_idle():
            return  # somebody asks again: what is prepared serves when it is needed
        if self._room.preparation.ready():
            if self._room.saves_in_pause():  # the user may have put it off meanwhile
                self._compact()
        elif self._room.preparation.begun:
            self._room.preparation.when_done(self._compact_when_prepared)

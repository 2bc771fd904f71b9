"""Compacting while the user edits and no turn runs, so that the next prompt does not have to wait.

What is written of it can be prepared at the first keystroke. It is made at a pause in typing: it reads again what the user
edits, and a half-written line is not what they mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ullage.session.compacting.room import Room

PAUSE_SECONDS = 1.5
"""About a thought's length."""


class WhileEditing:
    """Waits for the moment to compact one session. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, room: Room, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._room = room
        self._is_idle = is_idle
        self._compact = compact
        self._pause: asyncio.TimerHandle | None = None

    def user_edits(self) -> None:
        """The user typed: where the next turn would cross the line, the compaction is prepared, and made when they pause."""
        if not self._is_wanted():
            return
        self._room.prepare()
        self.give_up()
        self._pause = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._paused)

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
        if self._room.preparation.ready():
            self._compact()
        else:
            self._room.prepare()
            self._room.preparation.when_done(self._compact_when_prepared)

    def _is_wanted(self) -> bool:
        return self._is_idle() and self._room.wants_idle_compaction()

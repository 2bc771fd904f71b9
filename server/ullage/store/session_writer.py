"""Writing to sessions, each of which one process writes, in transactions that are on disk when the call returns.

Where another program has the log locked, what is written waits beside it, on disk, too (`waiting.py`). The numbers of the entries go on
meanwhile: only the process that claimed a session gives any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from ullage.context.entries import Entry, Logged
from ullage.store import folder as ullage_folder
from ullage.store.errors import ForeignSession, SessionInUse, StoreBusy, StoreFailed
from ullage.store.log_file import LogFile
from ullage.store.origins import is_foreign
from ullage.store.other_windows import Claims
from ullage.store.statements import add_after, last_given, last_in_file, numbered, row_of
from ullage.store.waiting import Beside, Waiting, WaitingRows, take_in

_T = TypeVar("_T")


class SessionWriter:
    """What this process writes in the sessions of one log, and what of it waits."""

    def __init__(self, file: LogFile, folder: Path | None) -> None:
        self._file = file
        self.claims = Claims(folder)
        self.beside = Beside(None, file.tell)
        self._last_seq: dict[str, int] = {}
        self._to_be_released: set[str] = set()
        place = None if folder is None else ullage_folder.waiting(folder)
        self._waits = WaitingRows(place, self._take_in, self._taken_in, lambda text: file.tell(text))

    def claim(self, session_id: str) -> None:
        """Makes this process the one that writes the session. Raises `SessionInUse` where another one is."""
        self._to_be_released.discard(session_id)
        if self.claims.take(session_id):
            self._waits.claimed(session_id)

    def release(self, session_id: str) -> None:
        """Lets another process write the session; where something of it still waits for the log, as soon as that is in it."""
        if self._waits.of(session_id):
            self._to_be_released.add(session_id)
            return
        self._last_seq.pop(session_id, None)
        self.claims.give_back(session_id)

    def stop_waiting(self) -> None:
        """What still waits stays in its file, for whoever claims the session next."""
        self._waits.close()

    def release_all(self) -> None:
        """Lets go of all sessions."""
        for session_id in self.claims:
            self.release(session_id)

    def take_in_all(self) -> None:
        """What a process that ended wrote while the log was locked."""
        for session_id in (each for each in self._waits.left_behind() if each not in self.claims):
            with suppress(StoreFailed):  # another window writes the session, or it was deleted
                self.claim(session_id)
                self.release(session_id)

    def waiting_of(self, session_id: str) -> Waiting:
        """What waits of that session."""
        return self._waits.of(session_id)

    def forget_waiting(self, session_id: str) -> None:
        """The session was deleted."""
        self._waits.forget(session_id)

    def stands_at(self, session_id: str, seq: int) -> None:
        """The session was read, or made, up to that seq: who finds another one there has written since."""
        self._last_seq[session_id] = seq

    def append(self, session_id: str, entries: Sequence[Entry], at: float) -> list[Logged]:
        """Adds entries at the end, all or none. Raises `SessionInUse`, `UnknownSession`."""

        def wait(last: int) -> tuple[Waiting, list[Logged]]:
            logged = numbered(last, entries, at)
            return Waiting(entries=[row_of(session_id, each) for each in logged]), logged

        return self.write(
            session_id, "save what was said", lambda connection, last: add_after(connection, session_id, last, entries, at), wait
        )

    def write(
        self, session_id: str, action: str, work: Callable[[sqlite3.Connection, int], _T], wait: Callable[[int], tuple[Waiting, _T]]
    ) -> _T:
        """A transaction on one session, whose writer this process becomes; `work` gets the last seq before it. Where another program has
        the log locked, what `wait` makes of the same is kept until it is free."""
        if is_foreign(session_id):
            raise ForeignSession(session_id)

        def change(connection: sqlite3.Connection) -> tuple[_T, int, int]:
            last = last_given(connection, session_id)
            if self._last_seq.get(session_id, last) != last:
                raise SessionInUse(session_id)  # written since we loaded it
            done = work(connection, last)
            return done, last, max(last, last_in_file(connection, session_id))

        self.claim(session_id)
        if not self._waits.of(session_id):
            try:
                done, last, reached = self._file.change(action, change)
            except StoreBusy:
                if session_id not in self._last_seq or not self._waits.can_wait:
                    raise
            else:
                self._has_come_to(session_id, reached)
                self.beside.add(session_id, lambda: wait(last)[0])
                return done
        last = self._last_seq[session_id]
        waiting, done = wait(last)
        self._waits.keep(session_id, waiting)
        self._last_seq[session_id] = last + len(waiting.entries)
        return done

    def change_now(self, session_id: str, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """A transaction that needs no seq. None where something of the session waits, or the log is locked and this process writes the
        session: then it has to wait, too (`keep`)."""
        if self._waits.of(session_id):
            return None
        try:
            return self._file.change(action, work)
        except StoreBusy:
            if session_id not in self.claims or not self._waits.can_wait:
                raise
            return None

    def keep(self, session_id: str, waiting: Waiting) -> None:
        """Has it wait for the log; on disk when it returns. Raises `StoreFailed`."""
        self._waits.keep(session_id, waiting)

    def _has_come_to(self, session_id: str, reached: int) -> None:
        if self._last_seq.get(session_id) != reached:
            self._last_seq[session_id] = reached
            self._file.last_rows.logged(session_id, reached)

    def _take_in(self, session_id: str, waiting: Waiting) -> None:
        self._file.change("save what was said", lambda connection: take_in(connection, session_id, waiting))
        if waiting.entries:
            self._file.last_rows.logged(session_id, waiting.entries[-1].seq)
        for row in waiting.still_queued(()):
            self._file.last_rows.queued(session_id, row.id.decode())

    def _taken_in(self, session_id: str) -> None:
        if session_id in self._to_be_released:
            self._to_be_released.discard(session_id)
            self.release(session_id)

"""What is in memory of the sessions that are open. Where the rows of a log went into another file and some are missing there, they are
added from memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ullage.context.entries import Logged
from ullage.store import reading
from ullage.store.adding import SessionRecord, add_session, row_of
from ullage.store.last_rows import LastRows
from ullage.store.recovery import add_entries, keep_lost


@dataclass(frozen=True, slots=True)
class Held:
    """A session that is open: all that is in memory of it."""

    session_id: str
    title: str
    entries: Sequence[Logged]


class HeldSessions:
    """Those of one log; `tell` says which they are."""

    def __init__(self) -> None:
        self.tell: Callable[[], Iterable[Held]] = tuple

    def restore(self, connection: sqlite3.Connection, last_rows: LastRows) -> None:
        """Adds what is missing of them in that database."""
        for held in self.tell():
            last = held.entries[-1].seq if held.entries else 0
            there = {row.seq for row in reading.some(connection, held.session_id, 0, last) if row.is_whole}
            missing = [logged for logged in held.entries if logged.seq not in there]
            if missing:
                _restore(connection, held, missing)
                last_rows.logged(held.session_id, missing[-1].seq)


def _restore(connection: sqlite3.Connection, held: Held, missing: Sequence[Logged]) -> None:
    session_id = held.session_id
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is None:
            add_session(connection, SessionRecord(session_id, held.title, missing[0].at, missing[-1].at))
        for logged in missing:
            connection.execute("DELETE FROM entry WHERE session_id = ? AND seq = ?", (session_id, logged.seq))
        add_entries(connection, (row_of(session_id, logged) for logged in missing))
        lost = reading.known_to_be_lost(connection, session_id) - {logged.seq for logged in missing}
        keep_lost(connection, session_id.encode(), lost)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise

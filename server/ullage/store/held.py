"""What the open sessions have in memory: where a log went into another file and rows are missing there, they are added from it.

In memory is what is in view and what is new. Older rows are only in the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ullage.context.entries import Logged
from ullage.store.last_rows import LastRows
from ullage.store.recovery import add_entries, keep_lost
from ullage.store.statements import SessionRecord, add_session, entry_rows, known_to_be_lost, row_of

_LOOKED_AT = 250
"""Rows that are looked at at one go."""


@dataclass(frozen=True, slots=True)
class Held:
    """A session that is open: what is in memory of it, in order."""

    session_id: str
    title: str
    entries: Sequence[Logged]


class HeldSessions:
    """Those of one log; `tell` says which they are."""

    def __init__(self) -> None:
        self.tell: Callable[[], Iterable[Held]] = tuple

    def restore(self, connection: sqlite3.Connection, last_rows: LastRows) -> None:
        """Adds what is missing of them in that database. Raises SQLite's errors."""
        for held in self.tell():
            there = set(_whole(connection, held))
            missing = [logged for logged in held.entries if logged.seq not in there]
            if missing:
                _restore(connection, held, missing)
                last_rows.logged(held.session_id, missing[-1].seq)


def _whole(connection: sqlite3.Connection, held: Held) -> Iterator[int]:
    """The numbers of the rows that are there as they were written, from the first to the last that is in memory."""
    if not held.entries:
        return
    after, last = held.entries[0].seq - 1, held.entries[-1].seq
    while rows := entry_rows(connection, held.session_id, after, last, _LOOKED_AT):
        yield from (row.seq for row in rows if row.is_whole)
        after = rows[-1].seq


def _restore(connection: sqlite3.Connection, held: Held, missing: Sequence[Logged]) -> None:
    session_id = held.session_id
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is None:
            add_session(connection, SessionRecord(session_id, held.title, missing[0].at, missing[-1].at))
        for logged in missing:
            connection.execute("DELETE FROM entry WHERE session_id = ? AND seq = ?", (session_id, logged.seq))
        add_entries(connection, (row_of(session_id, logged) for logged in missing))
        lost = known_to_be_lost(connection, session_id) - {logged.seq for logged in missing}
        keep_lost(connection, session_id.encode(), lost)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise

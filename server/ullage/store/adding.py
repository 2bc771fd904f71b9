"""Adding sessions and entries to the log. Statements alone; `session_writer.py` and `session_list.py` make transactions of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.entries import Entry, Logged
from ullage.store.encode import encode
from ullage.store.recovery import add_entries, make_session
from ullage.store.rows import EntryRow, SessionRow, entry_sum, updated_sum


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the list of sessions shows it. Times are Unix seconds; `updated_at` is of the last entry."""

    id: str
    title: str
    created_at: float
    updated_at: float


def add_session(connection: sqlite3.Connection, record: SessionRecord) -> None:
    """Adds a session without entries."""
    row = session_row(record)
    connection.execute(
        "INSERT INTO session (id, title, created_at, updated_at, sum, updated_sum) VALUES (?, ?, ?, ?, ?, ?)",
        (record.id, record.title, record.created_at, record.updated_at, row.sum, row.updated_sum),
    )


def session_row(record: SessionRecord) -> SessionRow:
    """The session as a row, with its sums."""
    return make_session(record.id.encode(), record.title.encode(), record.created_at, record.updated_at)


def add_after(connection: sqlite3.Connection, session_id: str, after: int, entries: Sequence[Entry], at: float) -> list[Logged]:
    """Adds entries behind seq `after`, which is the last of the session."""
    logged = numbered(after, entries, at)
    add_entries(connection, (row_of(session_id, each) for each in logged))
    if logged:
        check = updated_sum(session_id.encode(), at)
        connection.execute("UPDATE session SET updated_at = ?, updated_sum = ? WHERE id = ?", (at, check, session_id))
    return logged


def numbered(after: int, entries: Sequence[Entry], at: float) -> list[Logged]:
    """The entries with the seqs that come after that one."""
    return [Logged(seq, at, entry) for seq, entry in enumerate(entries, after + 1)]


def row_of(session_id: str, logged: Logged) -> EntryRow:
    """The entry as a row, with its sum."""
    name, body = session_id.encode(), encode(logged.entry).encode()
    return EntryRow(name, logged.seq, logged.at, body, entry_sum(name, logged.seq, logged.at, body))


def storable(title: str) -> str:
    """The title as it can be stored: half a surrogate pair cannot be, as UTF-8."""
    return title.encode("utf-8", "replace").decode("utf-8")

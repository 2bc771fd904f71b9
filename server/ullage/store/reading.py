"""Reading the entries of the log row by row: each is looked at before it is believed, and a damaged one is passed over and named.

Statements and values alone; `session_reader.py` has the file. What is said of damage quotes nothing of the row: it may be a secret.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from ullage.context.entries import Logged
from ullage.store.encode import DamagedEntry, decode
from ullage.store.errors import UnknownSession
from ullage.store.recovery import LOST, lost_of, ranges
from ullage.store.rows import EntryRow

CHANGED = "it is not what was written"
GONE = "it is no longer in the log"


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row of the log that could not be read and was passed over; it stays in the file, where it is still there."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoggedRow:
    """An entry of any session with its place in the file. `logged` is None where it could not be read."""

    row: int
    session_id: str
    logged: Logged | None


def in_words(damaged: Iterable[DamagedRow]) -> list[str]:
    """What is damaged, for the user: a sentence for each reason."""
    by_reason: dict[str, list[int]] = {}
    for row in damaged:
        by_reason.setdefault(row.reason, []).append(row.seq)
    told: list[str] = []
    for reason, seqs in by_reason.items():
        numbers = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in ranges(seqs))
        many = len(seqs) > 1
        entries = f"Entries {numbers} of this session are" if many else f"Entry {numbers} of this session is"
        told.append(f"{entries} damaged and {'were' if many else 'was'} passed over: {reason}")
    return told


def some(connection: sqlite3.Connection, session_id: str, after: int, last: int, limit: int = -1) -> list[EntryRow]:
    """The rows of a session beyond seq `after` up to `last`, at most so many."""
    rows = connection.execute(
        "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry "
        "WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (session_id, after, last, limit),
    )
    return [EntryRow(*row) for row in rows]


def of_all(connection: sqlite3.Connection, after: int, limit: int) -> list[LoggedRow]:
    """What was logged in any session after that row of the file, oldest first."""
    rows = connection.execute(
        "SELECT row, CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry WHERE row > ? ORDER BY row LIMIT ?",
        (after, limit),
    )
    return [LoggedRow(row, rest[0].decode("utf-8", "replace"), logged_or_none(EntryRow(*rest))) for row, *rest in rows]


def last_in_file(connection: sqlite3.Connection, session_id: str) -> int:
    """The last seq of a session, 0 where it has no entries. Raises `UnknownSession`."""
    row = connection.execute(
        "SELECT (SELECT max(seq) FROM entry WHERE session_id = session.id) FROM session WHERE id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        raise UnknownSession(session_id)
    return row[0] or 0


def reached(connection: sqlite3.Connection, session_id: str) -> int:
    """The last seq that was ever given in the session: no number is given again to another entry, also where the last are lost. Raises
    `UnknownSession`."""
    return max((last_in_file(connection, session_id), *known_to_be_lost(connection, session_id)))


def known_to_be_lost(connection: sqlite3.Connection, session_id: str) -> set[int]:
    """The entries of a session that are gone for good, as far as somebody has looked."""
    found = connection.execute("SELECT value FROM remembered WHERE key = ?", (LOST + session_id,)).fetchone()
    return set() if found is None else lost_of(json.loads(found[0]))


def logged_of(row: EntryRow) -> Logged:
    """The entry in a row. Raises `DamagedEntry`."""
    if not row.is_whole:
        raise DamagedEntry(CHANGED)
    return Logged(row.seq, row.at, decode(row.body))


def logged_or_none(row: EntryRow) -> Logged | None:
    """The entry in a row; None where it cannot be read."""
    try:
        return logged_of(row)
    except DamagedEntry:
        return None

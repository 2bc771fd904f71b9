"""The statements on sessions and entries: adding them to the log, and reading them row by row. The callers make transactions of them:
`session_list.py` (whole sessions), `session_writer.py` (also the queue of prompts) and `session_reader.py`.

Each row that is read is looked at before it is believed, and a damaged one is passed over and named. A message about damage quotes nothing
of the row: it may be a secret.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.context.entries import Entry, Logged
from ullage.store.encode import DamagedEntry, decode, encode
from ullage.store.errors import UnknownSession
from ullage.store.recovery import LOST, add_entries, lost_of, make_session, ranges
from ullage.store.schema import EntryRow, SessionRow, entry_sum, updated_sum

CHANGED = "it is not what was written"


GONE = "it is no longer in the log"


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the list of sessions shows it. Times are Unix seconds; `updated_at` is of the last entry."""

    id: str
    title: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row of the log that could not be read and was passed over; it stays in the file, where it is still there."""

    seq: int
    reason: str
    is_later: bool = False
    """Whether a later version of Ullage wrote it: then nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class LoggedRow:
    """An entry of any session with its place in the file. `logged` is None if it could not be read."""

    row: int
    session_id: str
    logged: Logged | None


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


def damage_in_words(damaged: Iterable[DamagedRow]) -> list[str]:
    """The damaged rows that were passed over, in words for the user: a sentence for each reason."""
    by_reason: dict[tuple[bool, str], list[int]] = {}
    for row in damaged:
        by_reason.setdefault((row.is_later, "" if row.is_later else row.reason), []).append(row.seq)
    told: list[str] = []
    for (is_later, reason), seqs in by_reason.items():
        numbers = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in ranges(seqs))
        if is_later and len(seqs) > 1:
            told.append(
                f"Entries {numbers} of this session are of a later version of Ullage and were passed over. Update Ullage to see them."
            )
        elif is_later:
            told.append(f"Entry {numbers} of this session is of a later version of Ullage and was passed over. Update Ullage to see it.")
        elif len(seqs) > 1:
            told.append(f"Entries {numbers} of this session are damaged and were passed over: {reason}")
        else:
            told.append(f"Entry {numbers} of this session is damaged and was passed over: {reason}")
    return told


def entry_rows(connection: sqlite3.Connection, session_id: str, after: int, last: int, limit: int = -1) -> list[EntryRow]:
    """The rows of a session's entries beyond seq `after` up to `last`, at most `limit` of them."""
    rows = connection.execute(
        "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry "
        "WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (session_id, after, last, limit),
    )
    return [EntryRow(*row) for row in rows]


def rows_of_all(connection: sqlite3.Connection, after: int, limit: int, size: int) -> list[LoggedRow]:
    """What was logged in any session after that row of the file, oldest first: at most `limit` rows, and none after `size` bytes."""
    found: list[LoggedRow] = []
    rows = connection.execute(
        "SELECT row, CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry WHERE row > ? ORDER BY row LIMIT ?",
        (after, limit),
    )
    for row, session_id, seq, at, body, check in rows:
        found.append(LoggedRow(row, session_id.decode("utf-8", "replace"), logged_or_none(EntryRow(session_id, seq, at, body, check))))
        size -= len(body)
        if size <= 0:
            break
    return found


def last_in_file(connection: sqlite3.Connection, session_id: str) -> int:
    """The last seq of a session, 0 if it has no entries. Raises `UnknownSession`."""
    row = connection.execute(
        "SELECT (SELECT max(seq) FROM entry WHERE session_id = session.id) FROM session WHERE id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        raise UnknownSession(session_id)
    return row[0] or 0


def last_given(connection: sqlite3.Connection, session_id: str) -> int:
    """The last seq that was ever given in the session: no number is given again to another entry, also where the last are lost. Raises
    `UnknownSession`."""
    return max((last_in_file(connection, session_id), *known_to_be_lost(connection, session_id)))


def known_to_be_lost(connection: sqlite3.Connection, session_id: str) -> set[int]:
    """The seqs of a session's entries that are gone for good, as far as somebody has looked."""
    found = connection.execute("SELECT value FROM remembered WHERE key = ?", (LOST + session_id,)).fetchone()
    return set() if found is None else lost_of(json.loads(found[0]))


def logged_of(row: EntryRow) -> Logged:
    """The entry in a row. Raises `DamagedEntry`."""
    if not row.is_whole:
        raise DamagedEntry(CHANGED)
    return Logged(row.seq, row.at, decode(row.body))


def logged_or_none(row: EntryRow) -> Logged | None:
    """The entry in a row; None if it cannot be read."""
    try:
        return logged_of(row)
    except DamagedEntry:
        return None

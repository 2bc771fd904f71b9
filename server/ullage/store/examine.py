"""Looking at a database file before it is believed: its header, its pages, its write-ahead log, and what is to be in it."""

from __future__ import annotations

import json
import sqlite3
import struct
from pathlib import Path

from ullage.store.last_rows import Known
from ullage.store.pages import DEFAULT_PAGE, wal_frames
from ullage.store.recovery import LOST, lost_of
from ullage.store.schema import SessionRow, ValueRow

CHECKED_BYTES = 64 * 1024 * 1024
"""The size up to which files are checked whole when they are opened, in bytes; larger ones only where they are read."""

_MAGIC = b"SQLite format 3\x00"
_MOST_ROWS = 1 << 40
"""The largest row number that is believed: a larger one was never given."""


class Damage(Exception):
    """Something in the file is not as it was written; `str()` says what, and quotes nothing of it."""


def header_damage(path: Path) -> str:
    """What in the first 100 bytes of the file cannot be Ullage's, in words; empty if nothing is wrong.

    Some of it SQLite would take for a file that is read-only, encoded otherwise or of other pages. Call it before SQLite has the file open:
    to close a file lets go of its locks.
    """
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:  # there is none, or SQLite will say what is wrong with it
        return ""
    if not header:
        return ""
    if len(header) < 100 or not header.startswith(_MAGIC):
        return "it is damaged: it does not begin as a database does"
    page_size, write, read, reserved, most, least, leaf = struct.unpack_from(">HBBBBBB", header, 16)
    formats = struct.unpack_from(">I", header, 44)[0], struct.unpack_from(">I", header, 56)[0]
    vacuum = struct.unpack_from(">I", header, 52)[0], struct.unpack_from(">I", header, 64)[0]
    sound = (
        page_size == DEFAULT_PAGE
        and (write, read) in ((1, 1), (2, 2))
        and (reserved, most, least, leaf) == (0, 64, 32, 32)
        and formats in ((4, 1), (0, 0), (0, 1), (4, 0))
        and vacuum == (0, 0)
    )
    return "" if sound else "its header is damaged"


def damage_of(connection: sqlite3.Connection, path: Path, wal: bytes, known: Known) -> str:
    """What is wrong with a file whose schema is ours, in words; empty if nothing was found. `wal` is its write-ahead log before it was
    opened. Raises SQLite's errors."""
    if wal and _wal_was_cut(connection, path):
        return "a part of its write-ahead log is damaged"
    if path.stat().st_size <= CHECKED_BYTES:
        verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if verdict != "ok":
            return "its pages are damaged"
    return _rows_damage(connection) or _missing(connection, known)


def _wal_was_cut(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether SQLite took fewer frames than were committed: it ends at the first whose sum is wrong, without a word."""
    for _ in range(3):  # another window may begin it anew meanwhile
        try:
            frames = wal_frames(path.with_name(path.name + "-wal").read_bytes())
        except FileNotFoundError:
            return False
        busy, taken, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if busy or taken >= frames.committed:
            return False
    return True


def _rows_damage(connection: sqlite3.Connection) -> str:
    sessions = connection.execute("SELECT CAST(id AS BLOB), CAST(title AS BLOB), created_at, updated_at, sum, updated_sum FROM session")
    for row in (SessionRow(*each) for each in sessions):
        if not row.is_whole or not row.has_its_time:
            return "what it says of a session is not what was written"
    for key, value, check in connection.execute("SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered"):
        if not ValueRow(key, value, check).is_whole:
            return "something that it was to remember is not what was written"
    numbers = connection.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()[0] or 0
    if not isinstance(numbers, int) or numbers > _MOST_ROWS:
        return "its count of rows is damaged"
    return ""


def _missing(connection: sqlite3.Connection, known: Known) -> str:
    """What is known elsewhere to have been written, and is not in the file, in words; empty if all is there."""
    there: dict[str, int] = dict(
        connection.execute(
            "SELECT id, coalesce((SELECT max(seq) FROM entry WHERE session_id = session.id), 0) FROM session",
        )
    )
    for session_id, last in known.last.items():
        if session_id not in there:
            return "sessions that were in it are missing" if there else "it is empty, and there were sessions"
        if there[session_id] < last:
            value = connection.execute("SELECT value FROM remembered WHERE key = ?", (LOST + session_id,)).fetchone()
            if value is None or last not in lost_of(json.loads(value[0])):
                return "entries that were in it are missing"
    for prompt_id, session_id in known.waiting.items():
        waits = connection.execute("SELECT 1 FROM queued_prompt WHERE id = ?", (prompt_id,)).fetchone()
        if waits is None and session_id in there and not _is_logged(connection, session_id, prompt_id):
            return "a prompt that waited in it is missing"
    return ""


def _is_logged(connection: sqlite3.Connection, session_id: str, prompt_id: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM entry WHERE session_id = ? AND instr(CAST(body AS BLOB), CAST(? AS BLOB)) LIMIT 1",
        (session_id, f'"id":"{prompt_id}"'),
    )
    return found.fetchone() is not None

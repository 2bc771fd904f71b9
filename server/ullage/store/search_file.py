"""The file of the search index: its tables, and opening it. One that is not ours, is of another version or is damaged is made anew.

Nothing in an index is lost by that: it is made from the log again (`search.py`).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from ullage.store.database import connect, failing_clearly, is_damage
from ullage.store.errors import StoreFailed
from ullage.store.examine import header_damage
from ullage.store.indexed import TELLING_TABLE

_VERSION = 5
"""Raise it when the tables or what is indexed change; the index is then made again."""

_CHECKED_BYTES = 16 * 1024 * 1024
"""Indexes up to this size are checked whole when they are opened (some 10 ms a megabyte)."""

_BUSY_MILLISECONDS = 5_000
"""How long a call, which stands in a thread of its own, waits for another window's write."""

_TABLES = """
CREATE VIRTUAL TABLE passage USING fts5 (
    text, session_id UNINDEXED, seq UNINDEXED, at UNINDEXED, what UNINDEXED, tool_use_id UNINDEXED, check_sum UNINDEXED
);
CREATE TABLE result (
    tool_use_id TEXT NOT NULL, session_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tool_use_id, session_id, seq)
);
CREATE TABLE indexed (row INTEGER NOT NULL, log TEXT NOT NULL);
INSERT INTO indexed VALUES (0, '');
CREATE TABLE reached (session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);
"""
"""`session_id` and `seq` are where an entry was first logged: of the entries that forks have in common there is one, whoever is deleted.
`reached` is the last entry of a session that was taken in, `log` the log whose rows were. `check_sum` is over the text of a passage and its
place, and looked at before a hit is believed."""


def open_index(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return made_anew(None)
    with failing_clearly(f"open {path}"):
        try:
            if not header_damage(path):
                return _made(connect(str(path)), path)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if not is_damage(error):
                raise
        return made_anew(path)


def made_anew(path: Path | None) -> sqlite3.Connection:
    """An empty index: nothing in an old one cannot be made again. Raises `StoreFailed`."""
    try:
        for suffix in ("", "-wal", "-shm") if path is not None else ():
            path.with_name(path.name + suffix).unlink(missing_ok=True)  # pyright: ignore[reportOptionalMemberAccess]
    except OSError as error:
        raise StoreFailed(f"Cannot remove the damaged search index {path}: {error.strerror or error}") from error
    return _made(connect(":memory:" if path is None else str(path)), path)


def _made(connection: sqlite3.Connection, path: Path | None) -> sqlite3.Connection:
    """The connection, with our tables and no others in it. Raises SQLite's errors where they are not, or are damaged."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        if not _objects(connection):
            _make_tables(connection)
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION or _objects(connection) != _objects_of_ours():
            raise sqlite3.DatabaseError("its tables are not those of this version")
        connection.execute("COMMIT")
        if path is not None and path.stat().st_size <= _CHECKED_BYTES:
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("its pages are damaged")
            connection.execute("INSERT INTO passage (passage) VALUES ('integrity-check')")
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES.split(";\n"), TELLING_TABLE):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


@cache
def _objects_of_ours() -> frozenset[tuple[bytes, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _make_tables(connection)
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> frozenset[tuple[bytes, ...]]:
    return frozenset(
        connection.execute(
            "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema"
        )
    )

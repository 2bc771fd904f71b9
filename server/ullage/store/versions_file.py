"""The file of the versions (`versions.py`): its tables, and opening it. One that is damaged is kept under another name.

It has three tables beside the sum of what they take:

- `content`: the bytes, packed. `packed` is NULL where they were let go or found to be damaged. `named` tells that an entry of the log names
  them, or is about to.
- `seen`: what the newest scan of the workspace found, so that the next one reads only what changed since.
- `begun`: the calls that are running. What a crash cut off is found by it at the next start. One row, of no session, has in its last
  column how many commands ever began: so a window sees that one of another began and ended within its own.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from ullage.store.database import connect
from ullage.store.errors import StoreFailed

_VERSION = 1
_BUSY_MILLISECONDS = 10_000
_TABLES = """
CREATE TABLE content (
    sha256 BLOB PRIMARY KEY, size INTEGER NOT NULL, packed BLOB, kept_at REAL NOT NULL, named INTEGER NOT NULL, is_damaged INTEGER NOT NULL
);
CREATE TABLE seen (path BLOB PRIMARY KEY, stamp TEXT NOT NULL, sha256 BLOB, why TEXT NOT NULL);
CREATE TABLE begun (session_id TEXT NOT NULL, tool_use_id TEXT NOT NULL, path BLOB, sha256 BLOB, executable INTEGER NOT NULL);
CREATE TABLE total (bytes INTEGER NOT NULL);
INSERT INTO total VALUES (0)
"""


def open_versions(path: Path | None) -> sqlite3.Connection:
    """Opens the file of the versions, made for its user alone where there is none. Raises SQLite's errors, and `OSError`."""
    if path is not None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
    connection = connect(":memory:" if path is None else str(path))
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        if not _tables(connection):
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION or _tables(connection) != _our_tables():
            raise sqlite3.DatabaseError("its tables are not those of this version")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _tables(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    return frozenset(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


@cache
def _our_tables() -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        return _tables(connection)


def put_aside(path: Path) -> Path:
    """Gives a damaged file another name, and its write-ahead log with it; gives the new path. Raises `StoreFailed`."""
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    try:
        for suffix in ("-wal", "-shm", ""):
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                beside.replace(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise StoreFailed(f"Cannot rename the damaged {path}: {error.strerror or error}") from error
    return aside

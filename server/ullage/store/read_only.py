"""Opening a log for reading alone: nothing is written to it or made beside it, also while an editor has it open."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ullage.store import schema
from ullage.store.log_store import LogStore


class NoLog(Exception):
    """The file is no log of Ullage that this version can read; `str()` says why."""


def open_to_read(path: Path) -> LogStore:
    """The log in a database file (`.ullage/ullage.db`). The caller closes it. Raises `NoLog`."""
    return LogStore(_connected(path), None, None)


def _connected(path: Path) -> sqlite3.Connection:
    """One that no process has open is opened so that nothing is made beside it either."""
    beside = path.with_name(path.name + "-wal")
    query = "mode=ro" if beside.exists() else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{query}", uri=True)
        version = schema.version_of(connection)
    except sqlite3.Error as error:
        raise NoLog(f"{path} is no database that can be read: {error}") from error
    if version == schema.VERSION:
        return connection
    connection.close()
    if version > schema.VERSION:
        raise NoLog(f"{path} was written by a later version of Ullage: update Ullage to read it")
    raise NoLog(f"{path} is a database, but no log of Ullage of this version: open it in the editor once, if it is one")

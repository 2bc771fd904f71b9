"""Opening a log for reading alone: nothing is written to it or made beside it, also while an editor has it open."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ullage.store import schema
from ullage.store.database import connect, is_damage, recovered_in_memory
from ullage.store.examine import header_damage
from ullage.store.log_store import LogStore


class NoLog(Exception):
    """The file is no log of Ullage that this version can read; `str()` says why."""


def open_to_read(path: Path) -> LogStore:
    """The log in a database file. The caller closes it. Raises `NoLog`.

    Of a damaged one what can be read is in memory, and the file stays as it is.
    """
    return LogStore.of(_connected(path))


def _connected(path: Path) -> sqlite3.Connection:
    """One that no process has open is opened so that nothing is made beside it either."""
    beside = path.with_name(path.name + "-wal")
    query = "mode=ro" if beside.exists() else "mode=ro&immutable=1"
    try:
        damage = header_damage(path)
        if damage:
            raise schema.Damaged(damage)
        connection = connect(f"{path.resolve().as_uri()}?{query}", uri=True)
        version = schema.version_of(connection)
        if version <= schema.VERSION or not schema.is_later(connection):
            schema.compare(connection)
            if str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
                raise schema.Damaged("its pages are damaged")
    except schema.NotOurs as error:
        raise NoLog(f"{path} is a database, but no log of Ullage: {error}") from error
    except (schema.Damaged, sqlite3.Error, UnicodeDecodeError, OSError) as error:
        return _recovered(path, beside, error)
    if version == schema.VERSION:
        return connection
    connection.close()
    if version > schema.VERSION:
        raise NoLog(f"{path} was written by a later version of Ullage: update Ullage to read it")
    raise NoLog(f"{path} is a database, but no log of Ullage of this version: open it in the editor once, if it is one")


def _recovered(path: Path, beside: Path, why: Exception) -> sqlite3.Connection:
    if is_damage(why) or isinstance(why, schema.Damaged):
        try:
            connection = recovered_in_memory(path.read_bytes(), beside.read_bytes() if beside.exists() else b"")
        except OSError as error:
            raise NoLog(f"{path} cannot be read: {error.strerror or error}") from error
        if connection.execute("SELECT count(*) FROM session").fetchone()[0]:
            return connection
        connection.close()
    raise NoLog(f"{path} is no database that can be read: {why}") from why

"""Opening the database file: how it is set up, and what becomes of one that cannot be used.

A file that is damaged, or written by a later version, is renamed and a new one begun; nothing is ever overwritten.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ullage.store import schema
from ullage.store.errors import StoreFailed

BUSY_SECONDS = 5.0
"""How long to wait for another window's write, which takes a millisecond."""

CHECKED_BYTES = 64 * 1024 * 1024
"""Files up to this size are checked whole when they are opened (0.1 s at most); larger ones only where they are read."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A database file that could not be used and lies beside the new one. `reason` is for the user."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return self.reason


class _Unusable(Exception):
    """`str()` says why; `word` stands in the new name of the file."""

    def __init__(self, reason: str, word: str) -> None:
        super().__init__(reason)
        self.word = word


def open_memory() -> sqlite3.Connection:
    """A database that ends with the process."""
    connection = _connect(":memory:")
    schema.migrate(connection)
    return connection


def open_file(path: Path) -> tuple[sqlite3.Connection, SetAside | None]:
    """The database at that path, made where there is none. Raises `StoreFailed`.

    The second value says so where the file that was there had to be set aside.
    """
    try:
        return _open_usable(path), None
    except _Unusable as error:
        set_aside = _set_aside(path, error)
    return _open_usable(path), set_aside


@contextmanager
def failing_clearly(action: str) -> Generator[None]:
    """Turns SQLite's errors into a `StoreFailed` that says what could not be done."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreFailed(f"Cannot {action}: {error}") from error


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _open_usable(path: Path) -> sqlite3.Connection:
    with failing_clearly(f"open {path}"):
        connection = _connect(str(path))
        try:
            _make_usable(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _make_usable(connection: sqlite3.Connection, path: Path) -> None:
    try:
        version = schema.version_of(connection)
        if version > schema.VERSION:
            _fold_into_one_file(connection, path)
            raise _Unusable("it was written by a later version of Ullage", "later")
        if path.stat().st_size <= CHECKED_BYTES:
            _check(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if version < schema.VERSION:
            schema.migrate(connection)
    except sqlite3.OperationalError:
        raise  # locked, read-only, full: the file itself may be sound
    except sqlite3.DatabaseError as error:
        raise _Unusable(f"it is damaged ({error})", "damaged") from error


def _check(connection: sqlite3.Connection) -> None:
    verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


def _fold_into_one_file(connection: sqlite3.Connection, path: Path) -> None:
    # Fails where another window has the file open: renaming it under its feet would damage it.
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        raise StoreFailed(
            f"{path} was written by a later version of Ullage, and another window has it open. "
            "Update Ullage here, or close the other window."
        ) from error


def _set_aside(path: Path, why: _Unusable) -> SetAside:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = path.with_name(f"{path.name}.{why.word}-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.{why.word}-{stamp}-{number}")
    try:
        path.rename(target)
        for suffix in ("-wal", "-shm"):
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                beside.rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise StoreFailed(f"Cannot use {path}: {why}; and it cannot be renamed: {error.strerror or error}") from error
    return SetAside(target, f"{path} could not be used: {why}. It was renamed to {target.name}.")

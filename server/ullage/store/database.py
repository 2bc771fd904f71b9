"""Opening the database file: how it is set up, how it is looked at before it is believed, and what becomes of one that is damaged.

What can be read of a damaged file goes into a fresh one in its place (`recovery.py`); the damaged one, one that is not ours and one of a
later version are kept beside it under another name. Nothing is ever overwritten.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ullage.platforms import moving
from ullage.store import schema
from ullage.store.copying import RowsInMemory, copy
from ullage.store.errors import StoreBusy, StoreFailed
from ullage.store.examine import Damage, damage_of, header_damage
from ullage.store.last_rows import Known, LastRows
from ullage.store.recovery import Recovered, keep_lost, recover
from ullage.store.schema import add_functions
from ullage.store.shared_files import HeldElsewhere, SystemLock

BUSY_SECONDS = 0.05
"""How long a call waits for another window's write, which takes a millisecond. It may stand in the event loop, so it is short; what takes
longer is waited for elsewhere (`waiting.py`)."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_OF_THE_DISK = (
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_AUTH,
)
_IOERR_SHORT_READ = sqlite3.SQLITE_IOERR | 2 << 8


@dataclass(frozen=True, slots=True)
class SetAside:
    """A database file that could not be used as it was; it lies beside the one in its place. `found` is what could be read of it."""

    path: Path
    why: str
    found: Recovered | None = None

    @property
    def reason(self) -> str:
        """Why the file could not be used, and what could be read of it, in words for the user."""
        if self.found:
            return f"{self.why} What is left of it is in a new file: {self.found.in_words()}."
        lost = 0 if self.found is None else len(self.found.lost_sessions)
        return f"{self.why} Nothing could be read of its {lost:,} sessions." if lost else self.why

    def __str__(self) -> str:
        return self.reason


class _Unusable(Exception):
    """The file cannot be used as it is; `str()` says why. `word` stands in its new name. `can_be_read` where rows may be looked for in
    it."""

    def __init__(self, reason: str, word: str, *, can_be_read: bool) -> None:
        super().__init__(reason)
        self.word = word
        self.can_be_read = can_be_read


TEMPORARY = ""
"""Stands in the place of a path for a file of SQLite's own in the folder for temporary files, which nobody else sees, and which is gone
when it is closed. Until it is larger than SQLite's cache it lies in memory."""


def open_memory(path: str = ":memory:") -> sqlite3.Connection:
    """Opens a database that ends with the process; with `TEMPORARY` one that may be larger than memory."""
    connection = connect(path)
    schema.migrate(connection)
    return connection


def open_file(path: Path, last_rows: LastRows | None = None) -> tuple[sqlite3.Connection, SetAside | None]:
    """Opens the database at that path, and makes it where there is none. Raises `StoreFailed`, and `StoreBusy` where another program has it
    locked.

    The second value says so where the file that was there could not be used as it was; else it is None. `last_rows` says what is to be in
    it.
    """
    last_rows = last_rows or LastRows(None)
    with _one_opens(path):
        _finish_exchange(path)
        known = last_rows.read()
        wal = _bytes(_beside(path, "-wal"))
        try:
            return _open_usable(path, wal, known), None
        except _Unusable as error:
            unusable = error
        set_aside = _replace(path, wal, known, unusable, last_rows)
        return _open_usable(path, b"", Known()), set_aside


def mend_file(path: Path, reason: str, wal: bytes, last_rows: LastRows) -> tuple[sqlite3.Connection, SetAside]:
    """Puts a fresh database in the place of a file that was found to be damaged while it was open, and opens it; the caller has closed the
    damaged one. `wal` is its write-ahead log as it was before. Raises as `open_file` does."""
    with _one_opens(path):
        set_aside = _replace(path, wal, last_rows.read(), _Unusable(reason, "damaged", can_be_read=True), last_rows)
        return _open_usable(path, b"", Known()), set_aside


def recovered_in_memory(database: bytes, wal: bytes) -> sqlite3.Connection:
    """A database in memory with what can be read of those bytes."""
    connection = open_memory()
    _fill(connection, recover(database, wal, Known()))
    return connection


def is_damage(error: BaseException) -> bool:
    """Whether an error tells of damage in the file, and not of a lock, a full disk or the like."""
    if isinstance(error, UnicodeDecodeError):
        return True  # SQLite's own message could not be decoded: it quotes what is in the file
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, Damage)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return False  # only tests have triggers
    return code == _IOERR_SHORT_READ or (code & 0xFF not in (*_BUSY, *_OF_THE_DISK))


@contextmanager
def failing_clearly(action: str) -> Generator[None]:
    """Turns SQLite's errors into a `StoreFailed` that says what could not be done; where the file is locked, a `StoreBusy`."""
    try:
        yield
    except sqlite3.Error as error:
        kind = StoreBusy if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY else StoreFailed
        raise kind(f"Cannot {action}: {error}") from error
    except UnicodeDecodeError as error:
        raise StoreFailed(f"Cannot {action}: the file is damaged") from error


def connect(path: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection that believes nothing of the file beyond its rows: no function in a schema is run, no text fails to be decoded."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=uri)
    connection.text_factory = _decoded
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what the user deleted is not found by who looks for rows in damaged pages
    if hasattr(connection, "setconfig"):  # from Python 3.12 on
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    add_functions(connection)
    return connection


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextmanager
def _one_opens(path: Path) -> Generator[None]:
    """Lets one process at a time look at the file and put another in its place."""
    try:
        lock = SystemLock(_beside(path, ".opening"), wait=BUSY_SECONDS)
    except HeldElsewhere as error:
        raise StoreBusy(f"Cannot open {path}: another window is opening it") from error
    try:
        yield
    finally:
        lock.release()


def _open_usable(path: Path, wal: bytes, known: Known) -> sqlite3.Connection:
    with failing_clearly(f"open {path}"):
        damage = header_damage(path)
        if damage:
            raise _Unusable(damage, "damaged", can_be_read=True)
        connection = connect(str(path))
        try:
            _make_usable(connection, path, wal, known)
        except BaseException:
            connection.close()
            raise
    return connection


def _make_usable(connection: sqlite3.Connection, path: Path, wal: bytes, known: Known) -> None:
    try:
        if schema.is_later(connection):
            _fold_into_one_file(connection, path)
            raise _Unusable("it was written by a later version of Ullage", "later", can_be_read=False)
        schema.compare(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if schema.version_of(connection) < schema.VERSION:
            schema.migrate(connection)
        damage = damage_of(connection, path, wal, known)
    except schema.NotOurs as error:
        raise _Unusable(f"it is no log that Ullage wrote: {error}", "foreign", can_be_read=False) from error
    except schema.Damaged as error:
        raise _Unusable(f"it is damaged: {error}", "damaged", can_be_read=True) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_damage(error):
            raise
        raise _Unusable(f"it is damaged{_why(error)}", "damaged", can_be_read=True) from error
    if damage:
        raise _Unusable(f"it is damaged: {damage}", "damaged", can_be_read=True)


def _why(error: Exception) -> str:
    return f" ({error})" if isinstance(error, sqlite3.Error) and str(error).isascii() and str(error).isprintable() else ""


def _fold_into_one_file(connection: sqlite3.Connection, path: Path) -> None:
    # Fails where another window has the file open: renaming it under its feet would damage it.
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        raise StoreFailed(
            f"{path} was written by a later version of Ullage, and another window has it open. "
            "Update Ullage here, or close the other window."
        ) from error


# Putting a fresh file in the place of one that cannot be used. It is done in steps, each of which can be the last: what was begun is
# finished at the next opening.


def _replace(path: Path, wal: bytes, known: Known, why: _Unusable, last_rows: LastRows) -> SetAside:
    """Puts what can be read of a file into a fresh one in its place, and keeps the old one beside it. Raises `StoreFailed`."""
    found = recover(_bytes(path), wal, known) if why.can_be_read else None
    aside = _free_name(path, why.word)
    mending = _beside(path, ".mending")
    try:
        mending.unlink(missing_ok=True)
        if found:
            with failing_clearly(f"write {mending}"):
                _write(mending, found)
        _keep_beside(path, wal, aside)
        if found:
            mending.replace(_beside(path, ".mended"))
            _finish_exchange(path)
        else:
            _remove(path)
    except OSError as error:
        raise StoreFailed(f"Cannot use {path}: {why}; and it cannot be renamed: {error.strerror or error}") from error
    last_rows.renew(*(found.known() if found else ({}, {})), known.deleted)
    told = f"{path} could not be used: {why}. It was renamed to {aside.name}."
    return SetAside(aside, told, found)


def _write(path: Path, found: Recovered) -> None:
    connection = connect(str(path))
    try:
        connection.execute("PRAGMA synchronous = FULL")
        _fill(connection, found)
    finally:
        connection.close()


def _fill(connection: sqlite3.Connection, found: Recovered) -> None:
    if schema.version_of(connection) < schema.VERSION:
        schema.migrate(connection)
    copy(RowsInMemory(found.rows), connection)
    for session_id, seqs in found.lost.items():
        keep_lost(connection, session_id, seqs)


def _keep_beside(path: Path, wal: bytes, aside: Path) -> None:
    if path.exists():
        try:
            os.link(path, aside)
        except OSError:  # a file system without links
            shutil.copyfile(path, aside)
    if wal:
        _beside(aside, "-wal").write_bytes(wal)


def _remove(path: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        _beside(path, suffix).unlink(missing_ok=True)


def _finish_exchange(path: Path) -> None:
    """Gives the mended file its name. The write-ahead log goes before it comes: SQLite would take it for that one's."""
    mended = _beside(path, ".mended")
    if mended.exists():
        for suffix in ("-wal", "-shm"):
            _beside(path, suffix).unlink(missing_ok=True)
        moving.replace(mended, path)


def _free_name(path: Path, word: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = path.with_name(f"{path.name}.{word}-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.{word}-{stamp}-{number}")
    return target


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _bytes(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""

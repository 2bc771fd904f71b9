"""The open database of a log: every call goes through here, in one thread at a time, and each first looks whether all is well.

Three things can become of a file while it is open, and after each the log goes on with nothing lost that could be had:
- It is no longer the one at its path (`git clean`, `rm`, another file in its place, the folder renamed). What was acknowledged would go
  into a file that nobody finds. The rows are read from the open handle and put into the file at the path.
- It is damaged. What can be read goes into a fresh file (`database.py`), and the call is made again.
- It was locked when the log was opened, so that the log is in memory. Its rows go into the file when that is free.

Where the rows went into another file and some are missing there, they are added from what is in memory of the open sessions: what is in
view and what is new. Older rows are only in the file.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from ullage.context.entries import Logged
from ullage.store import schema
from ullage.store.database import failing_clearly, is_damage, mend_file, open_file
from ullage.store.errors import StoreFailed
from ullage.store.examine import Damage, damage_of
from ullage.store.last_rows import Known, LastRows
from ullage.store.recovery import Rows, add_entries, keep_lost, make_session, pour, read_rows
from ullage.store.rows import EntryRow, entry_sum
from ullage.store.statements import SessionRecord, add_session, entry_rows, known_to_be_lost, row_of

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Standing: TypeAlias = tuple[int, int, int] | None

ELSEWHERE = " (as it went on here)"
"""Behind the title of a session that went another way in the file that took the place of ours."""


class LogFile:
    """One open database. `path` is None for one in memory, and for one that is only read."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, last_rows: LastRows) -> None:
        self.connection = connection
        self.last_rows = last_rows
        self.lock = threading.Lock()
        self._path = path
        self._stood: dict[str, _Standing] = {}
        self._note_standing()
        self.tell: Callable[[str], None] = logger.warning
        """What the user should know."""
        self.moved: Callable[[sqlite3.Connection], None] = lambda connection: None
        """Called after the rows went into another file, with the lock held."""

    def close(self) -> None:
        """Lets go of the file. What was written into one that is no longer at its path is saved first."""
        with self.lock:
            with suppress(StoreFailed):
                self._stay_in_place()
            self.connection.close()

    def read(self, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """What `work` makes of the database. It may be called twice: where it meets damage the file is mended first. Raises
        `StoreFailed`."""
        with self.lock, failing_clearly(action):
            self._stay_in_place()
            try:
                return work(self.connection)
            except (sqlite3.Error, UnicodeDecodeError, Damage) as error:
                self._mend(action, error)
            try:
                return work(self.connection)
            except Damage as error:
                raise StoreFailed(f"Cannot {action}: {error}") from error

    def change(self, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """The same in a transaction: all or nothing."""

        def in_transaction(connection: sqlite3.Connection) -> _T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                done = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise
            return done

        return self.read(action, in_transaction)

    def move_to(self, path: Path, last_rows: LastRows) -> None:
        """From memory into that file. Raises `StoreFailed`, and `StoreBusy` where it is locked; nothing has changed then."""
        with self.lock:
            before = self._path, self.last_rows
            self._path, self.last_rows = path, last_rows
            try:
                self._place_anew(path, last_rows)
            except StoreFailed:
                self._path, self.last_rows = before
                raise

    # In its place

    def _stay_in_place(self) -> None:
        if self._path is None:
            return
        now = self._standing()
        if all(_is_same(now[name], stood) for name, stood in self._stood.items()):
            self._stood = {name: standing for name, standing in now.items() if standing is not None}
            return
        if all(_is_that(now[name], stood) for name, stood in self._stood.items()):
            self._look_at_shorter_file(self._path)
            return
        logger.warning("%s is no longer the file that is open", self._path)
        self._place_anew(self._path, LastRows(None))
        self.tell(
            f"{self._path} was removed or replaced while it was open. All sessions of this window were saved into a new file at its place."
        )

    def _look_at_shorter_file(self, path: Path) -> None:
        """Files of a log only grow, but for another program that tidies them up."""
        rows: Rows | None = None
        with suppress(sqlite3.Error, UnicodeDecodeError):  # as far as SQLite still has the pages in memory
            rows = read_rows(self.connection)
        try:
            self.connection.execute("PRAGMA shrink_memory")
            damage = damage_of(self.connection, path, b"", self.last_rows.read())
        except (sqlite3.Error, UnicodeDecodeError) as error:
            damage = str(error) if is_damage(error) else ""
        if damage:
            self._mend("use the file of the sessions", Damage("it was cut off while it was open"), rows)
        self._note_standing()

    def _place_anew(self, path: Path, known: LastRows) -> None:
        """Puts the rows of the open database into the file at the path, and goes on there."""
        with failing_clearly(f"read what was in {path}"):
            rows = read_rows(self.connection)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreFailed(f"Cannot write to {path.parent}: {error.strerror or error}") from error
        with suppress(sqlite3.Error):  # where only the write-ahead log was removed, what is in it goes into the file
            self.connection.execute("PRAGMA wal_checkpoint(FULL)")
        if self._is_that_file():  # SQLite shares what it knows of a file among the connections of a process
            self.connection.close()
        connection, set_aside = open_file(path, known)
        try:
            with failing_clearly(f"write to {path}"):
                others = pour(rows, connection)
                if others:
                    pour(_under_new_ids(rows, others), connection)
                self.last_rows.renew(*_last_of(connection))
        except BaseException:
            connection.close()
            raise
        old, self.connection = self.connection, connection
        with suppress(sqlite3.Error):
            old.close()
        if set_aside is not None:
            self.tell(set_aside.reason)
        self.moved(connection)
        self._note_standing()

    def _is_that_file(self) -> bool:
        return _is_that(self._standing().get(""), self._stood.get(""))

    def _note_standing(self) -> None:
        self._stood = {name: stood for name, stood in self._standing().items() if stood is not None}

    def _standing(self) -> Mapping[str, _Standing]:
        if self._path is None:
            return {}
        return {suffix: _stat(self._path.with_name(self._path.name + suffix)) for suffix in ("", "-wal", "-shm")}

    # Damaged

    def _is_sound(self) -> bool:
        """Whether the file is what Ullage wrote: then a statement that failed was wrong, and not the file."""
        if self._path is None:
            return True
        try:
            schema.compare(self.connection)
            return not damage_of(self.connection, self._path, b"", Known())
        except (sqlite3.Error, UnicodeDecodeError, schema.NotOurs, schema.Damaged):
            return False

    def _mend(self, action: str, error: Exception, rows: Rows | None = None) -> None:
        """Puts a fresh file in its place, with what can be read of it and with those rows. Raises the error where it tells of no
        damage, and `StoreFailed` in a database that has no file."""
        if not is_damage(error) or (isinstance(error, sqlite3.IntegrityError | sqlite3.OperationalError) and self._is_sound()):
            raise error
        if self._path is None:
            raise StoreFailed(f"Cannot {action}: the file of the sessions is damaged") from error
        logger.warning("%s is damaged: %s", self._path, type(error).__name__)
        try:
            wal = self._path.with_name(self._path.name + "-wal").read_bytes()
        except OSError:
            wal = b""
        self.connection.close()
        reason = f"it is damaged: {error}" if isinstance(error, Damage) else "it is damaged"
        self.connection, set_aside = mend_file(self._path, reason, wal, self.last_rows)
        if rows is not None:
            pour(rows, self.connection)
        self.moved(self.connection)
        self._note_standing()
        self.tell(set_aside.reason)


def _stat(path: Path) -> _Standing:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size


def _is_that(now: _Standing, stood: _Standing) -> bool:
    """Whether it is that file, whatever its size."""
    return now is not None and stood is not None and now[:2] == stood[:2]


def _is_same(now: _Standing, stood: _Standing) -> bool:
    """Whether it is that file and as long as it was."""
    return now is not None and stood is not None and now[:2] == stood[:2] and now[2] >= stood[2]


def _last_of(connection: sqlite3.Connection) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """What is to be known elsewhere of a log: the last seq of each session, the prompts that wait, and that none is known to be deleted."""
    last = connection.execute("SELECT id, coalesce((SELECT max(seq) FROM entry WHERE session_id = session.id), 0) FROM session")
    waiting = connection.execute("SELECT id, session_id FROM queued_prompt")
    return dict(last), dict(waiting), ()


def _under_new_ids(rows: Rows, session_ids: Sequence[bytes]) -> Rows:
    """Those sessions as new ones, so that both of two that went different ways are kept."""
    moved = Rows()
    for session_id in session_ids:
        row, new_id = rows.sessions[session_id], secrets.token_hex(8).encode()
        moved.sessions[new_id] = make_session(new_id, row.title + ELSEWHERE.encode(), row.created_at, row.updated_at)
        moved.entries[new_id] = {seq: _of_session(entry, new_id) for seq, entry in rows.entries[session_id].items()}
    return moved


def _of_session(entry: EntryRow, session_id: bytes) -> EntryRow:
    check = entry_sum(session_id, entry.seq, entry.at, entry.body) if entry.is_whole else entry.sum
    return replace(entry, session_id=session_id, sum=check)


@dataclass(frozen=True, slots=True)
class Held:
    """A session that is open: what is in memory of it, in order."""

    session_id: str
    title: str
    entries: Sequence[Logged]


class HeldSessions:
    """Those of one log; `tell` says which they are."""

    def __init__(self) -> None:
        self.tell: Callable[[], Iterable[Held]] = tuple

    def restore(self, connection: sqlite3.Connection, last_rows: LastRows) -> None:
        """Adds what is missing of them in that database."""
        for held in self.tell():
            last = held.entries[-1].seq if held.entries else 0
            there = {row.seq for row in entry_rows(connection, held.session_id, 0, last) if row.is_whole}
            missing = [logged for logged in held.entries if logged.seq not in there]
            if missing:
                _restore(connection, held, missing)
                last_rows.logged(held.session_id, missing[-1].seq)


def _restore(connection: sqlite3.Connection, held: Held, missing: Sequence[Logged]) -> None:
    session_id = held.session_id
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is None:
            add_session(connection, SessionRecord(session_id, held.title, missing[0].at, missing[-1].at))
        for logged in missing:
            connection.execute("DELETE FROM entry WHERE session_id = ? AND seq = ?", (session_id, logged.seq))
        add_entries(connection, (row_of(session_id, logged) for logged in missing))
        lost = known_to_be_lost(connection, session_id) - {logged.seq for logged in missing}
        keep_lost(connection, session_id.encode(), lost)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise

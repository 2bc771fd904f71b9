"""The open database of a log: every call goes through here, in one thread at a time, and each first looks whether all is well.

Three things can become of a file while it is open, and after each the log goes on with nothing lost that could be had:
- It is no longer the one at its path (`git clean`, `rm`, another file in its place, the folder renamed). What was acknowledged would go
  into a file that nobody finds. The rows are read from the open handle and put into the file at the path.
- It is damaged, or was cut off. What can be read goes into a fresh file (`database.py`), and the call is made again.
- It was locked when the log was opened, so that the log is in memory. Its rows go into the file when that is free.

Where the rows went into another file and some are missing there, they are added from what is in memory of open sessions (`HeldSessions`).

Whoever notices it may be the event loop. So a small file is saved at once, and a large one in a thread of its own. Meanwhile nothing is
written into the log: `change` raises `BeingSaved`, and what sessions write waits beside it, on disk (`waiting.py`). Reading goes on where
the open handle can still be read. Where it cannot, calls in other threads wait, and those on an event loop raise `BeingSaved`, too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from ullage.store import schema
from ullage.store.copying import OpenRows, RowsInMemory, Source, copy, read_out
from ullage.store.database import failing_clearly, is_damage, mend_file, open_file
from ullage.store.errors import BeingSaved, StoreFailed
from ullage.store.examine import Damage, damage_of
from ullage.store.last_rows import Known, LastRows
from ullage.store.recovery import keep_lost

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Standing: TypeAlias = tuple[int, int, int] | None

AT_ONCE_BYTES = 4_000_000
"""The size up to which files are saved by whoever notices that they are gone: 5 ms for each million bytes, and 10 ms where they are
damaged."""

AGAIN_SECONDS = 5.0
"""The pause between two tries to save a large file."""


class LogFile:
    """The open database of one log. `path` is None for one in memory, and for one that is only read."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, last_rows: LastRows) -> None:
        self.connection = connection
        self.last_rows = last_rows
        self.lock = threading.RLock()
        self._path = path
        self._stood = self._standing()
        self._saving: threading.Thread | None = None
        self._is_shut = False
        """Whether nobody else can use the connection while the file is saved."""
        self._read_out: RowsInMemory | None = None
        """The rows that were read from a connection that had to be closed, until they are saved; else None."""
        self._not_before = 0.0
        self._is_closed = False
        self.tell: Callable[[str], None] = logger.warning
        """Called with what the user should know."""
        self.restore: Callable[[sqlite3.Connection, LastRows], None] = lambda connection, last_rows: None
        """Adds to a database that took the place of another what is missing there. Called without the lock. Raises SQLite's errors."""
        self.is_to_move: Callable[[], None] = lambda: None
        """Called before the rows go into another file."""
        self.moved: Callable[[], None] = lambda: None
        """Called after that, with the lock held."""

    def finish(self) -> None:
        """Waits until nothing is being saved."""
        while (saving := self._saving) is not None:
            saving.join()

    def close(self) -> None:
        """Lets go of the file. What was written into one that is no longer at its path is saved first."""
        self.finish()
        with self.lock:
            with suppress(StoreFailed):
                self._stay_in_place(at_once=True)
            self._is_closed = True
            self.connection.close()

    def read(self, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """What `work` makes of the database. It may be called twice: where it meets damage the file is mended first. Raises
        `StoreFailed`."""
        try:
            return self._read(action, work)
        except BeingSaved:
            if _is_event_loop():
                raise
            self.finish()
            return self._read(action, work, again=True)

    def change(self, action: str, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """What `work` makes of the database in a transaction: all or nothing. Raises as `read` does."""

        def in_transaction(connection: sqlite3.Connection) -> _T:
            if self._saving is not None:
                raise BeingSaved(action)
            connection.execute("BEGIN IMMEDIATE")
            try:
                done = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise
            return done

        return self._read(action, in_transaction)

    def _read(self, action: str, work: Callable[[sqlite3.Connection], _T], *, again: bool = False) -> _T:
        if self._is_shut:
            raise BeingSaved(action)
        with self.lock, failing_clearly(action):
            if self._is_closed:
                raise StoreFailed(f"Cannot {action}: the window is closing")
            self._stay_in_place()
            if self._is_shut:
                raise BeingSaved(action)
            try:
                return work(self.connection)
            except (sqlite3.Error, UnicodeDecodeError, Damage) as error:
                if self._saving is not None or (again and isinstance(error, Damage)):
                    raise _refused(action, error) from error
                self._mend(action, error)
            if self._is_shut:
                raise BeingSaved(action)
            try:
                return work(self.connection)
            except Damage as error:
                raise StoreFailed(f"Cannot {action}: {error}") from error

    def move_to(self, path: Path, last_rows: LastRows) -> None:
        """Moves the database from memory into that file. Raises `StoreFailed`, and `StoreBusy` where it is locked; nothing has changed
        then."""
        with self.lock:
            before = self._path, self.last_rows
            self._path, self.last_rows = path, last_rows
            try:
                self._place_anew(path, last_rows)
            except StoreFailed:
                self._path, self.last_rows = before
                raise

    # In its place

    def _stay_in_place(self, *, at_once: bool = False) -> None:
        if self._path is None or self._saving is not None:
            return
        path, now = self._path, self._standing()
        if all(_is_same(now[name], stood) for name, stood in self._stood.items() if stood is not None):
            self._stood = now
            return
        is_cut_off = all(_is_that(now[name], stood) for name, stood in self._stood.items() if stood is not None)
        if is_cut_off:
            self._save(lambda: self._look_at_shorter_file(path), at_once=at_once, shuts=True)
        else:
            logger.warning("%s is no longer the file that is open", path)
            self._save(lambda: self._save_removed(path), at_once=at_once, shuts=now[""] is not None and self._has_any_of(now))

    def _save(self, work: Callable[[], None], *, at_once: bool, shuts: bool) -> None:
        """Does the work at once, or begins it in a thread of its own, which then uses the connection with the lock held, or alone
        (`shuts`)."""
        if at_once or sum(stood[2] for stood in self._stood.values() if stood is not None) <= AT_ONCE_BYTES:
            work()
            return
        if time.monotonic() < self._not_before:
            raise StoreFailed("The sessions could not be saved into a new file. It is tried again in some seconds")
        self._is_shut = shuts
        self._saving = threading.Thread(target=self._run, args=(work,), name="ullage-saving", daemon=True)
        self._saving.start()

    def _run(self, work: Callable[[], None]) -> None:
        with self.lock:  # whoever began it is done with the connection
            pass
        try:
            work()
        except StoreFailed as error:
            self._not_before = time.monotonic() + AGAIN_SECONDS
            self.tell(str(error))
        except Exception:
            self._not_before = time.monotonic() + AGAIN_SECONDS
            logger.exception("%s could not be saved", self._path)
        finally:
            self._is_shut = False
            self._saving = None

    def _alone(self, call: Callable[[sqlite3.Connection], object]) -> object:
        if self._is_shut:
            return call(self.connection)
        with self.lock:
            return call(self.connection)

    def _save_removed(self, path: Path) -> None:
        self._place_anew(path, LastRows(None))
        self.tell(f"{path} was removed or replaced while it was open. All sessions of this window were saved into a new file at its place.")

    def _look_at_shorter_file(self, path: Path) -> None:
        """Looks whether a file that became shorter is damaged. Files of a log only grow, but for another program that tidies them up."""
        rows: RowsInMemory | None = None
        with suppress(sqlite3.Error, UnicodeDecodeError):  # as far as SQLite still has the pages in memory
            rows = read_out(OpenRows(self._alone))
        try:
            self.connection.execute("PRAGMA shrink_memory")
            damage = damage_of(self.connection, path, b"", self.last_rows.read())
        except (sqlite3.Error, UnicodeDecodeError) as error:
            damage = str(error) if is_damage(error) else ""
        if damage:
            self._mend_now(path, "it is damaged: it was cut off while it was open", rows)
        self._stood = self._standing()

    def _place_anew(self, path: Path, known: LastRows) -> None:
        """Puts the rows of the open database into the file at the path, and goes on there."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.is_to_move()
            with failing_clearly(f"read what was in {path}"):
                source = self._read_out or self._source(path)
        except OSError as error:
            raise StoreFailed(f"Cannot write to {path.parent}: {error.strerror or error}") from error
        connection, set_aside = open_file(path, known)
        stood = self._standing()
        try:
            with failing_clearly(f"write to {path}"):
                copy(source, connection)
                self.restore(connection, self.last_rows)
                self.last_rows.renew(*_last_of(connection))
        except BaseException:
            connection.close()
            raise
        self._read_out = None
        self._go_on_with(connection, stood)
        if set_aside is not None:
            self.tell(set_aside.reason)

    def _source(self, path: Path) -> Source:
        """The rows of the open database. SQLite finds its write-ahead log and its memory by the path: a new connection must not meet those
        of the open one. Where they cannot be taken away, that is closed, and its rows are read first."""
        source, now = OpenRows(self._alone), self._standing()
        if now.get("") is None:
            for suffix in ("-wal", "-shm"):
                if _is_that(now.get(suffix), self._stood.get(suffix)):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
            return source
        if not self._has_any_of(now):
            return source
        self._read_out = read_out(source)
        with suppress(sqlite3.Error):  # where only the write-ahead log was removed, what is in it goes into the file
            self.connection.execute("PRAGMA wal_checkpoint(FULL)")
        self.connection.close()
        return self._read_out

    def _go_on_with(self, connection: sqlite3.Connection, stood: Mapping[str, _Standing]) -> None:
        with self.lock:
            old, self.connection = self.connection, connection
            self._stood = stood
            self.moved()
        with suppress(sqlite3.Error):
            old.close()  # takes a while where the system frees a large file that was removed

    def _has_any_of(self, now: Mapping[str, _Standing]) -> bool:
        return any(_is_that(now.get(name), stood) for name, stood in self._stood.items())

    def _standing(self) -> Mapping[str, _Standing]:
        if self._path is None:
            return {}
        return {suffix: _stat(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")}

    # Damaged

    def _is_sound(self) -> bool:
        """Whether the file is as Ullage wrote it: then a statement that failed was wrong, and not the file."""
        if self._path is None:
            return True
        try:
            schema.compare(self.connection)
            return not damage_of(self.connection, self._path, b"", Known())
        except (sqlite3.Error, UnicodeDecodeError, schema.NotOurs, schema.Damaged):
            return False

    def _mend(self, action: str, error: Exception) -> None:
        """Puts a fresh file in the place of a damaged one, or begins to. Raises the error where it tells of no damage, and `StoreFailed` in
        a database that has no file."""
        if not is_damage(error) or (isinstance(error, sqlite3.IntegrityError | sqlite3.OperationalError) and self._is_sound()):
            raise error
        if self._path is None:
            raise StoreFailed(f"Cannot {action}: the file of the sessions is damaged") from error
        path = self._path
        logger.warning("%s is damaged: %s", path, type(error).__name__)
        reason = f"it is damaged: {error}" if isinstance(error, Damage) else "it is damaged"
        self._save(lambda: self._mend_now(path, reason, None), at_once=False, shuts=True)

    def _mend_now(self, path: Path, reason: str, rows: RowsInMemory | None) -> None:
        """Puts a fresh file in the place of a damaged one, with what can be read of it, with those rows, and with what is in memory. What
        is missing then is told by number."""
        try:
            wal = path.with_name(path.name + "-wal").read_bytes()
        except OSError:
            wal = b""
        self.connection.close()
        connection, set_aside = mend_file(path, reason, wal, self.last_rows)
        stood = self._standing()
        with failing_clearly(f"write to {path}"):
            if rows is not None:
                copy(rows, connection)
            self.restore(connection, self.last_rows)
            found = None if set_aside.found is None else set_aside.found.beside(connection)
            for session_id, seqs in found.lost.items() if found is not None else ():
                keep_lost(connection, session_id, seqs)
        self._go_on_with(connection, stood)
        self.tell(replace(set_aside, found=found).reason)


def _is_event_loop() -> bool:
    """Whether this thread runs an event loop: then nobody waits here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _refused(action: str, error: Exception) -> Exception:
    return error if isinstance(error, sqlite3.Error) else StoreFailed(f"Cannot {action}: {error}")


def _stat(path: str) -> _Standing:
    try:
        found = os.stat(path)  # noqa: PTH116 (three of these go before each call of the log)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size


def _is_that(now: _Standing, stood: _Standing) -> bool:
    """Whether the file is the one that stood there, whatever its size."""
    return now is not None and stood is not None and now[:2] == stood[:2]


def _is_same(now: _Standing, stood: _Standing) -> bool:
    """Whether the file is the one that stood there, and at least as long as it was."""
    return now is not None and stood is not None and now[:2] == stood[:2] and now[2] >= stood[2]


def _last_of(connection: sqlite3.Connection) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """What is to be known of a log outside of it: the last seq of each session, the session of each prompt that waits, and that no session
    is known to be deleted."""
    last = connection.execute("SELECT id, coalesce((SELECT max(seq) FROM entry WHERE session_id = session.id), 0) FROM session")
    waiting = connection.execute("SELECT id, session_id FROM queued_prompt")
    return dict(last), dict(waiting), ()

"""The append-only log of a workspace's sessions: one SQLite file, one writer a session. `open_to_read` opens one without writing anything.

All calls are synchronous and quick: well under a millisecond, except `load`, which grows with the session. So the event loop may make
them, and other threads may, too. What was written is on disk when the call returns. All raise `StoreFailed`. If another program has the
file locked, what a session writes waits beside it, on disk, too (`waiting.py`). All other calls raise `StoreBusy` then, and can be
repeated.

`LogStore` is the door. Each room behind it has a file: `session_list.py` (sessions as wholes, forks), `session_writer.py` (entries
and prompts, and who may write them) and `session_reader.py`. `RememberedValues` is here. Below them lie `log_file.py`, which has the
open file and what becomes of it, and `last_rows.py`, which knows outside of it what should be in it.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from ullage.context.blocks import Json, Media
from ullage.context.entries import Entry, Logged, UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store import schema
from ullage.store.copying import HeldSession, HeldSessions
from ullage.store.database import TEMPORARY, SetAside, connect, is_damage, open_file, open_memory, recovered_in_memory
from ullage.store.elsewhere import Elsewhere, Nowhere
from ullage.store.errors import StoreBusy, StoreFailed
from ullage.store.examine import Damage, header_damage
from ullage.store.last_rows import LastRows
from ullage.store.log_file import LogFile
from ullage.store.origins import Lineage
from ullage.store.recovery import IDENTITY
from ullage.store.schema import ValueRow, value_sum
from ullage.store.session_list import SessionList
from ullage.store.session_reader import SessionReader
from ullage.store.session_rows import SessionRows, goes_along
from ullage.store.session_writer import SessionWriter, StoredQueues
from ullage.store.statements import DamagedRow, LoggedRow, SessionRecord
from ullage.store.waiting import RETRY_SECONDS, SideFiles, WaitingFiles


class LogStore:
    """The log of one workspace, or one in memory where there is no folder. Make it with `open`."""

    def __init__(self, file: LogFile, folder: Path | None, set_aside: SetAside | None) -> None:
        self._file = file
        file.is_to_move, file.moved = self._is_to_move, self._moved
        self._writer = SessionWriter(file, folder)
        self._list = SessionList(file, self._writer)
        self._reader = SessionReader(file, self._writer)
        self.prompts = StoredQueues(file, self._writer)
        """The prompts that wait in each session."""
        self.elsewhere: Elsewhere = Nowhere()
        """What else keeps the sessions; `keep_elsewhere` sets it."""
        self.rows = SessionRows(file, self._writer)
        """The sessions as rows, for copies of them elsewhere."""
        self._values = RememberedValues(file)
        self._held = HeldSessions()
        file.restore = self._held.restore
        self._closed = threading.Event()
        self._changed: Callable[[], None] = lambda: None
        self.set_aside = set_aside
        """The damaged or later file that was found when opening, to be shown to the user; None if there was none."""

    @classmethod
    def open(cls, folder: Path | None) -> LogStore:
        """The log in the folder that is kept for a workspace (`folder.py`), made where there is none; in memory without a folder."""
        if folder is None:
            return cls.of(open_memory())
        ullage_folder.prepare(folder)
        path, last_rows = ullage_folder.database(folder), LastRows(ullage_folder.last_rows(folder))
        connection, set_aside = open_file(path, last_rows)
        log = cls(LogFile(connection, path, last_rows), folder, set_aside)
        log._list.delete_unfinished()
        log._writer.take_in_all()
        return log

    @classmethod
    def temporary(cls) -> LogStore:
        """A log that ends with the process, and lies in memory as far as it is small."""
        return cls.of(open_memory(TEMPORARY))

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> LogStore:
        """Opens the log in a database that is in memory, or only read."""
        return cls(LogFile(connection, None, LastRows(None)), None, None)

    @classmethod
    def until_free(cls, folder: Path) -> LogStore:
        """A log in memory for a folder whose log is locked by another program: what is in it goes into that one as soon as it is free.
        Until then it lies beside that one, too."""
        file = LogFile(open_memory(), None, LastRows(None))
        log = cls(file, folder, None)
        log._writer.beside = SideFiles(WaitingFiles(ullage_folder.waiting(folder)), lambda text: file.tell(text))
        threading.Thread(target=log._move_when_free, args=(folder,), name="ullage-locked", daemon=True).start()
        return log

    def _move_when_free(self, folder: Path) -> None:
        while not self._closed.wait(RETRY_SECONDS):
            try:
                self._file.move_to(ullage_folder.database(folder), LastRows(ullage_folder.last_rows(folder)))
            except StoreBusy:
                continue
            except StoreFailed as error:
                self._file.tell(f"{str(error).removesuffix('.')}. What is said is kept beside it, and read when it can be opened again.")
            else:
                self._writer.take_in_all()
                self._file.tell("The file of the sessions is free again: what was said here is saved.")
                self._changed()
            return

    def _is_to_move(self) -> None:
        """Takes the locks of sessions anew: they may be gone with the folder."""
        self._writer.claims.take_anew()

    def _moved(self) -> None:
        """Stops keeping files beside the log, and takes the locks anew, once the log is in another file."""
        self._writer.beside.end()
        self._writer.claims.take_anew()

    def tell_of(self, tell: Callable[[str], None], changed: Callable[[], None] = lambda: None) -> None:
        """Says whom to tell from now on what becomes of the file (`tell`), and that there are other sessions in it (`changed`). Both are
        called in any thread."""
        self._file.tell = tell
        self._changed = changed

    def hold(self, held: Callable[[], Iterable[HeldSession]]) -> None:
        """Says how to learn which sessions are in memory: where the file was cut off, what is missing in it is taken from there."""
        self._held.tell = held

    def keep_elsewhere(self, elsewhere: Elsewhere) -> None:
        """Lets another store keep the sessions, too: it hears of what is written here from now on."""
        self.elsewhere = elsewhere
        self._writer.written = elsewhere.written

    def settled(self, session_id: str) -> Future[None] | None:
        """A future that is done when all that was written of the session by now is where it has to be before anything depends on it: on
        this disk it is always, in a team's store after a moment. None if it is already."""
        return self.elsewhere.settled(session_id)

    def close(self) -> None:
        """Lets go of all sessions and the file. Waits for a log that is being saved."""
        self._closed.set()
        self._file.finish()
        self._writer.stop_waiting()
        self._file.close()
        self._writer.release_all()

    # Sessions

    def create_session(self, title: str, at: float) -> SessionRecord:
        """Makes a new, empty session that this process writes."""
        return self._list.create(title, at)

    def take_in(self, record: SessionRecord, logged: Sequence[Logged], queued: Sequence[UserPrompt] = ()) -> bool:
        """Adds a session that was made elsewhere, with its entries as they are there (seqs from 1 without gaps), whole or not at all. Gives
        False if there is one of that id already."""
        return self._list.take_in(record, logged, queued)

    def take_in_beside_others(self, record: SessionRecord, logged: Sequence[Logged], at: Callable[[float], None]) -> None:
        """Adds a session with a new id as `take_in` does, where it may be long: others can write meanwhile. `at` is told what share is
        done, and may raise to end it. For another thread."""
        self._list.take_in_beside_others(record, logged, at)

    def sessions(self) -> list[SessionRecord]:
        """All sessions of the workspace, last updated first."""
        return self._list.all()

    def fork(self, session_id: str, through: int | None, title: str, at: float) -> SessionRecord:
        """Makes a new session that this process writes: the entries of that one up to `through` (None: all), exactly as they lie in the
        file, and a `Forked` after them. It is there whole or not at all. Raises `UnknownSession`.

        Copies some at a time (about 10 µs each, so do it in another thread): others may use the log in between.
        """
        return self._list.fork(session_id, through, title, at)

    def lineages(self) -> dict[str, Lineage]:
        """Where the entries of each session were first logged, by the session's id."""
        return self._list.lineages()

    def rename(self, session_id: str, title: str) -> None:
        """Gives the session another title. May be done while another window writes it."""
        self._list.rename(session_id, title)

    def delete(self, session_id: str) -> None:
        """Deletes a session with its entries and queue, for good. Raises `SessionInUse`, `UnknownSession`."""
        self._list.delete(session_id)

    def claim(self, session_id: str) -> None:
        """Makes this process the one that writes the session. Raises `SessionInUse` if another one is.

        Everything that writes does it by itself. Do it before `load` where something is to be mended after it.
        """
        self._writer.claim(session_id)

    def release(self, session_id: str) -> None:
        """Lets another process write the session; where something of it still waits for the log, as soon as that is in it."""
        self._writer.release(session_id)
        self.elsewhere.released(session_id)

    def open_elsewhere(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another process writes now. Looks at a lock for each, so do it in another thread."""
        ids = tuple(session_ids)
        return self._writer.claims.elsewhere(ids) | self.elsewhere.held(ids)

    # Entries

    def append(self, session_id: str, entry: Entry, at: float) -> Logged:
        """Adds an entry at the end. It is on disk on return. Raises `SessionInUse`, `UnknownSession`."""
        return self.append_many(session_id, (entry,), at)[0]

    def append_many(self, session_id: str, entries: Sequence[Entry], at: float) -> list[Logged]:
        """Adds entries at the end, all or none. Raises as `append` does."""
        return self._writer.append(session_id, entries, at)

    def load(self, session_id: str) -> list[Logged]:
        """All entries of a session, oldest first (about 10 µs each). Raises `UnknownSession`.

        A row that cannot be read is passed over; `damaged` tells of it. Read some at a time: others may use the log in between.
        """
        return self._reader.load(session_id)

    def damaged(self, session_id: str) -> tuple[DamagedRow, ...]:
        """The rows that the last `load` of the session had to pass over."""
        return self._reader.damaged(session_id)

    def entries(self, session_id: str) -> Iterator[Logged]:
        """The entries of a session that can be read, oldest first, one by one; others may use the log in between. Raises
        `UnknownSession`."""
        return self._reader.entries(session_id)

    def between(self, session_id: str, first: int, last: int) -> list[Logged]:
        """The entries of a session from seq `first` to `last`, both included, as far as they can be read."""
        return self._reader.between(session_id, first, last)

    def rows_after(self, row: int, limit: int, size: int) -> list[LoggedRow]:
        """What was logged in any session after that row of the file, oldest first: at most `limit` rows, and none after `size` bytes."""
        return self._reader.rows_after(row, limit, size)

    def replies_with_calls(self, most: int) -> list[tuple[str, Logged]]:
        """The newest replies of all sessions that have tool uses, with the ids of their sessions, the newest first."""
        return self._reader.replies_with_calls(most)

    def shown_media(self) -> set[Media]:
        """The images and documents of all sessions, those of waiting prompts among them. Looks through the whole file."""
        return self._reader.shown_media()

    def named_versions(self) -> set[str]:
        """The hashes of the versions of files that entries of any session name. Looks through the whole file."""
        return self._reader.named_versions()

    # Small things to remember for this workspace

    def identity(self) -> str:
        """The name that tells this file from any other log: rows have other numbers there. It is new where the rows went into another
        file."""
        return self._values.identity()

    def remember(self, key: str, value: Json) -> None:
        """Keeps a small JSON value under a key, in place of what was there."""
        self._values.remember(key, value)
        session_id = goes_along(key)
        if session_id:
            self.elsewhere.written(session_id)

    def recalled(self, key: str) -> Json:
        """The value that was kept under the key; None if there is none."""
        return self._values.recalled(key)

    def recalled_all(self, prefix: str) -> dict[str, Json]:
        """The values that were kept under keys that begin so, by the rest of the key. What cannot be read any more is left out."""
        return self._values.recalled_all(prefix)


class RememberedValues:
    """The small things that a log remembers for its workspace: a JSON value under a key."""

    def __init__(self, file: LogFile) -> None:
        self._file = file

    def identity(self) -> str:
        """The name that tells this file from any other log: rows have other numbers there. It is new where the rows went into another
        file."""
        kept = self.recalled(IDENTITY)
        if isinstance(kept, str):
            return kept
        self.remember(IDENTITY, secrets.token_hex(8))
        return self.identity()

    def remember(self, key: str, value: Json) -> None:
        """Keeps a small JSON value under a key, in place of what was there."""
        text = json.dumps(value)
        row = (key, text, value_sum(key.encode(), text.encode()))
        self._file.change(
            f"remember {key}", lambda connection: connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?, ?)", row)
        )

    def recalled(self, key: str) -> Json:
        """The value that was kept under the key; None if there is none. Raises `StoreFailed` if it is damaged."""

        def read(connection: sqlite3.Connection) -> Json:
            found = connection.execute(
                "SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered WHERE key = ?", (key,)
            ).fetchone()
            if found is None:
                return None
            row = ValueRow(*found)
            if not row.is_whole:
                raise Damage("something that it was to remember is not what was written")
            return json.loads(row.value)

        return self._file.read(f"recall {key}", read)

    def recalled_all(self, prefix: str) -> dict[str, Json]:
        """The values that were kept under keys that begin so, by the rest of the key. What cannot be read any more is left out."""

        def read(connection: sqlite3.Connection) -> dict[str, Json]:
            found = connection.execute(
                "SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered WHERE substr(key, 1, ?) = ?", (len(prefix), prefix)
            ).fetchall()
            rows = (ValueRow(*each) for each in found)
            return {row.key.decode().removeprefix(prefix): json.loads(row.value) for row in rows if row.is_whole}

        return self._file.read(f"recall {prefix}*", read)


class NoLog(Exception):
    """The file is no log of Ullage that this version can read; `str()` says why."""


def open_to_read(path: Path) -> LogStore:
    """Opens the log in a database file. The caller closes it. Raises `NoLog`.

    Of a damaged one what can be read is in memory, and the file stays as it is.
    """
    return LogStore.of(_connected(path))


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to the file. One that no process has open is opened so that nothing is made beside it either."""
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
    try:
        if version > schema.VERSION:
            raise NoLog(f"{path} was written by a later version of Ullage: update Ullage to read it")
        if not version:
            raise NoLog(f"{path} is a database, but an empty one, and no log of Ullage")
        migrated = connect(":memory:")  # the file itself is taken to this version when a session of it is opened
        connection.backup(migrated)
        schema.migrate(migrated)
        return migrated
    finally:
        connection.close()


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

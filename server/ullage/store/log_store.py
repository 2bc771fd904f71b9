"""The append-only log of a workspace's sessions: one SQLite file, one writer a session.

All calls are synchronous and quick (well under a millisecond, but for `load`, which grows with the session), so they may
be made from the event loop; other threads may call too. What was written is on disk when the call returns. All raise
`StoreFailed`.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ullage.context.blocks import Json, Media
from ullage.context.entries import Entry, Forked, Logged, UserPrompt, media_in
from ullage.store import folder as ullage_folder
from ullage.store import forking
from ullage.store.database import SetAside, failing_clearly, open_file, open_memory
from ullage.store.encode import (
    DamagedEntry,
    decode,
    decode_prompt,
    encode,
    encode_prompt,
)
from ullage.store.errors import SessionInUse, StoreFailed, UnknownSession
from ullage.store.lineage import Lineage, fork_of
from ullage.store.system_lock import HeldElsewhere, SystemLock

PAGE_ROWS = 1_000
"""Rows of a session that are read at one go: some milliseconds, for which whoever else writes or reads waits."""

COPIED_ROWS = 250
"""Rows that are copied at one go: as long as several writes."""

COPY_PAUSE = 0.001
"""Seconds between two such goes, so that whoever waits comes first: a lock that is taken again at once is given to nobody else."""

_SHOWS_MEDIA = {"image": '"media_type":', "document": '"pages":'}
"""What stands in the JSON of an entry that shows any: a quotation mark in a text has a backslash before it."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the list of sessions shows it. Times are Unix seconds; `updated_at` is of the last entry."""

    id: str
    title: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row of the log that could not be read and was passed over; it stays in the file."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoggedRow:
    """An entry of any session with its place in the file. `logged` is None where it could not be read."""

    row: int
    session_id: str
    logged: Logged | None


class LogStore:
    """The log of one workspace folder, or one in memory where there is no folder. Make it with `open`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        workspace: Path | None,
        set_aside: SetAside | None,
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._one_thread = threading.Lock()
        self._locks: dict[str, SystemLock] = {}
        self._last_seq: dict[str, int] = {}
        self._damaged: dict[str, list[DamagedRow]] = {}
        self.set_aside = set_aside
        """Set where a damaged or later file was found when opening: to be shown to the user."""

    @classmethod
    def open(cls, folder: Path | None) -> LogStore:
        """The log at `.ullage/ullage.db` in that folder, made where there is none; in memory without a folder."""
        if folder is None:
            return cls(open_memory(), None, None)
        ullage_folder.prepare(folder)
        connection, set_aside = open_file(ullage_folder.database(folder))
        log = cls(connection, folder, set_aside)
        log._delete_unfinished()
        return log

    def close(self) -> None:
        """Lets go of all sessions and the file."""
        for session_id in tuple(self._locks):
            self.release(session_id)
        self._connection.close()

    # Sessions

    def create_session(self, title: str, at: float) -> SessionRecord:
        """A new, empty session that this process writes."""
        record = SessionRecord(secrets.token_hex(8), _storable(title), at, at)
        self.claim(record.id)
        with self._using("make a session") as connection:
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?)",
                (record.id, record.title, at, at),
            )
        self._last_seq[record.id] = 0
        return record

    def sessions(self) -> list[SessionRecord]:
        """All sessions of the workspace, last updated first."""
        with self._using("list the sessions") as connection:
            return [SessionRecord(*row) for row in connection.execute(forking.SESSIONS)]

    def fork(self, session_id: str, through: int | None, title: str, at: float) -> SessionRecord:
        """A new session that this process writes: the entries of that one up to `through` (None: all), exactly as they lie in the file, and
        a `Forked` after them. It is there whole or not at all. Raises `UnknownSession`.

        Copies some at a time (about 10 µs each, so do it in another thread): others may use the log in between.
        """
        with self._using("read the session") as connection:
            last = self._last_in_file(session_id)
            lineage = forking.lineages(connection)[session_id]
        through = last if through is None else min(through, last)
        record = SessionRecord(secrets.token_hex(8), _storable(title), at, at)
        self.claim(record.id)
        try:
            with self._changing("fork the session") as connection:
                connection.execute("INSERT INTO session VALUES (?, ?, ?, ?)", (record.id, record.title, at, at))
                forking.begin(connection, record.id, fork_of(session_id, lineage, through))
            self._copy(session_id, record.id, through, at)
        except BaseException:
            with suppress(StoreFailed):
                self.delete(record.id)
            raise
        return record

    def _copy(self, session_id: str, fork_id: str, through: int, at: float) -> None:
        after, before = 0, -1
        while before < after < through:
            with self._changing("fork the session") as connection:
                forking.copy_page(connection, session_id, fork_id, after, through, COPIED_ROWS)
                after, before = self._last_in_file(fork_id), after
            time.sleep(COPY_PAUSE)
        with self._changing("fork the session") as connection:
            # Deleted meanwhile, it would have been copied in part.
            original = connection.execute("SELECT title, updated_at FROM session WHERE id = ?", (session_id,)).fetchone()
            if original is None:
                raise UnknownSession(session_id)
            self._insert(fork_id, through, (Forked(session_id, *original),), at)
            forking.finish(connection, fork_id)
        self._last_seq[fork_id] = through + 1

    def lineages(self) -> dict[str, Lineage]:
        """Of all sessions, where their entries were first logged."""
        with self._using("list the sessions") as connection:
            return forking.lineages(connection)

    def _delete_unfinished(self) -> None:
        """Removes forks whose maker ended before they were whole."""
        with self._using("list the sessions") as connection:
            left = forking.unfinished(connection)
        for session_id in left:
            with suppress(StoreFailed):  # another window makes it just now
                self.delete(session_id)

    def rename(self, session_id: str, title: str) -> None:
        """Gives the session another title. May be done while another window writes it."""
        with self._using("rename the session") as connection:
            changed = connection.execute(
                "UPDATE session SET title = ? WHERE id = ?",
                (_storable(title), session_id),
            )
        if changed.rowcount == 0:
            raise UnknownSession(session_id)

    def delete(self, session_id: str) -> None:
        """Deletes a session with its entries and queue, for good. Raises `SessionInUse`, `UnknownSession`."""
        self.claim(session_id)
        try:
            with self._changing("delete the session") as connection:
                changed = connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
                forking.forget(connection, session_id)
        finally:
            self.release(session_id)
        if changed.rowcount == 0:
            raise UnknownSession(session_id)

    def claim(self, session_id: str) -> None:
        """Makes this process the one that writes the session. Raises `SessionInUse` where another one is.

        Everything that writes does it by itself. Do it before `load` where something is to be mended after it.
        """
        if self._workspace is None or session_id in self._locks:
            return
        path = ullage_folder.session_lock(self._workspace, session_id)
        try:
            self._locks[session_id] = SystemLock(path)
        except HeldElsewhere as error:
            raise SessionInUse(session_id) from error

    def release(self, session_id: str) -> None:
        """Lets another process write the session."""
        self._last_seq.pop(session_id, None)
        lock = self._locks.pop(session_id, None)
        if lock is not None:
            lock.release()

    # Entries

    def append(self, session_id: str, entry: Entry, at: float) -> Logged:
        """Adds an entry at the end. It is on disk on return. Raises `SessionInUse`, `UnknownSession`."""
        return self.append_many(session_id, (entry,), at)[0]

    def append_many(self, session_id: str, entries: Sequence[Entry], at: float) -> list[Logged]:
        """Adds entries at the end, all or none."""
        with self._writing(session_id, "write to the log") as last:
            return self._insert(session_id, last, entries, at)

    def load(self, session_id: str) -> list[Logged]:
        """All entries of a session, oldest first (about 10 µs each). Raises `UnknownSession`.

        A row that cannot be read is passed over; `damaged` tells of it. Read some at a time: others may use the log in between.
        """
        with self._using("read the session"):
            last = self._last_in_file(session_id)
        loaded: list[Logged] = []
        damaged: list[DamagedRow] = []
        for seq, at, body in self._rows(session_id, last):
            try:
                loaded.append(_logged(seq, at, body))
            except DamagedEntry as error:
                damaged.append(DamagedRow(seq, str(error)))
        self._last_seq[session_id] = last
        self._damaged[session_id] = damaged
        return loaded

    def _rows(self, session_id: str, last: int) -> Iterator[tuple[int, float, str]]:
        """Seq, time and body of the entries up to `last`, a page at a time."""
        after = 0
        while after < last:
            with self._using("read the session") as connection:
                rows = connection.execute(
                    "SELECT seq, at, body FROM entry WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                    (session_id, after, last, PAGE_ROWS),
                ).fetchall()
            if not rows:
                return
            yield from rows
            after = rows[-1][0]

    def entries(self, session_id: str) -> Iterator[Logged]:
        """Those that can be read, oldest first, one by one; others may use the log in between. Raises `UnknownSession`."""
        with self._using("read the session"):
            last = self._last_in_file(session_id)
        for row in self._rows(session_id, last):
            logged = _logged_or_none(*row)
            if logged is not None:
                yield logged

    def rows_after(self, row: int, limit: int) -> list[LoggedRow]:
        """What was logged in any session after that row of the file, oldest first; for the search index."""
        with self._using("read the log") as connection:
            rows = connection.execute(
                "SELECT row, session_id, seq, at, body FROM entry WHERE row > ? ORDER BY row LIMIT ?",
                (row, limit),
            ).fetchall()
        return [LoggedRow(row, session_id, _logged_or_none(seq, at, body)) for row, session_id, seq, at, body in rows]

    def between(self, session_id: str, first: int, last: int) -> list[Logged]:
        """The entries of a session from seq `first` to `last`, both included, as far as they can be read."""
        with self._using("read the session") as connection:
            rows = connection.execute(
                "SELECT seq, at, body FROM entry WHERE session_id = ? AND seq BETWEEN ? AND ? ORDER BY seq",
                (session_id, first, last),
            ).fetchall()
        found = (_logged_or_none(*row) for row in rows)
        return [logged for logged in found if logged is not None]

    def shown_media(self) -> set[Media]:
        """The images and documents of all sessions, those of waiting prompts among them. Looks through the whole file."""
        with self._using("read the log") as connection:
            entries = connection.execute(
                "SELECT body FROM entry WHERE instr(body, :image) OR instr(body, :document)",
                _SHOWS_MEDIA,
            ).fetchall()
            waiting = connection.execute("SELECT body FROM queued_prompt").fetchall()
        logged = (_logged_or_none(0, 0.0, body) for (body,) in entries)
        found = [*(each.entry for each in logged if each is not None), *_readable(body for (body,) in waiting)]
        return {media for entry in found for media in media_in(entry)}

    def damaged(self, session_id: str) -> tuple[DamagedRow, ...]:
        """What the last `load` of the session had to pass over."""
        return tuple(self._damaged.get(session_id, ()))

    # The queue of prompts

    def enqueue(self, session_id: str, prompt: UserPrompt) -> None:
        """Puts a prompt at the end of the session's queue."""
        with self._writing(session_id, "queue the prompt"):
            self._connection.execute(
                "INSERT INTO queued_prompt (id, session_id, body) VALUES (?, ?, ?)",
                (prompt.id, session_id, encode_prompt(prompt)),
            )

    def queued(self, session_id: str) -> list[UserPrompt]:
        """The prompts that wait, first come first. One that cannot be read is passed over."""
        with self._using("read the queue") as connection:
            rows = connection.execute(
                "SELECT body FROM queued_prompt WHERE session_id = ? ORDER BY position",
                (session_id,),
            ).fetchall()
        return list(_readable(body for (body,) in rows))

    def dequeue(self, prompt_id: str) -> bool:
        """Takes a prompt back; False where it does not wait (any more)."""
        with self._using("take the prompt back") as connection:
            changed = connection.execute("DELETE FROM queued_prompt WHERE id = ?", (prompt_id,))
        return changed.rowcount > 0

    def start_prompt(self, session_id: str, prompt_id: str, at: float) -> Logged:
        """Moves a prompt from the queue to the end of the log, at once or not at all."""
        with self._writing(session_id, "start the prompt") as last:
            row = self._connection.execute(
                "SELECT body FROM queued_prompt WHERE id = ? AND session_id = ?",
                (prompt_id, session_id),
            ).fetchone()
            if row is None:
                raise StoreFailed(f"No prompt {prompt_id} waits in this session")
            try:
                prompt = decode_prompt(row[0])
            except DamagedEntry as error:
                raise StoreFailed(f"The queued prompt is damaged: {error}") from error
            self._connection.execute("DELETE FROM queued_prompt WHERE id = ?", (prompt_id,))
            return self._insert(session_id, last, (prompt,), at)[0]

    # Small things to remember for this workspace

    def remember(self, key: str, value: Json) -> None:
        """Keeps a small JSON value under a key, in place of what was there."""
        with self._using(f"remember {key}") as connection:
            connection.execute(
                "INSERT OR REPLACE INTO remembered VALUES (?, ?)",
                (key, json.dumps(value)),
            )

    def recalled(self, key: str) -> Json:
        """What was kept under the key; None where nothing was."""
        with self._using(f"recall {key}") as connection:
            row = connection.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    @contextmanager
    def _using(self, action: str) -> Generator[sqlite3.Connection]:
        with self._one_thread, failing_clearly(action):
            yield self._connection

    @contextmanager
    def _writing(self, session_id: str, action: str) -> Generator[int]:
        """A transaction on one session, whose writer this process becomes; gives the last seq before it."""
        self.claim(session_id)
        with self._changing(action):
            last = self._last_in_file(session_id)
            if self._last_seq.get(session_id, last) != last:
                raise SessionInUse(session_id)  # written since we loaded it
            yield last
            last = self._last_in_file(session_id)
        self._last_seq[session_id] = last

    @contextmanager
    def _changing(self, action: str) -> Generator[sqlite3.Connection]:
        """A transaction."""
        with self._using(action) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def _insert(self, session_id: str, after: int, entries: Sequence[Entry], at: float) -> list[Logged]:
        logged = [Logged(seq, at, entry) for seq, entry in enumerate(entries, after + 1)]
        self._connection.executemany(
            "INSERT INTO entry (session_id, seq, at, body) VALUES (?, ?, ?, ?)",
            [(session_id, item.seq, at, encode(item.entry)) for item in logged],
        )
        self._connection.execute("UPDATE session SET updated_at = ? WHERE id = ?", (at, session_id))
        return logged

    def _last_in_file(self, session_id: str) -> int:
        row = self._connection.execute(
            "SELECT (SELECT max(seq) FROM entry WHERE session_id = session.id) FROM session WHERE id = ?",
            (session_id,),
        ).fetchone()
        if row is None:
            raise UnknownSession(session_id)
        return row[0] or 0


def _logged_or_none(seq: int, at: float, body: str) -> Logged | None:
    try:
        return _logged(seq, at, body)
    except DamagedEntry:
        return None


def _logged(seq: int, at: object, body: str) -> Logged:
    """Raises `DamagedEntry`."""
    if not isinstance(at, int | float):
        raise DamagedEntry("its time is no number")
    return Logged(seq, at, decode(body))


def _storable(title: str) -> str:
    # Half a surrogate pair cannot be stored as UTF-8.
    return title.encode("utf-8", "replace").decode("utf-8")


def _readable(bodies: Iterable[str]) -> Iterator[UserPrompt]:
    for body in bodies:
        try:
            yield decode_prompt(body)
        except DamagedEntry:
            continue

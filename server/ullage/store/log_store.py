"""The append-only log of a workspace's sessions: one SQLite file, one writer a session.

All calls are synchronous and quick (well under a millisecond, but for `load`, which grows with the session), so they may
be made from the event loop; other threads may call too. What was written is on disk when the call returns. All raise
`StoreFailed`. Where another program has the file locked, what a session writes waits beside it, on disk, too (`waiting.py`);
all other calls raise `StoreBusy` then, and can be made again.

What lies around it: `log_file.py` has the open file and what becomes of it, `reading.py`, `queued_prompts.py` and `forking.py` the
statements, `last_rows.py` what is known of the log outside of it.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from ullage.context.blocks import Json, Media
from ullage.context.entries import Entry, Forked, Logged, UserPrompt, media_in
from ullage.store import folder as ullage_folder
from ullage.store import forking, queued_prompts, reading
from ullage.store.database import SetAside, open_file, open_memory
from ullage.store.encode import DamagedEntry, encode
from ullage.store.errors import ForeignSession, SessionInUse, StoreBusy, StoreFailed, UnknownSession
from ullage.store.examine import Damage
from ullage.store.ids import is_foreign
from ullage.store.last_rows import LastRows
from ullage.store.lineage import Lineage, fork_of
from ullage.store.log_file import LogFile
from ullage.store.reading import GONE, DamagedRow, LoggedRow
from ullage.store.recovery import IDENTITY, add_entries, keep_lost
from ullage.store.rows import EntryRow, PromptRow, ValueRow, entry_sum, session_sum, updated_sum, value_sum
from ullage.store.system_lock import HeldElsewhere, SystemLock
from ullage.store.waiting import RETRY_SECONDS, Waiting, WaitingRows, take_in

PAGE_ROWS = 1_000
"""Rows of a session that are read at one go: some milliseconds, for which whoever else writes or reads waits."""

COPIED_ROWS = 250
"""Rows that are copied at one go: as long as several writes."""

COPY_PAUSE = 0.001
"""Seconds between two such goes, so that whoever waits comes first: a lock that is taken again at once is given to nobody else."""

_SHOWS_MEDIA = {"image": b'"media_type":', "document": b'"pages":'}
"""What stands in the JSON of an entry that shows any: a quotation mark in a text has a backslash before it."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the list of sessions shows it. Times are Unix seconds; `updated_at` is of the last entry."""

    id: str
    title: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Held:
    """A session that is open: all that is in memory of it."""

    session_id: str
    title: str
    entries: Sequence[Logged]


class LogStore:
    """The log of one workspace, or one in memory where there is no folder. Make it with `open`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path | None,
        set_aside: SetAside | None,
    ) -> None:
        self._folder = folder
        if folder is None:
            self._use(LogFile(connection, None, LastRows(None)))
        else:
            self._use(LogFile(connection, ullage_folder.database(folder), LastRows(ullage_folder.last_rows(folder))))
        self._locks: dict[str, SystemLock] = {}
        self._last_seq: dict[str, int] = {}
        self._damaged: dict[str, list[DamagedRow]] = {}
        self._held: Callable[[], Iterable[Held]] = tuple
        self._prompts: dict[str, PromptRow] = {}
        """The prompts that this process saw waiting: under a lock they cannot be read."""
        place = None if folder is None else ullage_folder.waiting(folder)
        self._waits = WaitingRows(place, self._take_in, self._taken_in, lambda text: self._file.tell(text))
        self._to_be_released: set[str] = set()
        self._closed = threading.Event()
        self._changed: Callable[[], None] = lambda: None
        self.set_aside = set_aside
        """Set where a damaged or later file was found when opening: to be shown to the user."""

    @classmethod
    def open(cls, folder: Path | None) -> LogStore:
        """The log in the folder that is kept for a workspace (`location.py`), made where there is none; in memory without a folder."""
        if folder is None:
            return cls(open_memory(), None, None)
        ullage_folder.prepare(folder)
        connection, set_aside = open_file(ullage_folder.database(folder), LastRows(ullage_folder.last_rows(folder)))
        log = cls(connection, folder, set_aside)
        log._delete_unfinished()
        log._take_in_all()
        return log

    @classmethod
    def until_free(cls, folder: Path) -> LogStore:
        """A log in memory for a folder whose log is locked by another program: what is in it goes into that one as soon as it is free."""
        log = cls(open_memory(), folder, None)
        log._use(LogFile(log._file.connection, None, LastRows(None)))
        threading.Thread(target=log._move_when_free, args=(folder,), name="ullage-locked", daemon=True).start()
        return log

    def _use(self, file: LogFile) -> None:
        self._file = file
        file.moved = self._moved

    def _move_when_free(self, folder: Path) -> None:
        while not self._closed.wait(RETRY_SECONDS):
            try:
                self._file.move_to(ullage_folder.database(folder), LastRows(ullage_folder.last_rows(folder)))
            except StoreBusy:
                continue
            except StoreFailed as error:
                self._file.tell(f"{str(error).removesuffix('.')}. Sessions stay in memory, and are gone when the window closes.")
            else:
                self._take_in_all()
                self._file.tell("The log is free again: what was said here was written to it.")
                self._changed()
            return

    def _take_in_all(self) -> None:
        """What a process that ended wrote while the log was locked."""
        for session_id in self._waits.left_behind():
            with suppress(StoreFailed):  # another window writes the session, or it was deleted
                self.claim(session_id)
                self.release(session_id)

    def tell_of(self, tell: Callable[[str], None], changed: Callable[[], None] = lambda: None) -> None:
        """Who hears of what becomes of the file from now on, and that there are other sessions in it; called in any thread."""
        self._file.tell = tell
        self._changed = changed

    def hold(self, held: Callable[[], Iterable[Held]]) -> None:
        """Tells which sessions are in memory: where the file was cut off, what is missing in it is taken from there."""
        self._held = held

    def close(self) -> None:
        """Lets go of all sessions and the file."""
        self._closed.set()
        self._waits.close()
        self._file.close()
        for session_id in tuple(self._locks):
            self.release(session_id)

    # Sessions

    def create_session(self, title: str, at: float) -> SessionRecord:
        """A new, empty session that this process writes."""
        record = SessionRecord(secrets.token_hex(8), _storable(title), at, at)
        self.claim(record.id)
        self._file.change("make a session", lambda connection: _add_session(connection, record))
        self._file.last_rows.logged(record.id, 0)
        self._last_seq[record.id] = 0
        return record

    def take_in(self, record: SessionRecord, logged: Sequence[Logged], queued: Sequence[UserPrompt] = ()) -> bool:
        """A session that was made elsewhere, with its entries as they are there (seqs from 1 without gaps), whole or not at all. False
        where there is one of that id already."""

        def change(connection: sqlite3.Connection) -> bool:
            if connection.execute("SELECT 1 FROM session WHERE id = ?", (record.id,)).fetchone() is not None:
                return False
            _add_session(connection, replace(record, title=_storable(record.title)))
            for at, group in groupby(logged, lambda each: each.at):
                several = list(group)
                _insert(connection, record.id, several[0].seq - 1, [each.entry for each in several], at)
            for prompt in queued:
                with suppress(sqlite3.IntegrityError):  # another prompt has its id
                    queued_prompts.add(connection, queued_prompts.row_of(record.id, prompt))
            return True

        is_new = self._file.change("take the session in", change)
        if is_new:
            self._file.last_rows.logged(record.id, logged[-1].seq if logged else 0)
            for prompt in self.queued(record.id):
                self._file.last_rows.queued(record.id, prompt.id)
        return is_new

    def sessions(self) -> list[SessionRecord]:
        """All sessions of the workspace, last updated first."""
        records = self._file.read(
            "list the sessions", lambda connection: [SessionRecord(*row) for row in connection.execute(forking.SESSIONS)]
        )
        return [replace(record, title=self._waits.of(record.id).title or record.title) for record in records]

    def fork(self, session_id: str, through: int | None, title: str, at: float) -> SessionRecord:
        """A new session that this process writes: the entries of that one up to `through` (None: all), exactly as they lie in the file, and
        a `Forked` after them. It is there whole or not at all. Raises `UnknownSession`.

        Copies some at a time (about 10 µs each, so do it in another thread): others may use the log in between.
        """
        if is_foreign(session_id):
            raise ForeignSession(session_id)
        last, lineage = self._file.read(
            "read the session", lambda connection: (_last_in_file(connection, session_id), forking.lineages(connection)[session_id])
        )
        through = last if through is None else min(through, last)
        record = SessionRecord(secrets.token_hex(8), _storable(title), at, at)
        self.claim(record.id)

        def begin(connection: sqlite3.Connection) -> None:
            _add_session(connection, record)
            forking.begin(connection, record.id, fork_of(session_id, lineage, through))

        try:
            self._file.change("fork the session", begin)
            self._copy(session_id, record.id, through, at)
        except BaseException:
            with suppress(StoreFailed):
                self.delete(record.id)
            raise
        return record

    def _copy(self, session_id: str, fork_id: str, through: int, at: float) -> None:
        def page(connection: sqlite3.Connection) -> int:
            forking.copy_page(connection, session_id, fork_id, after, through, COPIED_ROWS)
            return _last_in_file(connection, fork_id)

        def finish(connection: sqlite3.Connection) -> None:
            # Deleted meanwhile, it would have been copied in part.
            original = connection.execute("SELECT title, updated_at FROM session WHERE id = ?", (session_id,)).fetchone()
            if original is None:
                raise UnknownSession(session_id)
            _insert(connection, fork_id, through, (Forked(session_id, *original),), at)
            forking.finish(connection, fork_id)

        after, before = 0, -1
        while before < after < through:
            after, before = self._file.change("fork the session", page), after
            time.sleep(COPY_PAUSE)
        self._file.change("fork the session", finish)
        self._file.last_rows.logged(fork_id, through + 1)
        self._last_seq[fork_id] = through + 1

    def lineages(self) -> dict[str, Lineage]:
        """Of all sessions, where their entries were first logged."""
        return self._file.read("list the sessions", forking.lineages)

    def _delete_unfinished(self) -> None:
        """Removes forks whose maker ended before they were whole."""
        for session_id in self._file.read("list the sessions", forking.unfinished):
            with suppress(StoreFailed):  # another window makes it just now
                self.delete(session_id)

    def rename(self, session_id: str, title: str) -> None:
        """Gives the session another title. May be done while another window writes it."""

        def change(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "UPDATE session SET title = ?1, sum = session_sum(CAST(id AS BLOB), CAST(?1 AS BLOB), created_at) WHERE id = ?2",
                (_storable(title), session_id),
            ).rowcount

        if not self._waits.of(session_id):
            try:
                if self._file.change("rename the session", change) == 0:
                    raise UnknownSession(session_id)
                return
            except StoreBusy:
                if session_id not in self._locks or not self._waits.can_wait:
                    raise
        self._waits.keep(session_id, Waiting(title=_storable(title)))

    def delete(self, session_id: str) -> None:
        """Deletes a session with its entries and queue, for good. Raises `SessionInUse`, `UnknownSession`."""

        def change(connection: sqlite3.Connection) -> None:
            if connection.execute("DELETE FROM session WHERE id = ?", (session_id,)).rowcount == 0:
                raise UnknownSession(session_id)
            forking.forget(connection, session_id)
            self._file.last_rows.deleted(session_id)

        self.claim(session_id)
        try:
            self._file.change("delete the session", change)
            self._waits.forget(session_id)
        finally:
            self.release(session_id)

    def claim(self, session_id: str) -> None:
        """Makes this process the one that writes the session. Raises `SessionInUse` where another one is.

        Everything that writes does it by itself. Do it before `load` where something is to be mended after it.
        """
        self._to_be_released.discard(session_id)
        if self._folder is not None and session_id not in self._locks:
            self._lock(self._folder, session_id)
            self._waits.claimed(session_id)

    def _lock(self, folder: Path, session_id: str) -> None:
        try:
            self._locks[session_id] = SystemLock(ullage_folder.session_lock(folder, session_id))
        except HeldElsewhere as error:
            raise SessionInUse(session_id) from error

    def release(self, session_id: str) -> None:
        """Lets another process write the session; where something of it still waits for the log, as soon as that is in it."""
        if self._waits.of(session_id):
            self._to_be_released.add(session_id)
            return
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

        def wait(last: int) -> tuple[Waiting, list[Logged]]:
            logged = _numbered(last, entries, at)
            return Waiting(entries=[_row_of(session_id, each) for each in logged]), logged

        return self._write(
            session_id, "write to the log", lambda connection, last: _insert(connection, session_id, last, entries, at), wait
        )

    def load(self, session_id: str) -> list[Logged]:
        """All entries of a session, oldest first (about 10 µs each). Raises `UnknownSession`.

        A row that cannot be read is passed over; `damaged` tells of it. Read some at a time: others may use the log in between.
        """
        last = self._file.read("read the session", lambda connection: self._reached(connection, session_id))
        loaded, damaged, missing = self._read_all(session_id, last)
        if missing and self._look_for(session_id, missing, last):
            loaded, damaged, missing = self._read_all(session_id, last)
        damaged += [DamagedRow(seq, GONE) for seq in missing]
        waiting = [row for row in self._waits.of(session_id).entries if row.seq > last]
        loaded += [reading.logged_of(row) for row in waiting]
        self._last_seq[session_id] = waiting[-1].seq if waiting else last
        self._damaged[session_id] = sorted(damaged, key=lambda row: row.seq)
        return loaded

    def _read_all(self, session_id: str, last: int) -> tuple[list[Logged], list[DamagedRow], set[int]]:
        """The entries of a session, the rows that cannot be read, and the seqs that are in no row."""
        loaded: list[Logged] = []
        damaged: list[DamagedRow] = []
        missing = set(range(1, last + 1))
        for row in self._rows(session_id, last):
            missing.discard(row.seq)
            try:
                loaded.append(reading.logged_of(row))
            except DamagedEntry as error:
                damaged.append(DamagedRow(row.seq, str(error)))
        return loaded, damaged, missing

    def _look_for(self, session_id: str, missing: AbstractSet[int], last: int) -> bool:
        """Looks through the whole file for entries that nobody knows to be lost: the numbers of a session have no gaps. Those that are
        nowhere are noted, and not looked for again. Whether it was looked through."""

        def unknown(connection: sqlite3.Connection) -> set[int]:
            there = {row.seq for row in reading.some(connection, session_id, 0, last)}
            return set(missing) - reading.known_to_be_lost(connection, session_id) - there

        def look_through(connection: sqlite3.Connection) -> None:
            if unknown(connection):
                raise Damage("entries are missing in it")

        def note(connection: sqlite3.Connection) -> None:
            lost = unknown(connection)
            if lost:
                keep_lost(connection, session_id.encode(), lost | reading.known_to_be_lost(connection, session_id))

        if not self._file.read("read the session", unknown):
            return False
        with suppress(StoreFailed):  # found nowhere
            self._file.read("read the session", look_through)
        with suppress(StoreFailed):  # a log that is only read
            self._file.change("read the session", note)
        return True

    def _rows(self, session_id: str, last: int) -> Iterator[EntryRow]:
        """The entries up to `last`, a page at a time."""

        def page(connection: sqlite3.Connection) -> list[EntryRow]:
            return reading.some(connection, session_id, after, last, PAGE_ROWS)

        after = 0
        while after < last:
            rows = self._file.read("read the session", page)
            if not rows:
                return
            yield from rows
            after = rows[-1].seq

    def entries(self, session_id: str) -> Iterator[Logged]:
        """Those that can be read, oldest first, one by one; others may use the log in between. Raises `UnknownSession`."""
        last = self._file.read("read the session", lambda connection: _last_in_file(connection, session_id))
        for row in self._rows(session_id, last):
            logged = reading.logged_or_none(row)
            if logged is not None:
                yield logged

    def rows_after(self, row: int, limit: int) -> list[LoggedRow]:
        """What was logged in any session after that row of the file, oldest first; for the search index."""
        return self._file.read("read the log", lambda connection: reading.of_all(connection, row, limit))

    def between(self, session_id: str, first: int, last: int) -> list[Logged]:
        """The entries of a session from seq `first` to `last`, both included, as far as they can be read."""
        rows = self._file.read("read the session", lambda connection: reading.some(connection, session_id, first - 1, last))
        return [logged for logged in map(reading.logged_or_none, rows) if logged is not None]

    def shown_media(self) -> set[Media]:
        """The images and documents of all sessions, those of waiting prompts among them. Looks through the whole file."""

        def read(connection: sqlite3.Connection) -> tuple[list[EntryRow], list[PromptRow]]:
            rows = connection.execute(
                "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry "
                "WHERE instr(CAST(body AS BLOB), :image) OR instr(CAST(body AS BLOB), :document)",
                _SHOWS_MEDIA,
            )
            waiting = connection.execute("SELECT CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB), sum FROM queued_prompt")
            return [EntryRow(*row) for row in rows], [PromptRow(*row) for row in waiting]

        rows, waiting = self._file.read("read the log", read)
        logged = (reading.logged_or_none(row) for row in rows)
        found = [*(each.entry for each in logged if each is not None), *(queued_prompts.readable(row)[0] for row in waiting)]
        return {media for entry in found for media in media_in(entry)}

    def damaged(self, session_id: str) -> tuple[DamagedRow, ...]:
        """What the last `load` of the session had to pass over."""
        return tuple(self._damaged.get(session_id, ()))

    # The queue of prompts

    def enqueue(self, session_id: str, prompt: UserPrompt) -> None:
        """Puts a prompt at the end of the session's queue."""
        row = queued_prompts.row_of(session_id, prompt)
        self._prompts[prompt.id] = row

        def add(connection: sqlite3.Connection, _: int) -> bool:
            queued_prompts.add(connection, row)
            return True

        is_in_the_log = self._write(session_id, "queue the prompt", add, lambda _: (Waiting(prompts=[row]), False))
        if is_in_the_log:
            self._file.last_rows.queued(session_id, prompt.id)

    def queued(self, session_id: str) -> list[UserPrompt]:
        """The prompts that wait, first come first. Of a damaged one there is what can be read of it, behind a word that it is damaged; it
        cannot be started."""
        rows = self._file.read("read the queue", lambda connection: queued_prompts.waiting(connection, session_id))
        rows = self._waits.of(session_id).still_queued(rows)
        self._prompts.update((row.id.decode("utf-8", "replace"), row) for row in rows)
        return [queued_prompts.readable(row)[0] for row in rows]

    def dequeue(self, prompt_id: str) -> bool:
        """Takes a prompt back; False where it does not wait (any more)."""
        statement = "DELETE FROM queued_prompt WHERE id = ?"
        row = self._prompts.get(prompt_id)
        session_id = "" if row is None else row.session_id.decode("utf-8", "replace")
        self._file.last_rows.left(prompt_id)  # before it is gone: it would be looked for
        if not self._waits.of(session_id):
            try:
                return self._file.change(
                    "take the prompt back", lambda connection: connection.execute(statement, (prompt_id,)).rowcount > 0
                )
            except StoreBusy:
                if session_id not in self._locks or not self._waits.can_wait:
                    raise
        if self._prompts.pop(prompt_id, None) is None:
            return False
        self._waits.keep(session_id, Waiting(left=[prompt_id]))
        return True

    def start_prompt(self, session_id: str, prompt_id: str, at: float) -> Logged:
        """Moves a prompt from the queue to the end of the log, at once or not at all."""

        def move(connection: sqlite3.Connection, last: int) -> Logged:
            prompt = queued_prompts.take(connection, session_id, prompt_id)
            return _insert(connection, session_id, last, (prompt,), at)[0]

        def wait(last: int) -> tuple[Waiting, Logged]:
            logged = _numbered(last, (queued_prompts.found(self._prompts.get(prompt_id), prompt_id),), at)[0]
            return Waiting(entries=[_row_of(session_id, logged)], left=[prompt_id]), logged

        logged = self._write(session_id, "start the prompt", move, wait)
        self._prompts.pop(prompt_id, None)
        self._file.last_rows.left(prompt_id)
        return logged

    # Small things to remember for this workspace

    def identity(self) -> str:
        """What tells this file from any other log: rows have other numbers there. It is new where the rows went into another file."""
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
        """What was kept under the key; None where nothing was."""

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

    def _write(
        self, session_id: str, action: str, work: Callable[[sqlite3.Connection, int], _T], wait: Callable[[int], tuple[Waiting, _T]]
    ) -> _T:
        """A transaction on one session, whose writer this process becomes; `work` gets the last seq before it. Where another program has
        the log locked, what `wait` makes of the same is kept until it is free."""
        if is_foreign(session_id):
            raise ForeignSession(session_id)

        def change(connection: sqlite3.Connection) -> tuple[_T, int]:
            last = self._reached(connection, session_id)
            if self._last_seq.get(session_id, last) != last:
                raise SessionInUse(session_id)  # written since we loaded it
            done = work(connection, last)
            return done, max(last, _last_in_file(connection, session_id))

        self.claim(session_id)
        if not self._waits.of(session_id):
            try:
                done, reached = self._file.change(action, change)
            except StoreBusy:
                if session_id not in self._last_seq or not self._waits.can_wait:
                    raise
            else:
                self._has_come_to(session_id, reached)
                return done
        last = self._last_seq[session_id]
        waiting, done = wait(last)
        self._waits.keep(session_id, waiting)
        self._last_seq[session_id] = last + len(waiting.entries)
        return done

    def _has_come_to(self, session_id: str, reached: int) -> None:
        if self._last_seq.get(session_id) != reached:
            self._last_seq[session_id] = reached
            self._file.last_rows.logged(session_id, reached)

    def _take_in(self, session_id: str, waiting: Waiting) -> None:
        self._file.change("write to the log", lambda connection: take_in(connection, session_id, waiting))
        if waiting.entries:
            self._file.last_rows.logged(session_id, waiting.entries[-1].seq)
        for row in waiting.still_queued(()):
            self._file.last_rows.queued(session_id, row.id.decode())

    def _taken_in(self, session_id: str) -> None:
        if session_id in self._to_be_released:
            self._to_be_released.discard(session_id)
            self.release(session_id)

    def _reached(self, connection: sqlite3.Connection, session_id: str) -> int:
        """The last seq that was ever given in the session: no number is given again to another entry, also where the last are lost."""
        return max((_last_in_file(connection, session_id), *reading.known_to_be_lost(connection, session_id)))

    def _moved(self, connection: sqlite3.Connection) -> None:
        """The log is in another file now: what is missing in it is added from memory, and the locks of the sessions are taken anew, since
        they may be gone with the folder."""
        for held in self._held():
            last = held.entries[-1].seq if held.entries else 0
            there = {row.seq for row in reading.some(connection, held.session_id, 0, last) if row.is_whole}
            missing = [logged for logged in held.entries if logged.seq not in there]
            if missing:
                self._restore(connection, held, missing)
        for session_id, lock in tuple(self._locks.items()):
            lock.release()
            del self._locks[session_id]
            with suppress(StoreFailed):
                if self._folder is not None:
                    self._lock(self._folder, session_id)

    def _restore(self, connection: sqlite3.Connection, held: Held, missing: Sequence[Logged]) -> None:
        session_id = held.session_id
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is None:
                _add_session(connection, SessionRecord(session_id, held.title, missing[0].at, missing[-1].at))
            for logged in missing:
                connection.execute("DELETE FROM entry WHERE session_id = ? AND seq = ?", (session_id, logged.seq))
            add_entries(connection, (_row_of(session_id, logged) for logged in missing))
            lost = reading.known_to_be_lost(connection, session_id) - {logged.seq for logged in missing}
            keep_lost(connection, session_id.encode(), lost)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        self._file.last_rows.logged(session_id, missing[-1].seq)


def _add_session(connection: sqlite3.Connection, record: SessionRecord) -> None:
    session_id, title = record.id.encode(), record.title.encode()
    sums = session_sum(session_id, title, record.created_at), updated_sum(session_id, record.updated_at)
    connection.execute(
        "INSERT INTO session (id, title, created_at, updated_at, sum, updated_sum) VALUES (?, ?, ?, ?, ?, ?)",
        (record.id, record.title, record.created_at, record.updated_at, *sums),
    )


def _insert(connection: sqlite3.Connection, session_id: str, after: int, entries: Sequence[Entry], at: float) -> list[Logged]:
    logged = _numbered(after, entries, at)
    add_entries(connection, (_row_of(session_id, each) for each in logged))
    if logged:
        check = updated_sum(session_id.encode(), at)
        connection.execute("UPDATE session SET updated_at = ?, updated_sum = ? WHERE id = ?", (at, check, session_id))
    return logged


def _numbered(after: int, entries: Sequence[Entry], at: float) -> list[Logged]:
    return [Logged(seq, at, entry) for seq, entry in enumerate(entries, after + 1)]


def _row_of(session_id: str, logged: Logged) -> EntryRow:
    name, body = session_id.encode(), encode(logged.entry).encode()
    return EntryRow(name, logged.seq, logged.at, body, entry_sum(name, logged.seq, logged.at, body))


def _last_in_file(connection: sqlite3.Connection, session_id: str) -> int:
    row = connection.execute(
        "SELECT (SELECT max(seq) FROM entry WHERE session_id = session.id) FROM session WHERE id = ?",
        (session_id,),
    ).fetchone()
    if row is None:
        raise UnknownSession(session_id)
    return row[0] or 0


def _storable(title: str) -> str:
    # Half a surrogate pair cannot be stored as UTF-8.
    return title.encode("utf-8", "replace").decode("utf-8")

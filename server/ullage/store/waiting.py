"""What was written while another program has the log locked: kept in a file of its own for each session, until it can go into the log.

A call that writes may stand in the event loop, so it does not wait for the lock. It adds its rows to the session's waiting file, which is
on disk when it returns: so an entry is durable before anything depends on it, under a lock too. The numbers of the rows are known, since
only the process that holds the session's lock writes it. A thread takes the rows into the log, in order, when the lock ends; after a crash
whoever claims the session next does. To take rows in twice does nothing: each has its number.

A log that was locked when it was opened is in memory (`log_file.py`). What is written in it is kept here, too (`SideFiles`). When the file
is free the rows of the memory go into it, and what lies beside it is thrown away. After a crash before that, whoever opens the log next
takes it in. All sessions in such a log were made meanwhile, forks and imports among them. They are kept whole as soon as they are.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ullage.store.errors import BeingSaved, StoreBusy, StoreFailed
from ullage.store.recovery import add_entries
from ullage.store.schema import EntryRow, PromptRow, SessionRow, ValueRow
from ullage.store.shared_files import write_whole
from ullage.store.statements import SessionRecord, session_row

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.25
"""Seconds between two tries to take in what waits."""

TOLD_AFTER = 8
"""The number of tries after which the user is told: what waits for less is another window's work."""


@dataclass(slots=True)
class Waiting:
    """What waits of one session, in order: the session itself where the log does not have it, entries, prompts that were queued, ids of
    those that left the queue, a new title, and what to remember of it."""

    session: SessionRow | None = None
    entries: list[EntryRow] = field(default_factory=list[EntryRow])
    prompts: list[PromptRow] = field(default_factory=list[PromptRow])
    left: list[str] = field(default_factory=list[str])
    title: str | None = None
    values: list[ValueRow] = field(default_factory=list[ValueRow])

    def __bool__(self) -> bool:
        return bool(self.session or self.entries or self.prompts or self.left or self.values or self.title is not None)

    def add(self, other: Waiting) -> None:
        """Adds what came after this."""
        self.session = self.session or other.session
        self.entries += other.entries
        self.prompts += other.prompts
        self.left += other.left
        self.values += other.values
        self.title = self.title if other.title is None else other.title

    def still_queued(self, queued: Sequence[PromptRow]) -> list[PromptRow]:
        """The prompts in the queue of the log as it is with what waits."""
        left = {prompt_id.encode() for prompt_id in self.left}
        known = {row.id for row in queued}
        return [row for row in (*queued, *(row for row in self.prompts if row.id not in known)) if row.id not in left]

    def as_text(self) -> str:
        """The text that is written into a waiting file."""
        return "".join(f"{json.dumps(line)}\n" for line in _lines(self))


class WaitingRows:
    """What waits of all sessions of one log, and the thread that takes it in. For any thread; without a folder nothing can wait.

    `take_in` writes what waits of a session into the log: it raises `StoreBusy` as long as that is locked.
    """

    def __init__(
        self, folder: Path | None, take_in: Callable[[str, Waiting], None], done: Callable[[str], None], tell: Callable[[str], None]
    ) -> None:
        self._files = None if folder is None else WaitingFiles(folder)
        self._take_in = take_in
        self._done = done
        self._tell = tell
        self._guard = threading.RLock()
        self._of: dict[str, Waiting] = {}
        self._closed = threading.Event()
        self._runs = False
        self._is_told = self._is_saved = False
        """Whether the user heard that the log is locked; and whether it is being saved, and not locked by another program."""

    @property
    def can_wait(self) -> bool:
        """Whether there is a place for what waits."""
        return self._files is not None

    def of(self, session_id: str) -> Waiting:
        """A copy of what waits of that session."""
        with self._guard:
            found = self._of.get(session_id)
            return (
                Waiting()
                if found is None
                else replace(found, entries=[*found.entries], prompts=[*found.prompts], left=[*found.left], values=[*found.values])
            )

    def keep(self, session_id: str, more: Waiting) -> None:
        """Lets more of the session wait; it is on disk when it returns. Raises `StoreFailed`."""
        if self._files is None:
            raise StoreFailed("There is no folder in which anything could wait")
        with self._guard:
            self._files.add(session_id, more)
            self._of.setdefault(session_id, Waiting()).add(more)
            self._begin()

    def claimed(self, session_id: str) -> None:
        """Takes in what another process left of a session that this one writes from now on. Raises `StoreFailed`."""
        if self._files is None:
            return
        with self._guard:
            found = self._files.read(session_id)
            if found:
                self._of[session_id] = found
                if not self._try(session_id):
                    self._begin()

    def left_behind(self) -> list[str]:
        """The sessions of which something waits on disk."""
        return [] if self._files is None else self._files.sessions()

    def forget(self, session_id: str) -> None:
        """Forgets what waits of a session that was deleted."""
        with self._guard:
            self._of.pop(session_id, None)
            if self._files is not None:
                self._files.remove(session_id)

    def close(self) -> None:
        """Ends the taking in. What still waits stays in its file."""
        self._closed.set()
        with self._guard:
            for session_id in tuple(self._of):
                self._try(session_id)
            self._of.clear()

    def _begin(self) -> None:
        if not self._runs and not self._closed.is_set():
            self._runs = True
            threading.Thread(target=self._run, name="ullage-waiting", daemon=True).start()

    def _run(self) -> None:
        rounds = 0
        while not self._closed.wait(RETRY_SECONDS):
            rounds += 1
            with self._guard:
                waiting = tuple(self._of)
            tried = [self._try(session_id) for session_id in waiting]
            with self._guard:
                if all(tried) and not self._of:
                    self._runs = False
                    break
            if rounds >= TOLD_AFTER and not self._is_told and not self._is_saved:
                self._is_told = True
                self._tell("Another program has the file of the sessions locked. What is said here is kept beside it until it is free.")
        if self._is_told and not self._closed.is_set():
            self._is_told = False
            self._tell("The file of the sessions is free again: what was kept beside it is saved in it.")

    def _try(self, session_id: str) -> bool:
        with self._guard:
            waiting = self._of.get(session_id)
            if waiting is None:
                return True
            try:
                self._take_in(session_id, waiting)
                if self._files is not None:
                    self._files.remove(session_id)
            except StoreBusy as error:
                self._is_saved = isinstance(error, BeingSaved)
                return False
            except StoreFailed as error:
                logger.warning("what waits of session %s could not be written: %s", session_id, error)
                return False
            del self._of[session_id]
            self._done(session_id)
        return True


class WaitingFiles:
    """The waiting files of one log. All calls raise `StoreFailed`. Whoever calls holds the session's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sessions(self) -> list[str]:
        """The ids of the sessions of which something waits."""
        try:
            return [path.stem for path in self._folder.glob("*.jsonl")]
        except OSError:
            return []

    def add(self, session_id: str, more: Waiting) -> None:
        """Adds what waits at the end of the session's file; it is on disk when it returns."""
        path = self._path(session_id)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(more.as_text().encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreFailed(
                f"Another program has the file of the sessions locked, and {path} cannot be written: {error.strerror or error}"
            ) from error

    def read(self, session_id: str) -> Waiting:
        """What a process that ended left waiting; a line that is not whole was never acknowledged."""
        waiting = Waiting()
        try:
            lines = self._path(session_id).read_bytes().splitlines(keepends=True)
        except OSError:
            return waiting
        for line in lines:
            try:
                waiting.add(_of_line(json.loads(line)))
            except ValueError:
                continue
        return waiting

    def put(self, session_id: str, whole: Waiting) -> None:
        """Writes the session's file anew, whole or not at all; it is on disk when it returns."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path(session_id), whole.as_text())

    def remove(self, session_id: str) -> None:
        """Removes the session's file: what waited is in the log."""
        try:
            self._path(session_id).unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailed(f"Cannot remove {self._path(session_id)}: {error.strerror or error}") from error

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.jsonl"


class SideFiles:
    """Keeps a log in memory in files beside its own; nothing without `files`. No call raises: what cannot be kept is told once."""

    def __init__(self, files: WaitingFiles | None, tell: Callable[[str], None]) -> None:
        self._files = files
        self._tell = tell
        self._kept: set[str] = set()
        self._guard = threading.Lock()

    def begin(self, record: SessionRecord) -> None:
        """Keeps a session that was made in memory."""
        with self._guard:
            if self._files is not None:
                self._kept.add(record.id)
                self._add(self._files, record.id, Waiting(session=session_row(record)))

    def add(self, session_id: str, written: Callable[[], Waiting]) -> None:
        """Keeps what was written in a session in memory; `written` gives it, and is called only where it is to be kept."""
        with self._guard:
            if self._files is not None and session_id in self._kept:
                self._add(self._files, session_id, written())

    def put(self, session_id: str, made: Callable[[], Waiting]) -> None:
        """Keeps a session that was made in memory with all that is in it by now: a fork, or one that was taken in."""
        whole = made() if self.is_needed else None  # without the guard: `end` is called where the database is in use
        with self._guard:
            if self._files is not None and whole is not None:
                self._kept.add(session_id)
                self._keep(self._files, lambda files: files.put(session_id, whole))

    @property
    def is_needed(self) -> bool:
        """Whether anything is kept there."""
        return self._files is not None

    def forget(self, session_id: str) -> None:
        """Removes what is kept of a session that was deleted."""
        with self._guard:
            if self._files is not None and session_id in self._kept:
                self._kept.discard(session_id)
                _remove(self._files, session_id)

    def end(self) -> None:
        """Removes all that is kept, since the log is in its file now."""
        with self._guard:
            for session_id in self._kept:
                if self._files is not None:
                    _remove(self._files, session_id)
            self._kept.clear()
            self._files = None

    def _add(self, files: WaitingFiles, session_id: str, waiting: Waiting) -> None:
        self._keep(files, lambda files: files.add(session_id, waiting))

    def _keep(self, files: WaitingFiles, keep: Callable[[WaitingFiles], None]) -> None:
        try:
            keep(files)
        except (StoreFailed, OSError) as error:
            self._files = None  # what came later must not be taken in without what came before
            for kept in self._kept:
                _remove(files, kept)
            self._tell(f"{str(error).removesuffix('.')}. Until the file of the sessions is free, what is said is in memory only")


def take_in(connection: sqlite3.Connection, session_id: str, waiting: Waiting) -> None:
    """Writes what waited into the log, as far as it is not in it. Statements alone; the caller makes a transaction of them."""
    if waiting.session is not None:
        row = waiting.session
        connection.execute(
            "INSERT OR IGNORE INTO session (id, title, created_at, updated_at, sum, updated_sum) "
            "VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)",
            (row.id, row.title, row.created_at, row.updated_at, row.sum, row.updated_sum),
        )
    there = {seq for (seq,) in connection.execute("SELECT seq FROM entry WHERE session_id = ?", (session_id,))}
    add_entries(connection, (row for row in waiting.entries if row.seq not in there))
    if waiting.entries:
        connection.execute(
            "UPDATE session SET updated_at = ?1, updated_sum = updated_sum(CAST(id AS BLOB), ?1) WHERE id = ?2",
            (waiting.entries[-1].at, session_id),
        )
    connection.executemany(
        "INSERT OR IGNORE INTO queued_prompt (id, session_id, body, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        [(row.id, row.session_id, row.body, row.sum) for row in waiting.prompts],
    )
    connection.executemany("DELETE FROM queued_prompt WHERE id = ?", [(prompt_id,) for prompt_id in waiting.left])
    connection.executemany(
        "INSERT OR IGNORE INTO remembered (key, value, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        [(row.key, row.value, row.sum) for row in waiting.values],
    )
    if waiting.title is not None:
        connection.execute(
            "UPDATE session SET title = ?1, sum = session_sum(CAST(id AS BLOB), CAST(?1 AS BLOB), created_at) WHERE id = ?2",
            (waiting.title, session_id),
        )


def _lines(waiting: Waiting) -> Iterable[list[Any]]:
    if waiting.session is not None:
        row = waiting.session
        times = float(row.created_at), float(row.updated_at)
        yield ["session", _text(row.id), _text(row.title), *times, row.sum.hex(), row.updated_sum.hex()]
    for row in waiting.entries:
        yield ["entry", _text(row.session_id), row.seq, float(row.at), _text(row.body), row.sum.hex()]
    for row in waiting.prompts:
        yield ["prompt", _text(row.id), _text(row.session_id), _text(row.body), row.sum.hex()]
    for prompt_id in waiting.left:
        yield ["left", prompt_id]
    for row in waiting.values:
        yield ["value", _text(row.key), _text(row.value), row.sum.hex()]
    if waiting.title is not None:
        yield ["title", waiting.title]


def _of_line(line: Any) -> Waiting:
    """What a line of a waiting file says; empty if it is damaged. Raises `ValueError`."""
    match line:
        case ["session", str(session_id), str(title), float(created_at), float(updated_at), str(check), str(second)]:
            sums = bytes.fromhex(check), bytes.fromhex(second)
            session = SessionRow(_bytes(session_id), _bytes(title), created_at, updated_at, *sums)
            return Waiting(session=session) if session.is_whole and session.has_its_time else Waiting()
        case ["entry", str(session_id), int(seq), float(at), str(body), str(check)]:
            row = EntryRow(_bytes(session_id), seq, at, _bytes(body), bytes.fromhex(check))
            return Waiting(entries=[row]) if row.is_whole else Waiting()
        case ["prompt", str(prompt_id), str(session_id), str(body), str(check)]:
            prompt = PromptRow(_bytes(prompt_id), _bytes(session_id), _bytes(body), bytes.fromhex(check))
            return Waiting(prompts=[prompt]) if prompt.is_whole else Waiting()
        case ["left", str(prompt_id)]:
            return Waiting(left=[prompt_id])
        case ["value", str(key), str(value), str(check)]:
            kept = ValueRow(_bytes(key), _bytes(value), bytes.fromhex(check))
            return Waiting(values=[kept]) if kept.is_whole else Waiting()
        case ["title", str(title)]:
            return Waiting(title=title)
        case _:
            return Waiting()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _remove(files: WaitingFiles, session_id: str) -> None:
    try:
        files.remove(session_id)
    except StoreFailed as error:
        logger.warning("%s", error)

"""Reading a log that somebody else may have made, as a copy in a folder of our own: by our own decoder, with no SQL of it run.

What may be hostile in it: other tables in the place of ours (views, virtual tables, triggers, columns that are worked out), ids that are
paths, numbers and texts of any size, and all that its entries say. Of the first nothing is read; the rest is checked here.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ullage.context.entries import Logged, Notice, UserPrompt
from ullage.store import schema
from ullage.store.encode import DamagedEntry, decode, decode_prompt
from ullage.store.origins import is_foreign, is_id

VERSION = 1
"""The version of the logs that lay in workspaces; later versions keep them outside."""

MOST_SESSIONS = 10_000
MOST_ENTRIES = 200_000
"""The most entries of one session."""

MOST_BYTES = 32_000_000
"""The most bytes of one entry."""

SECONDS = 60.0
"""How long reading all of a log may take."""

_TITLE_CHARACTERS = 200
_READ = frozenset({"session", "entry", "queued_prompt", "remembered"})
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
_UNREADABLE = "(Here stood an entry that could not be read when the session was taken in.)"


class NotBrought(Exception):
    """The file is no log that can be taken in; `str()` says why."""


@dataclass(frozen=True, slots=True)
class SessionInFile:
    """A session as it lies in the file. `logged` has no gaps: a notice stands for each entry that could not be read."""

    id: str
    title: str
    created_at: float
    logged: tuple[Logged, ...]
    unreadable: int
    queued: tuple[UserPrompt, ...]
    digest: str
    """The hash of its id and its rows (hex)."""


class BroughtLog:
    """A log that somebody brought, open to be read. All calls raise `NotBrought`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def session_ids(self) -> list[str]:
        """The ids of the sessions that are whole. Those whose ids cannot be ids of sessions are left out."""
        ids = [_text(value) for (value,) in self._rows("SELECT id FROM session ORDER BY updated_at LIMIT ?", MOST_SESSIONS)]
        found = [each for each in ids if each is not None and is_id(each) and not is_foreign(each)]
        return [each for each in found if self.remembered(f"unfinished:{each}") is None]

    def session(self, session_id: str) -> SessionInFile:
        """The session with that id, with all it holds."""
        found = self._rows("SELECT title, created_at FROM session WHERE id = ?", session_id)
        if not found:
            raise NotBrought(f"there is no session {session_id} in it")
        title = " ".join((_text(found[0][0]) or "").split())[:_TITLE_CHARACTERS]
        hashed = hashlib.sha256(session_id.encode())
        logged: list[Logged] = []
        unreadable = 0
        for seq, at, body in self._entries(session_id):
            if not isinstance(seq, int) or not len(logged) < seq <= MOST_ENTRIES:
                raise NotBrought(f"the entries of session {session_id} are not numbered as Ullage numbers them")
            entry = _entry(seq, at, body)
            missing = range(len(logged) + 1, seq if entry is not None else seq + 1)
            logged += [Logged(each, _time(at), Notice("resume", _UNREADABLE)) for each in missing]
            unreadable += len(missing)
            if entry is not None:
                logged.append(entry)
            hashed.update(b"%d:" % seq + (body if isinstance(body, bytes) else b""))
        queued = self._rows("SELECT body FROM queued_prompt WHERE session_id = ? ORDER BY position LIMIT 1000", session_id)
        prompts = tuple(prompt for (body,) in queued if (prompt := _prompt(body)) is not None)
        return SessionInFile(session_id, title, _time(found[0][1]), tuple(logged), unreadable, prompts, hashed.hexdigest())

    def remembered(self, key: str) -> str | None:
        """The value that was kept under a key, as JSON text; None if there is none."""
        found = self._rows("SELECT value FROM remembered WHERE key = ?", key)
        return _text(found[0][0]) if found else None

    def _entries(self, session_id: str) -> Iterator[tuple[Any, ...]]:
        statement = "SELECT seq, at, body FROM entry WHERE session_id = ? ORDER BY seq LIMIT ?"
        with _failing_clearly():
            yield from self._connection.execute(statement, (session_id, MOST_ENTRIES + 1))

    def _rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        with _failing_clearly():
            return self._connection.execute(statement, values).fetchall()


@contextmanager
def opened(path: Path) -> Generator[BroughtLog]:
    """Opens the log in a file of our own folder, which SQLite may change: a copy. Raises `NotBrought`."""
    with _failing_clearly():
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None)
    with closing(connection):
        with _failing_clearly():
            _confine(connection)
        yield BroughtLog(connection)


def _confine(connection: sqlite3.Connection) -> None:
    """Lets nothing be done with the connection but read our own tables. Raises `NotBrought` if they are not those."""
    ends = time.monotonic() + SECONDS
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_progress_handler(lambda: time.monotonic() > ends, 100_000)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
        connection.execute(f"PRAGMA {pragma}")
    version = schema.version_of(connection)
    if version > VERSION:
        raise NotBrought("it was written by a later version of Ullage, which keeps no logs in workspaces")
    if version < VERSION:
        raise NotBrought("it is no log of Ullage")
    objects = connection.execute(_OBJECTS).fetchall()
    if objects != _our_objects():
        raise NotBrought("its tables are not those that Ullage makes")
    connection.set_authorizer(_authorize)


def _authorize(action: int, table: str | None, column: str | None, database: str | None, inside: str | None) -> int:
    """Tells SQLite what a statement may do: `inside` names a view or a trigger that would do it."""
    if inside is None and action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if inside is None and action == sqlite3.SQLITE_READ and table in _READ:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _our_objects() -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.text_factory = bytes
        for statement in schema.MIGRATIONS[VERSION - 1]:
            connection.execute(statement)
        return connection.execute(_OBJECTS).fetchall()


@contextmanager
def _failing_clearly() -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise NotBrought(f"it cannot be read: {error}") from error


def _entry(seq: int, at: object, body: object) -> Logged | None:
    text = _text(body)
    try:
        return None if text is None else Logged(seq, _time(at), decode(text))
    except DamagedEntry:
        return None


def _prompt(body: object) -> UserPrompt | None:
    text = _text(body)
    try:
        return None if text is None else decode_prompt(text)
    except DamagedEntry:
        return None


def _text(value: object) -> str | None:
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else None
    except UnicodeDecodeError:
        return None


def _time(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and 0 <= value < 1e11 else 0.0

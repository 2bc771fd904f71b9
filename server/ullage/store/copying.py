"""Putting the rows of an open log into another file, some at a time, so that others use both in between.

Entries are only ever added, and each has its number. So rows that are there already are passed over, and what was cut off in the middle is
gone on with by doing it again. A session that went another way there (the same number, another entry) is added under a new id, so that
both are kept.

Where rows are missing in the other file, they are added from what the open sessions have in memory (`HeldSessions`): what is in view and
what is new. Older rows are only in the file.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from ullage.context.entries import Logged
from ullage.store.last_rows import LastRows
from ullage.store.recovery import IDENTITY, Rows, add_entries, keep_lost, make_session
from ullage.store.schema import EntryRow, PromptRow, SessionRow, ValueRow, entry_sum
from ullage.store.statements import SessionRecord, add_session, entry_rows, known_to_be_lost, row_of

PAGE_BYTES = 500_000
"""The bytes of entries that are read or written at once: some milliseconds."""

PAUSE = 0.001
"""Seconds between two pages, so that whoever waits comes first: a lock that is taken again at once is given to nobody else."""

ELSEWHERE = " (as it went on here)"
"""Stands behind the title of a session that went another way in the file that took the place of ours."""

_SUMS = 2_000
"""How many rows have their sums compared at once."""

_T = TypeVar("_T")


class Source(Protocol):
    """The rows of a log. All calls raise SQLite's errors."""

    def heads(self) -> Rows:
        """The rows of sessions, waiting prompts and remembered values: all but the entries."""
        ...

    def entries(self) -> Iterator[list[EntryRow]]:
        """The rows of all entries, some at a time."""
        ...

    def is_unlike(self, session_id: bytes, there: Mapping[int, bytes]) -> bool:
        """Whether a whole entry of the session has a number that stands for another one there; `there` has sums by number."""
        ...


class OpenRows:
    """The rows of an open database. `alone` makes a call with its connection while nobody else uses it."""

    def __init__(self, alone: Callable[[Callable[[sqlite3.Connection], object]], object]) -> None:
        self._make_alone = alone

    def _alone(self, call: Callable[[sqlite3.Connection], _T]) -> _T:
        made: list[_T] = []
        self._make_alone(lambda connection: made.append(call(connection)))
        return made[0]

    def heads(self) -> Rows:
        """The rows of sessions, waiting prompts and remembered values: all but the entries."""
        return self._alone(read_heads)

    def entries(self) -> Iterator[list[EntryRow]]:
        """The rows of all entries, some at a time, in the order in which they lie in the table: an index may be damaged."""
        last = 0
        while True:
            last, rows = self._alone(partial(_page, after=last))
            if not rows:
                return
            yield rows
            time.sleep(PAUSE)

    def is_unlike(self, session_id: bytes, there: Mapping[int, bytes]) -> bool:
        """Whether a whole entry of the session has a number that stands for another one there; `there` has sums by number."""
        after = 0
        while True:
            sums = self._alone(partial(_sums, session_id=session_id, after=after))
            if not sums:
                return False
            others = [seq for seq, check in sums if there.get(seq, check) != check]
            if any(self._alone(partial(_is_whole, session_id=session_id, seq=seq)) for seq in others):
                return True
            after = sums[-1][0]


class RowsInMemory:
    """Rows of a log that were read into memory."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def heads(self) -> Rows:
        """All rows that were read, and the entries with them."""
        return self._rows

    def entries(self) -> Iterator[list[EntryRow]]:
        """The rows of all entries, session by session."""
        return (list(each.values()) for each in self._rows.entries.values())

    def is_unlike(self, session_id: bytes, there: Mapping[int, bytes]) -> bool:
        """Whether a whole entry of the session has a number that stands for another one there; `there` has sums by number."""
        ours = self._rows.entries.get(session_id, {})
        return any(there.get(seq, row.sum) != row.sum and row.is_whole for seq, row in ours.items())


def read_out(source: Source) -> RowsInMemory:
    """Reads all rows of a log into memory."""
    rows = source.heads()
    for page in source.entries():
        for row in page:
            rows.entries.setdefault(row.session_id, {})[row.seq] = row
    return RowsInMemory(rows)


def copy(source: Source, into: sqlite3.Connection) -> None:
    """Puts the rows of a log into another that does not have them yet. Raises SQLite's errors."""
    heads = source.heads()
    ids = {session_id: _id_there(source, session_id, into) for session_id in heads.sessions}
    _in_transaction(into, partial(_add_heads, into, heads, ids))
    for page in source.entries():
        rows = [_of_session(row, ids[row.session_id]) for row in page if row.session_id in ids]
        _in_transaction(into, partial(_add_missing, into, rows))


def _id_there(source: Source, session_id: bytes, into: sqlite3.Connection) -> bytes:
    found = into.execute("SELECT seq, sum FROM entry WHERE session_id = CAST(? AS TEXT)", (session_id,))
    there: dict[int, bytes] = dict(found)
    return secrets.token_hex(8).encode() if there and source.is_unlike(session_id, there) else session_id


def _add_heads(into: sqlite3.Connection, heads: Rows, ids: Mapping[bytes, bytes]) -> None:
    for row in sorted(heads.sessions.values(), key=lambda row: row.created_at):
        new_id = ids[row.id]
        here = row if new_id == row.id else make_session(new_id, row.title + ELSEWHERE.encode(), row.created_at, row.updated_at)
        into.execute(
            "INSERT OR IGNORE INTO session (id, title, created_at, updated_at, sum, updated_sum) "
            "VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)",
            (here.id, here.title, here.created_at, here.updated_at, here.sum, here.updated_sum),
        )
    into.executemany(
        "INSERT OR IGNORE INTO queued_prompt (id, session_id, body, sum) SELECT CAST(?1 AS TEXT), id, CAST(?3 AS TEXT), ?4 "
        "FROM session WHERE id = CAST(?2 AS TEXT)",
        [(row.id, row.session_id, row.body, row.sum) for row in heads.prompts.values()],
    )
    into.executemany(
        "INSERT OR IGNORE INTO remembered (key, value, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        [(row.key, row.value, row.sum) for row in heads.values.values() if row.key != IDENTITY.encode()],
    )


def _add_missing(into: sqlite3.Connection, rows: list[EntryRow]) -> None:
    into.executemany(
        "INSERT OR IGNORE INTO entry (session_id, seq, at, body, sum) VALUES (CAST(? AS TEXT), ?, ?, CAST(? AS TEXT), ?)",
        [(row.session_id, row.seq, row.at, row.body, row.sum) for row in rows],
    )


def _of_session(row: EntryRow, session_id: bytes) -> EntryRow:
    if row.session_id == session_id:
        return row
    check = entry_sum(session_id, row.seq, row.at, row.body) if row.is_whole else row.sum
    return replace(row, session_id=session_id, sum=check)


def _in_transaction(connection: sqlite3.Connection, work: Callable[[], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work()
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


# Reading an open database


def read_heads(connection: sqlite3.Connection) -> Rows:
    """All rows of a log but its entries. Raises SQLite's errors."""
    rows = Rows()
    for row in connection.execute(
        "SELECT CAST(id AS BLOB), CAST(title AS BLOB), created_at, updated_at, sum, updated_sum FROM session ORDER BY rowid"
    ):
        session = SessionRow(*row)
        rows.sessions[session.id] = session
    for row in connection.execute(
        "SELECT CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB), sum FROM queued_prompt ORDER BY position"
    ):
        prompt = PromptRow(*row)
        rows.prompts[prompt.id] = prompt
    for row in connection.execute("SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered"):
        value = ValueRow(*row)
        rows.values[value.key] = value
    return rows


def _page(connection: sqlite3.Connection, after: int) -> tuple[int, list[EntryRow]]:
    found = connection.execute(
        "SELECT row, CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry NOT INDEXED WHERE row > ? ORDER BY row", (after,)
    )
    rows: list[EntryRow] = []
    size = 0
    for last, *values in found:
        rows.append(EntryRow(*values))
        after = last
        size += len(rows[-1].body)
        if size >= PAGE_BYTES:
            break
    found.close()
    return after, rows


def _sums(connection: sqlite3.Connection, session_id: bytes, after: int) -> list[tuple[int, bytes]]:
    return connection.execute(
        "SELECT seq, sum FROM entry WHERE session_id = CAST(? AS TEXT) AND seq > ? ORDER BY seq LIMIT ?", (session_id, after, _SUMS)
    ).fetchall()


def _is_whole(connection: sqlite3.Connection, session_id: bytes, seq: int) -> bool:
    found = connection.execute(
        "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry WHERE session_id = CAST(? AS TEXT) AND seq = ?",
        (session_id, seq),
    ).fetchone()
    return found is not None and EntryRow(*found).is_whole


# What the open sessions have in memory

_LOOKED_AT = 250
"""How many rows are looked at at once."""


@dataclass(frozen=True, slots=True)
class HeldSession:
    """An open session, with those of its entries that are in memory, in order."""

    session_id: str
    title: str
    entries: Sequence[Logged]


class HeldSessions:
    """The open sessions of one log; `tell` says which they are."""

    def __init__(self) -> None:
        self.tell: Callable[[], Iterable[HeldSession]] = tuple

    def restore(self, connection: sqlite3.Connection, last_rows: LastRows) -> None:
        """Adds to that database what is missing in it of the open sessions. Raises SQLite's errors."""
        for held in self.tell():
            there = set(_whole_in_memory(connection, held))
            missing = [logged for logged in held.entries if logged.seq not in there]
            if missing:
                _restore(connection, held, missing)
                last_rows.logged(held.session_id, missing[-1].seq)


def _whole_in_memory(connection: sqlite3.Connection, held: HeldSession) -> Iterator[int]:
    """The numbers of the rows in the file that are as they were written, from the first to the last entry that is in memory."""
    if not held.entries:
        return
    after, last = held.entries[0].seq - 1, held.entries[-1].seq
    while rows := entry_rows(connection, held.session_id, after, last, _LOOKED_AT):
        yield from (row.seq for row in rows if row.is_whole)
        after = rows[-1].seq


def _restore(connection: sqlite3.Connection, held: HeldSession, missing: Sequence[Logged]) -> None:
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

"""The rows of a session as they lie in the log, for a copy of it that is kept elsewhere: read out, and put in from there.

Whoever puts rows in has claimed the session. Nothing is put in place of a row that is there: entries are only added.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.store.copying import ELSEWHERE
from ullage.store.errors import UnknownSession
from ullage.store.log_file import LogFile
from ullage.store.recovery import LOST, add_entries, make_session
from ullage.store.schema import EntryRow, PromptRow, SessionRow, ValueRow, entry_sum, value_sum
from ullage.store.session_list import AGENT, FIGURES, LISTED, REFETCHED, SESSIONS, forget_fork
from ullage.store.session_writer import SessionWriter, add_prompt, waiting_prompts
from ullage.store.statements import entry_rows, last_in_file
from ullage.store.waiting import Waiting

GO_ALONG = (LOST, "lineage:", "model:", "effort:", AGENT, FIGURES, REFETCHED)
"""What stands before a session's id in the keys of what is remembered of it and goes where it goes. Its worktree stays: it is of this
machine."""

LAST = 1 << 62
"""A number that is higher than any seq."""


@dataclass(frozen=True, slots=True)
class Heads:
    """All rows of a session but its entries."""

    session: SessionRow
    values: Sequence[ValueRow] = ()
    prompts: Sequence[PromptRow] = ()


class SessionRows:
    """Reads the rows of the sessions of one log, and puts rows in. All calls raise `StoreFailed`."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer

    def ids(self) -> list[str]:
        """The ids of the sessions that are whole, last updated first."""
        return self._file.read("list the sessions", lambda connection: [str(row[0]) for row in connection.execute(SESSIONS)])

    def last(self, session_id: str) -> int:
        """The last seq of a session, with what waits; 0 if there is no such session."""
        waiting = self._writer.waiting_of(session_id).entries
        if waiting:
            return waiting[-1].seq
        try:
            return self._file.read("read the session", lambda connection: last_in_file(connection, session_id))
        except UnknownSession:
            return 0

    def after(self, session_id: str, seq: int, most: int) -> list[EntryRow]:
        """The rows of entries behind that seq, at most that many; what waits for the log comes last."""
        waiting = self._writer.waiting_of(session_id)  # asked first: it may be in the log by the time that the log is read
        rows = self._file.read("read the session", lambda connection: entry_rows(connection, session_id, seq, LAST, most))
        return _with_waiting(rows, waiting, seq, most)

    def after_and_heads(self, session_id: str, seq: int, most: int) -> tuple[list[EntryRow], Heads | None]:
        """The rows that `after` gives, and what `heads` gives at that moment. One look at the log: a turn waits for whoever sends them."""
        waiting = self._writer.waiting_of(session_id)
        rows, heads = self._file.read(
            "read the session",
            lambda connection: (entry_rows(connection, session_id, seq, LAST, most), _heads(connection, session_id)),
        )
        return _with_waiting(rows, waiting, seq, most), _still_queued(heads, waiting)

    def heads(self, session_id: str) -> Heads | None:
        """All rows of a session but its entries; None if there is no such session."""
        waiting = self._writer.waiting_of(session_id)
        return _still_queued(self._file.read("read the session", lambda connection: _heads(connection, session_id)), waiting)

    def put(self, heads: Heads, rows: Sequence[EntryRow]) -> None:
        """Adds the session where there is none, those of the rows that are not there, and what goes along with the session as it is now."""
        name = heads.session.id
        session_id = name.decode()
        gone: list[str] = []

        def change(connection: sqlite3.Connection) -> int:
            here = heads.session
            connection.execute(
                "INSERT OR IGNORE INTO session (id, title, created_at, updated_at, sum, updated_sum) "
                "VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)",
                (here.id, here.title, here.created_at, here.updated_at, here.sum, here.updated_sum),
            )
            connection.execute(
                "UPDATE session SET title = CAST(?1 AS TEXT), sum = session_sum(CAST(id AS BLOB), ?1, created_at), updated_at = ?2, "
                "updated_sum = updated_sum(CAST(id AS BLOB), ?2) WHERE id = ?3",
                (here.title, here.updated_at, session_id),
            )
            if rows:
                first, last = rows[0].seq, rows[-1].seq
                there = {row.seq for row in entry_rows(connection, session_id, first - 1, last)}
                add_entries(connection, [row for row in rows if row.seq not in there])
            connection.executemany(
                "INSERT OR REPLACE INTO remembered (key, value, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)",
                [(row.key, row.value, row.sum) for row in heads.values if _goes_along(row, session_id)],
            )
            gone.extend(row.id.decode() for row in waiting_prompts(connection, session_id))
            connection.execute("DELETE FROM queued_prompt WHERE session_id = ?", (session_id,))
            for prompt in heads.prompts:
                add_prompt(connection, prompt)
            return last_in_file(connection, session_id)

        last = self._file.change("take the session in", change)
        for prompt_id in gone:
            self._file.last_rows.left(prompt_id)
        self._file.last_rows.logged(session_id, last)
        for prompt in heads.prompts:
            self._file.last_rows.queued(session_id, prompt.id.decode())
        self._writer.stands_at(session_id, last)

    def last_elsewhere(self, session_id: str) -> int:
        """The seq to which the session had come in the team's store when its list was seen last; 0 if it was not in it."""

        def read(connection: sqlite3.Connection) -> int:
            found = connection.execute("SELECT value FROM remembered WHERE key = ?", (LISTED + session_id,)).fetchone()
            return int(found[0]) if found is not None and str(found[0]).isdecimal() else 0

        return self._file.read("read the session", read)

    def put_listed(self, listed: Sequence[tuple[Heads, int]]) -> None:
        """Takes in what the list of the team's store says: sessions that are not here are in our list from now on, without their
        entries."""

        def change(connection: sqlite3.Connection) -> None:
            for heads, last in listed:
                here, session_id = heads.session, heads.session.id.decode()
                connection.execute(
                    "INSERT INTO session (id, title, created_at, updated_at, sum, updated_sum) "
                    "VALUES (CAST(?1 AS TEXT), CAST(?2 AS TEXT), ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET "
                    "title = excluded.title, sum = session_sum(?1, ?2, created_at), updated_at = ?4, updated_sum = ?6",
                    (here.id, here.title, here.created_at, here.updated_at, here.sum, here.updated_sum),
                )
                key, value = f"{LISTED}{session_id}".encode(), str(last).encode()
                rows = [ValueRow(key, value, value_sum(key, value)), *(row for row in heads.values if _goes_along(row, session_id))]
                connection.executemany(
                    "INSERT OR REPLACE INTO remembered (key, value, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)",
                    [(row.key, row.value, row.sum) for row in rows],
                )

        self._file.change("list the sessions", change)

    def listed_alone(self) -> list[str]:
        """The ids of sessions of which only the list of the team's store tells: no entry of them is here."""

        def read(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT session.id FROM session JOIN remembered ON key = ? || session.id "
                "WHERE NOT EXISTS (SELECT 1 FROM entry WHERE session_id = session.id)",
                (LISTED,),
            )
            return [str(row[0]) for row in rows]

        return self._file.read("list the sessions", read)

    def take_off_list(self, session_ids: Sequence[str]) -> None:
        """Takes sessions off our list that are no longer in the team's store, and of which nothing is here."""

        def change(connection: sqlite3.Connection) -> None:
            for session_id in session_ids:
                connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
                forget_fork(connection, session_id)

        self._file.change("list the sessions", change)

    def put_aside(self, session_id: str) -> str:
        """Gives the session that is here another id, so that one which went another way elsewhere can take its place; gives the new id."""
        new_id = secrets.token_hex(8)

        def change(connection: sqlite3.Connection) -> int:
            title, made, updated = connection.execute(
                "SELECT CAST(title AS BLOB), created_at, updated_at FROM session WHERE id = ?", (session_id,)
            ).fetchone()
            row = make_session(new_id.encode(), title + ELSEWHERE.encode(), made, updated)
            connection.execute(
                "INSERT INTO session (id, title, created_at, updated_at, sum, updated_sum) "
                "VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)",
                (row.id, row.title, row.created_at, row.updated_at, row.sum, row.updated_sum),
            )
            last = last_in_file(connection, session_id)
            add_entries(connection, [_of(each, new_id.encode()) for each in entry_rows(connection, session_id, 0, last)])
            connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
            forget_fork(connection, session_id)
            self._file.last_rows.deleted(session_id)
            return last

        last = self._file.change("take the session in", change)
        self._file.last_rows.logged(new_id, last)
        return new_id


def _with_waiting(rows: list[EntryRow], waiting: Waiting, seq: int, most: int) -> list[EntryRow]:
    there = {row.seq for row in rows} if waiting.entries else ()
    return [*rows, *(row for row in waiting.entries if row.seq > seq and row.seq not in there)][:most]


def _still_queued(heads: Heads | None, waiting: Waiting) -> Heads | None:
    return None if heads is None else replace(heads, prompts=waiting.still_queued(heads.prompts))


def _heads(connection: sqlite3.Connection, session_id: str) -> Heads | None:
    found = connection.execute(
        "SELECT CAST(id AS BLOB), CAST(title AS BLOB), created_at, updated_at, sum, updated_sum FROM session WHERE id = ?", (session_id,)
    ).fetchone()
    if found is None:
        return None
    rows = connection.execute(
        "SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered WHERE key IN (?, ?, ?, ?, ?, ?, ?) ORDER BY key",
        [each + session_id for each in GO_ALONG],
    )
    values = [row for row in (ValueRow(*each) for each in rows) if row.is_whole]
    return Heads(SessionRow(*found), values, waiting_prompts(connection, session_id))


def goes_along(key: str) -> str:
    """The session with which a remembered value goes; empty if it stays on this machine."""
    return next((key.removeprefix(each) for each in GO_ALONG if key.startswith(each)), "")


def _of(row: EntryRow, session_id: bytes) -> EntryRow:
    check = entry_sum(session_id, row.seq, row.at, row.body) if row.is_whole else row.sum
    return replace(row, session_id=session_id, sum=check)


def _goes_along(row: ValueRow, session_id: str) -> bool:
    return row.is_whole and row.key in {(each + session_id).encode() for each in GO_ALONG}

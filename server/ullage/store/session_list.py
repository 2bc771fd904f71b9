"""The sessions of a log as wholes: made, listed, forked, renamed, deleted.

The entries of a fork are copied page by page, so that others can write meanwhile. The fork is whole, or it is not there.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

from ullage.context.entries import Forked, Logged, UserPrompt
from ullage.store.errors import ForeignSession, StoreFailed, UnknownSession
from ullage.store.examine import Damage
from ullage.store.log_file import LogFile
from ullage.store.origins import Lineage, fork_of, is_foreign
from ullage.store.recovery import LOST, add_entries
from ullage.store.schema import SessionRow, ValueRow, entry_sum
from ullage.store.session_writer import SessionWriter, add_prompt, prompt_row, readable_prompt, waiting_prompts
from ullage.store.statements import SessionRecord, add_after, add_session, entry_rows, last_in_file, storable
from ullage.store.waiting import Waiting

COPIED_ROWS = 250
"""How many rows are copied at once: as long as several writes."""

TAKEN_ROWS = 50
"""How many rows of a session are taken in at once: they are encoded meanwhile, and can be long."""

COPY_PAUSE = 0.001
"""Seconds between two such goes, so that whoever waits comes first: a lock that is taken again at once is given to nobody else."""


REFETCHED = "refetched:"
"""Stands before a session's id in the key of what its compactions brought about (`session/compacting/saving.py`). It goes with the
session."""

FIGURES = "figures:"
"""Stands so in the key of what the list of sessions says of it (`session/sessions/figures.py`)."""

WORKTREE = "worktree:"
"""Stands so in the key of the worktree in which its agent works (`session/sessions/worktrees.py`)."""

BROUGHT = "brought:"
"""Stands so in the key of what was brought last from that worktree, so that it can be taken back (`session/sessions/bringing_back.py`)."""

AGENT = "agent:"
"""Stands so in the key that says that it is a sub-agent's, and of which call of which session (`session/sessions/sub_agents.py`)."""

LISTED = "team:"
"""Stands so in the key of the seq to which it has come in the team's store (`session_rows.py`)."""

SESSIONS = """
SELECT id, title, created_at, updated_at FROM session
WHERE NOT EXISTS (SELECT 1 FROM remembered WHERE key = 'unfinished:' || session.id)
ORDER BY updated_at DESC, rowid DESC
"""
"""Selects all sessions but those that are being made, last updated first."""


_REMEMBER = "INSERT INTO remembered (key, value, sum) VALUES (?1, ?2, value_sum(CAST(?1 AS BLOB), CAST(?2 AS BLOB)))"


class SessionList:
    """Makes, lists, forks, renames and deletes the sessions of one log."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer

    def create(self, title: str, at: float) -> SessionRecord:
        """Makes a new, empty session that this process writes."""
        record = SessionRecord(secrets.token_hex(8), storable(title), at, at)
        self._writer.claim(record.id)
        self._file.change("make a session", lambda connection: add_session(connection, record))
        self._file.last_rows.logged(record.id, 0)
        self._writer.stands_at(record.id, 0)
        self._writer.beside.begin(record)
        self._writer.written(record.id)
        return record

    def take_in(self, record: SessionRecord, logged: Sequence[Logged], queued: Sequence[UserPrompt]) -> bool:
        """Adds a session that was made elsewhere, whole or not at all. Gives False if there is one of that id already."""

        def change(connection: sqlite3.Connection) -> bool:
            if connection.execute("SELECT 1 FROM session WHERE id = ?", (record.id,)).fetchone() is not None:
                return False
            add_session(connection, replace(record, title=storable(record.title)))
            for at, group in groupby(logged, lambda each: each.at):
                several = list(group)
                add_after(connection, record.id, several[0].seq - 1, [each.entry for each in several], at)
            for prompt in queued:
                with suppress(sqlite3.IntegrityError):  # another prompt has its id
                    add_prompt(connection, prompt_row(record.id, prompt))
            return True

        is_new = self._file.change("take the session in", change)
        if is_new:
            self._file.last_rows.logged(record.id, logged[-1].seq if logged else 0)
            for row in self._file.read("read the queue", lambda connection: waiting_prompts(connection, record.id)):
                self._file.last_rows.queued(record.id, readable_prompt(row)[0].id)
            self._keep_beside(record.id)
        return is_new

    def take_in_beside_others(self, record: SessionRecord, logged: Sequence[Logged], at: Callable[[float], None]) -> None:
        """Adds a session with a new id as `take_in` does, but some rows at a time, so that others can write meanwhile. `at` is told what
        share is done, and may raise: then nothing of the session is there."""
        self._writer.claim(record.id)

        def begin(connection: sqlite3.Connection) -> None:
            add_session(connection, replace(record, title=storable(record.title)))
            connection.execute(_REMEMBER, (f"unfinished:{record.id}", "true"))

        def add(connection: sqlite3.Connection) -> None:
            for when, group in groupby(page, lambda each: each.at):
                several = list(group)
                add_after(connection, record.id, several[0].seq - 1, [each.entry for each in several], when)

        try:
            self._file.change("take the session in", begin)
            for start in range(0, len(logged), TAKEN_ROWS):
                at(start / len(logged))
                page = logged[start : start + TAKEN_ROWS]
                self._file.change("take the session in", add)
                time.sleep(COPY_PAUSE)
            self._file.change("take the session in", lambda connection: finish_fork(connection, record.id))
        except BaseException:
            with suppress(StoreFailed):
                self.delete(record.id)
            raise
        last = logged[-1].seq if logged else 0
        self._file.last_rows.logged(record.id, last)
        self._writer.stands_at(record.id, last)
        self._keep_beside(record.id)

    def all(self) -> list[SessionRecord]:
        """All sessions of the workspace, last updated first."""
        records = self._file.read("list the sessions", lambda connection: [SessionRecord(*row) for row in connection.execute(SESSIONS)])
        return [replace(record, title=self._writer.waiting_of(record.id).title or record.title) for record in records]

    def lineages(self) -> dict[str, Lineage]:
        """Where the entries of each session were first logged, by the session's id."""
        return self._file.read("list the sessions", lineages_in)

    def rename(self, session_id: str, title: str) -> None:
        """Gives the session another title. May be done while another window writes it."""

        def change(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "UPDATE session SET title = ?1, sum = session_sum(CAST(id AS BLOB), CAST(?1 AS BLOB), created_at) WHERE id = ?2",
                (storable(title), session_id),
            ).rowcount

        renamed = self._writer.change_now(session_id, "rename the session", change)
        if renamed is None:
            self._writer.keep(session_id, Waiting(title=storable(title)))
        elif renamed == 0:
            raise UnknownSession(session_id)
        else:
            self._writer.beside.add(session_id, lambda: Waiting(title=storable(title)))

    def delete(self, session_id: str) -> None:
        """Deletes a session with its entries and queue, for good. Raises `SessionInUse`, `UnknownSession`."""

        def change(connection: sqlite3.Connection) -> None:
            if connection.execute("DELETE FROM session WHERE id = ?", (session_id,)).rowcount == 0:
                raise UnknownSession(session_id)
            forget_fork(connection, session_id)
            self._file.last_rows.deleted(session_id)

        self._writer.claim(session_id)
        try:
            self._file.change("delete the session", change)
            self._writer.forget_waiting(session_id)
            self._writer.beside.forget(session_id)
        finally:
            self._writer.release(session_id)

    # Forks

    def fork(self, session_id: str, through: int | None, title: str, at: float) -> SessionRecord:
        """Makes a new session with the entries of that one up to `through` (None: all), whole or not at all. Raises `UnknownSession`."""
        if is_foreign(session_id):
            raise ForeignSession(session_id)
        last, lineage = self._file.read(
            "read the session", lambda connection: (last_in_file(connection, session_id), lineages_in(connection)[session_id])
        )
        through = last if through is None else min(through, last)
        record = SessionRecord(secrets.token_hex(8), storable(title), at, at)
        self._writer.claim(record.id)

        def begin(connection: sqlite3.Connection) -> None:
            add_session(connection, record)
            begin_fork(connection, record.id, fork_of(session_id, lineage, through))

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
            copy_page(connection, session_id, fork_id, after, through, COPIED_ROWS)
            return last_in_file(connection, fork_id)

        def finish(connection: sqlite3.Connection) -> None:
            # If the session was deleted meanwhile, only a part of it was copied.
            original = connection.execute("SELECT title, updated_at FROM session WHERE id = ?", (session_id,)).fetchone()
            if original is None:
                raise UnknownSession(session_id)
            add_after(connection, fork_id, through, (Forked(session_id, *original),), at)
            finish_fork(connection, fork_id)

        after, before = 0, -1
        while before < after < through:
            after, before = self._file.change("fork the session", page), after
            time.sleep(COPY_PAUSE)
        self._file.change("fork the session", finish)
        self._file.last_rows.logged(fork_id, through + 1)
        self._writer.stands_at(fork_id, through + 1)
        self._keep_beside(fork_id)

    def _keep_beside(self, session_id: str) -> None:
        """Keeps the session whole beside a log that is locked."""
        self._writer.beside.put(
            session_id, lambda: self._file.read("read the session", lambda connection: whole_session(connection, session_id))
        )
        self._writer.written(session_id)

    def delete_unfinished(self) -> None:
        """Removes forks whose maker ended before they were whole."""
        for session_id in self._file.read("list the sessions", unfinished_forks):
            with suppress(StoreFailed):  # another window makes it just now
                self.delete(session_id)


def begin_fork(connection: sqlite3.Connection, fork_id: str, lineage: Lineage) -> None:
    """Marks a session that was just inserted as a fork that is not whole yet."""
    connection.execute(_REMEMBER, (f"unfinished:{fork_id}", "true"))
    connection.execute(_REMEMBER, (f"lineage:{fork_id}", json.dumps(lineage)))


def copy_page(connection: sqlite3.Connection, session_id: str, fork_id: str, after: int, through: int, rows: int) -> None:
    """Copies at most that many entries beyond seq `after`, as they lie in the file: damaged ones too, which stay damaged."""
    for row in entry_rows(connection, session_id, after, through, rows):
        check = entry_sum(fork_id.encode(), row.seq, row.at, row.body) if row.is_whole else row.sum
        add_entries(connection, [replace(row, session_id=fork_id.encode(), sum=check)])


def finish_fork(connection: sqlite3.Connection, fork_id: str) -> None:
    """Marks the fork as whole: from now on it is a session like any other."""
    connection.execute("DELETE FROM remembered WHERE key = ?", (f"unfinished:{fork_id}",))


def unfinished_forks(connection: sqlite3.Connection) -> list[str]:
    """The forks that are not whole: being made now, or left by a process that ended meanwhile."""
    rows = connection.execute("SELECT substr(key, length('unfinished:') + 1) FROM remembered WHERE key LIKE 'unfinished:%'")
    return [session_id for (session_id,) in rows]


def forget_fork(connection: sqlite3.Connection, session_id: str) -> None:
    """Forgets what is remembered of a session that is deleted."""
    keys = [
        f"unfinished:{session_id}",
        f"lineage:{session_id}",
        LOST + session_id,
        REFETCHED + session_id,
        FIGURES + session_id,
        WORKTREE + session_id,
        BROUGHT + session_id,
        AGENT + session_id,
        LISTED + session_id,
    ]
    connection.executemany("DELETE FROM remembered WHERE key = ?", [(key,) for key in keys])


def whole_session(connection: sqlite3.Connection, session_id: str) -> Waiting:
    """Reads all that a log has of a session, in the form in which it would wait for the log. Raises `UnknownSession`."""
    session = connection.execute(
        "SELECT CAST(id AS BLOB), CAST(title AS BLOB), created_at, updated_at, sum, updated_sum FROM session WHERE id = ?", (session_id,)
    ).fetchone()
    if session is None:
        raise UnknownSession(session_id)
    values = connection.execute(
        "SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered WHERE key IN (?, ?, ?, ?, ?)",
        [f"{each}:{session_id}" for each in ("lineage", "model", "effort", "worktree", "agent")],
    )
    entries = entry_rows(connection, session_id, 0, last_in_file(connection, session_id))
    return Waiting(SessionRow(*session), entries, waiting_prompts(connection, session_id), values=[ValueRow(*row) for row in values])


def lineages_in(connection: sqlite3.Connection) -> dict[str, Lineage]:
    """The lineage of each session in the log, by its id; empty for those that are no forks. Raises `Damage`."""
    rows = connection.execute(
        "SELECT session.id, CAST(key AS BLOB), CAST(value AS BLOB), remembered.sum "
        "FROM session LEFT JOIN remembered ON key = 'lineage:' || session.id"
    )
    return {session_id: () if key is None else lineage_in(ValueRow(key, value, check)) for session_id, key, value, check in rows}


def lineage_in(row: ValueRow) -> Lineage:
    """The lineage of a fork in the row in which it is remembered. Raises `Damage`."""
    if not row.is_whole:
        raise Damage("it does not say any more where a fork comes from")
    return tuple((str(origin), int(through)) for origin, through in json.loads(row.value))

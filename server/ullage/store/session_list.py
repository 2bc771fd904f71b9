"""The sessions of a log as wholes: made, listed, forked, renamed, deleted."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

from ullage.context.entries import Forked, Logged, UserPrompt
from ullage.store import forking, queued_prompts
from ullage.store.adding import SessionRecord, add_after, add_session, storable
from ullage.store.errors import ForeignSession, StoreFailed, UnknownSession
from ullage.store.ids import is_foreign
from ullage.store.lineage import Lineage, fork_of
from ullage.store.log_file import LogFile
from ullage.store.reading import last_in_file
from ullage.store.session_writer import SessionWriter
from ullage.store.waiting import Waiting

COPIED_ROWS = 250
"""Rows that are copied at one go: as long as several writes."""

COPY_PAUSE = 0.001
"""Seconds between two such goes, so that whoever waits comes first: a lock that is taken again at once is given to nobody else."""


class SessionList:
    """The sessions of one log."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer

    def create(self, title: str, at: float) -> SessionRecord:
        """A new, empty session that this process writes."""
        record = SessionRecord(secrets.token_hex(8), storable(title), at, at)
        self._writer.claim(record.id)
        self._file.change("make a session", lambda connection: add_session(connection, record))
        self._file.last_rows.logged(record.id, 0)
        self._writer.stands_at(record.id, 0)
        self._writer.beside.begin(record)
        return record

    def take_in(self, record: SessionRecord, logged: Sequence[Logged], queued: Sequence[UserPrompt]) -> bool:
        """A session that was made elsewhere, whole or not at all. False where there is one of that id already."""

        def change(connection: sqlite3.Connection) -> bool:
            if connection.execute("SELECT 1 FROM session WHERE id = ?", (record.id,)).fetchone() is not None:
                return False
            add_session(connection, replace(record, title=storable(record.title)))
            for at, group in groupby(logged, lambda each: each.at):
                several = list(group)
                add_after(connection, record.id, several[0].seq - 1, [each.entry for each in several], at)
            for prompt in queued:
                with suppress(sqlite3.IntegrityError):  # another prompt has its id
                    queued_prompts.add(connection, queued_prompts.row_of(record.id, prompt))
            return True

        is_new = self._file.change("take the session in", change)
        if is_new:
            self._file.last_rows.logged(record.id, logged[-1].seq if logged else 0)
            for row in self._file.read("read the queue", lambda connection: queued_prompts.waiting(connection, record.id)):
                self._file.last_rows.queued(record.id, queued_prompts.readable(row)[0].id)
        return is_new

    def all(self) -> list[SessionRecord]:
        """All sessions of the workspace, last updated first."""
        records = self._file.read(
            "list the sessions", lambda connection: [SessionRecord(*row) for row in connection.execute(forking.SESSIONS)]
        )
        return [replace(record, title=self._writer.waiting_of(record.id).title or record.title) for record in records]

    def lineages(self) -> dict[str, Lineage]:
        """Of all sessions, where their entries were first logged."""
        return self._file.read("list the sessions", forking.lineages)

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
            forking.forget(connection, session_id)
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
        """A new session with the entries of that one up to `through` (None: all), whole or not at all. Raises `UnknownSession`."""
        if is_foreign(session_id):
            raise ForeignSession(session_id)
        last, lineage = self._file.read(
            "read the session", lambda connection: (last_in_file(connection, session_id), forking.lineages(connection)[session_id])
        )
        through = last if through is None else min(through, last)
        record = SessionRecord(secrets.token_hex(8), storable(title), at, at)
        self._writer.claim(record.id)

        def begin(connection: sqlite3.Connection) -> None:
            add_session(connection, record)
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
            return last_in_file(connection, fork_id)

        def finish(connection: sqlite3.Connection) -> None:
            # Deleted meanwhile, it would have been copied in part.
            original = connection.execute("SELECT title, updated_at FROM session WHERE id = ?", (session_id,)).fetchone()
            if original is None:
                raise UnknownSession(session_id)
            add_after(connection, fork_id, through, (Forked(session_id, *original),), at)
            forking.finish(connection, fork_id)

        after, before = 0, -1
        while before < after < through:
            after, before = self._file.change("fork the session", page), after
            time.sleep(COPY_PAUSE)
        self._file.change("fork the session", finish)
        self._file.last_rows.logged(fork_id, through + 1)
        self._writer.stands_at(fork_id, through + 1)

    def delete_unfinished(self) -> None:
        """Removes forks whose maker ended before they were whole."""
        for session_id in self._file.read("list the sessions", forking.unfinished):
            with suppress(StoreFailed):  # another window makes it just now
                self.delete(session_id)

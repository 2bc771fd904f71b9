"""Reading sessions from the log: a page at a time, so that others may use it in between. What is damaged is passed over and named."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress

from ullage.context.blocks import Media
from ullage.context.entries import Logged, media_in, versions_in
from ullage.store.encode import DamagedEntry, LaterEntry
from ullage.store.errors import StoreFailed
from ullage.store.examine import Damage
from ullage.store.log_file import LogFile
from ullage.store.recovery import keep_lost
from ullage.store.schema import EntryRow, PromptRow
from ullage.store.session_writer import SessionWriter, readable_prompt
from ullage.store.statements import (
    CHANGED,
    GONE,
    DamagedRow,
    LoggedRow,
    damage_in_words,
    entry_rows,
    known_to_be_lost,
    last_given,
    last_in_file,
    logged_of,
    logged_or_none,
    rows_of_all,
)

PAGE_ROWS = 1_000
"""How many rows of a session are read at once: some milliseconds, for which whoever else writes or reads waits."""

_SHOWS_MEDIA = {"image": b'"media_type":', "document": b'"pages":'}
"""What stands in the JSON of an entry that shows an image or a document: a quotation mark in a text has a backslash before it."""

_HAS_CALL = b'"kind":"tool_use"'
"""What stands so in the JSON of a reply with a tool use."""

_NAMES_VERSION = b'"executable":'
"""What stands so in the JSON of an entry that names a version of a file."""


class SessionReader:
    """Reads the sessions of one log, with what of them still waits for it."""

    def __init__(self, file: LogFile, writer: SessionWriter) -> None:
        self._file = file
        self._writer = writer
        self._damaged: dict[str, list[DamagedRow]] = {}
        self._told: set[tuple[str, int]] = set()

    def load(self, session_id: str) -> list[Logged]:
        """All entries of a session, oldest first (about 10 µs each). Raises `UnknownSession`.

        A row that cannot be read is passed over; `damaged` tells of it.
        """
        last = self._file.read("read the session", lambda connection: last_given(connection, session_id))
        loaded, damaged, missing = self._read_all(session_id, last)
        if missing and self._look_for(session_id, missing, last):
            loaded, damaged, missing = self._read_all(session_id, last)
        damaged += [DamagedRow(seq, GONE) for seq in missing]
        waiting = [row for row in self._writer.waiting_of(session_id).entries if row.seq > last]
        loaded += [logged_of(row) for row in waiting]
        self._writer.stands_at(session_id, waiting[-1].seq if waiting else last)
        self._damaged[session_id] = sorted(damaged, key=lambda row: row.seq)
        return loaded

    def damaged(self, session_id: str) -> tuple[DamagedRow, ...]:
        """The rows that the last `load` of the session had to pass over."""
        return tuple(self._damaged.get(session_id, ()))

    def _read_all(self, session_id: str, last: int) -> tuple[list[Logged], list[DamagedRow], set[int]]:
        """The entries of a session, the rows that cannot be read, and the seqs that are in no row."""
        loaded: list[Logged] = []
        damaged: list[DamagedRow] = []
        missing = set(range(1, last + 1))
        for row in self._rows(session_id, last):
            missing.discard(row.seq)
            try:
                loaded.append(logged_of(row))
            except DamagedEntry as error:
                damaged.append(DamagedRow(row.seq, str(error), isinstance(error, LaterEntry)))
        return loaded, damaged, missing

    def _look_for(self, session_id: str, missing: AbstractSet[int], last: int) -> bool:
        """Looks through the whole file for entries that nobody knows to be lost: the numbers of a session have no gaps. Entries that are
        nowhere are noted, and not looked for again. Gives whether it was looked through."""

        def unknown(connection: sqlite3.Connection) -> set[int]:
            there = {row.seq for row in entry_rows(connection, session_id, 0, last)}
            return set(missing) - known_to_be_lost(connection, session_id) - there

        def look_through(connection: sqlite3.Connection) -> None:
            if unknown(connection):
                raise Damage("entries are missing in it")

        def note(connection: sqlite3.Connection) -> None:
            lost = unknown(connection)
            if lost:
                keep_lost(connection, session_id.encode(), lost | known_to_be_lost(connection, session_id))

        if not self._file.read("read the session", unknown):
            return False
        with suppress(StoreFailed):  # the entries were found nowhere
            self._file.read("read the session", look_through)
        with suppress(StoreFailed):  # the log is only read
            self._file.change("read the session", note)
        return True

    def _rows(self, session_id: str, last: int) -> Iterator[EntryRow]:
        """The entries up to `last`, a page at a time."""

        def page(connection: sqlite3.Connection) -> list[EntryRow]:
            return entry_rows(connection, session_id, after, last, PAGE_ROWS)

        after = 0
        while after < last:
            rows = self._file.read("read the session", page)
            if not rows:
                return
            yield from rows
            after = rows[-1].seq

    def entries(self, session_id: str) -> Iterator[Logged]:
        """The entries of a session that can be read, oldest first, one by one. Raises `UnknownSession`."""
        last = self._file.read("read the session", lambda connection: last_in_file(connection, session_id))
        for row in self._rows(session_id, last):
            logged = logged_or_none(row)
            if logged is not None:
                yield logged

    def between(self, session_id: str, first: int, last: int) -> list[Logged]:
        """The entries of a session from seq `first` to `last`, both included, as far as they can be read; also what waits for the log."""
        waiting = [row for row in self._writer.waiting_of(session_id).entries if first <= row.seq <= last]
        rows = self._file.read("read the session", lambda connection: entry_rows(connection, session_id, first - 1, last))
        there = {row.seq for row in rows}
        rows += [row for row in waiting if row.seq not in there]
        self._tell_of_damaged(session_id, [row.seq for row in rows if not row.is_whole])
        return [logged for logged in map(logged_or_none, rows) if logged is not None]

    def _tell_of_damaged(self, session_id: str, seqs: Iterable[int]) -> None:
        """Tells the user once of rows that were damaged since the session was read."""
        known = {row.seq for row in self.damaged(session_id)}
        new = [seq for seq in seqs if seq not in known and (session_id, seq) not in self._told]
        self._told.update((session_id, seq) for seq in new)
        for told in damage_in_words(DamagedRow(seq, CHANGED) for seq in new):
            self._file.tell(told)

    def rows_after(self, row: int, limit: int, size: int) -> list[LoggedRow]:
        """What was logged in any session after that row of the file, oldest first: at most `limit` rows, and none after `size` bytes."""
        return self._file.read("read the sessions", lambda connection: rows_of_all(connection, row, limit, size))

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

        rows, waiting = self._file.read("read the sessions", read)
        logged = (logged_or_none(row) for row in rows)
        found = [*(each.entry for each in logged if each is not None), *(readable_prompt(row)[0] for row in waiting)]
        return {media for entry in found for media in media_in(entry)}

    def replies_with_calls(self, most: int) -> list[tuple[str, Logged]]:
        """The newest replies of all sessions that have tool uses, with the ids of their sessions, the newest first."""

        def read(connection: sqlite3.Connection) -> list[EntryRow]:
            rows = connection.execute(
                "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry WHERE instr(CAST(body AS BLOB), ?) "
                "ORDER BY row DESC LIMIT ?",
                (_HAS_CALL, most),
            )
            return [EntryRow(*row) for row in rows]

        rows = self._file.read("read the sessions", read)
        logged = [(row.session_id.decode("utf-8", "replace"), logged_or_none(row)) for row in rows]
        return [(session_id, each) for session_id, each in logged if each is not None]

    def named_versions(self) -> set[str]:
        """The hashes of the versions of files that entries of any session name. Looks through the whole file."""

        def read(connection: sqlite3.Connection) -> list[EntryRow]:
            rows = connection.execute(
                "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry WHERE instr(CAST(body AS BLOB), ?)",
                (_NAMES_VERSION,),
            )
            return [EntryRow(*row) for row in rows]

        logged = map(logged_or_none, self._file.read("read the sessions", read))
        return {version.sha256 for each in logged if each is not None for version in versions_in(each.entry)}

"""Full text search over everything that was said or returned in the sessions of one workspace.

The index is a file of its own that can be thrown away at any time: it is made again from the log, bit by bit, before a
search. Calls may take long after much was logged (about 0.1 s a million characters), so make them from another thread.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ullage.context.entries import ToolReturned
from ullage.store import folder as ullage_folder
from ullage.store import out_of_sight
from ullage.store.database import failing_clearly
from ullage.store.lineage import Holders, Lineage, origin_of
from ullage.store.log_store import LoggedRow, LogStore
from ullage.store.passages import passages
from ullage.store.results import ResultFiles

_VERSION = 4
"""Raise it when the tables or what is indexed change; the index is then made again."""

_BATCH = 50
"""Rows of the log that go into the index at once; between two batches the log is free for others."""

_EXCERPT_WORDS = 24
_EXCERPT_CHARACTERS = 200
_EXCERPT_LEAD = 60
"""Characters before the first word."""
_LOOKED_THROUGH = 10
"""Times as many hits as are wanted are looked through for those that hold the words exactly."""

_TABLES = """
CREATE VIRTUAL TABLE passage USING fts5 (
    text, session_id UNINDEXED, seq UNINDEXED, at UNINDEXED, what UNINDEXED, tool_use_id UNINDEXED
);
CREATE TABLE result (
    tool_use_id TEXT NOT NULL, session_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tool_use_id, session_id, seq)
);
CREATE TABLE indexed (row INTEGER NOT NULL);
INSERT INTO indexed VALUES (0);
CREATE TABLE reached (session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);
"""
"""`session_id` and `seq` are where an entry was first logged: of the entries that forks have in common there is one, whoever is deleted.
`reached` is the last entry of a session that was taken in."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One entry in which the searched words stand. `at` is Unix seconds."""

    session_id: str
    seq: int
    at: float
    what: str
    """What it is, in words: `user`, `assistant`, `result of bash` ..."""
    excerpt: str
    """The words with a little text around them, in one line."""
    tool_use_id: str | None
    """Set for tool results."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A hit with the whole passage."""

    hit: SearchHit
    text: str


class SearchIndex:
    """The index of one workspace folder; in memory where there is none. All calls raise `StoreFailed`."""

    def __init__(self, workspace: Path | None, log: LogStore, results: ResultFiles) -> None:
        self._log = log
        self._results = results
        self._out_of_sight = out_of_sight.OutOfSight(log)
        self._one_thread = threading.Lock()
        self._connection = _open(None if workspace is None else ullage_folder.search_index(workspace))

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()

    def search(
        self,
        words: str,
        limit: int,
        through_seq: int | None = None,
        preferred: str | None = None,
        hidden: Mapping[str, AbstractSet[int]] | None = None,
    ) -> list[SearchHit]:
        """The entries that hold all the words (or beginnings of words), best first; those that hold any where none holds
        all; those that hold them inside other words where none does either. Nothing in `words` is an operator. Entries beyond
        `through_seq` of their session are passed over, and those that are `hidden` (seqs by session). What forks have in common is found
        once: in the session `preferred` where it has it, else in the one in which it was first said."""
        wanted = words.replace("\0", " ").split()  # SQLite ends a text at NUL
        if not wanted or limit < 1:
            return []
        self.catch_up()
        holders = Holders(self._log.lineages(), preferred)
        with self._using("search") as connection:
            for rows in _attempts(connection, wanted):
                hits = _first_of_each(rows, holders, limit * _LOOKED_THROUGH, through_seq, hidden or {})
                if hits:
                    return _exact_first(hits, wanted)[:limit]
        return []

    def result(self, tool_use_id: str, session_id: str, hidden: Mapping[str, AbstractSet[int]] | None = None) -> str | None:
        """The whole result of a tool call, that session's first where several have the id; None where there is none that is not `hidden`
        (seqs by session)."""
        self.catch_up()
        with self._using("find the result") as connection:
            rows = connection.execute(
                "SELECT session_id, seq FROM result WHERE tool_use_id = ? ORDER BY rowid DESC", (tool_use_id,)
            ).fetchall()
        holders = Holders(self._log.lineages(), session_id)
        found = [(holder, seq) for origin, seq in rows if (holder := holders.of(origin, seq)) is not None]
        places = [(holder, seq) for holder, seq in found if hidden is None or seq not in hidden.get(holder, ())]
        if not places:
            return None
        where, at = max((place for place in places if place[0] == session_id), default=places[0])
        for logged in self._log.between(where, at, at):
            if isinstance(logged.entry, ToolReturned):
                whole = self._results.read(tool_use_id, logged.entry.full_output)
                return logged.entry.content if whole is None else whole
        return None

    def out_of_sight(self) -> Mapping[str, AbstractSet[int]]:
        """By session, what `recall` is not to find there: the seqs of what the user took out, and of records that may tell of it."""
        self.catch_up()
        lineages = self._log.lineages()
        with self._using("search") as connection:
            telling = out_of_sight.places(connection, lineages)
        return self._out_of_sight.of_all(telling)

    def catch_up(self) -> None:
        """Takes in what was logged since the last time."""
        while True:
            with self._using("update the search index") as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    done = self._take_in_batch(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    connection.rollback()
                    raise
            if done:
                return

    def forget(self, session_id: str, lineage: Lineage = ()) -> None:
        """Removes a session that was deleted from the index, for good; what a fork of it has, or it had as a fork of one that is gone too,
        stays as long as another session has it."""
        holders = Holders(self._log.lineages())
        with self._using("forget the session") as connection:
            for origin in (session_id, *(origin for origin, _ in lineage)):
                needed = holders.needed(origin)
                if needed is not None:
                    connection.execute("DELETE FROM passage WHERE session_id = ? AND seq > ?", (origin, needed))
                    connection.execute("DELETE FROM result WHERE session_id = ? AND seq > ?", (origin, needed))
                    connection.execute("DELETE FROM telling WHERE session_id = ? AND seq > ?", (origin, needed))

    def _take_in_batch(self, connection: sqlite3.Connection) -> bool:
        (after,) = connection.execute("SELECT row FROM indexed").fetchone()
        rows = self._log.rows_after(after, _BATCH)
        lineages = self._log.lineages()
        for row in rows:
            self._take_in(connection, row, lineages.get(row.session_id, ()))
        if rows:
            connection.execute("UPDATE indexed SET row = ?", (rows[-1].row,))
        return len(rows) < _BATCH

    def _take_in(self, connection: sqlite3.Connection, row: LoggedRow, lineage: Lineage) -> None:
        logged = row.logged
        if logged is None:
            return
        origin = origin_of(row.session_id, lineage, logged.seq)
        reached = connection.execute("SELECT seq FROM reached WHERE session_id = ?", (origin,)).fetchone()
        if reached is not None and logged.seq <= reached[0]:
            return  # taken in from where it was copied
        connection.execute("INSERT OR REPLACE INTO reached VALUES (?, ?)", (origin, logged.seq))
        connection.executemany(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?)",
            [
                (_storable(found.text), origin, logged.seq, logged.at, found.what, found.tool_use_id)
                for found in passages(logged.entry, self._results)
            ],
        )
        out_of_sight.take_in(connection, origin, logged.seq, logged.entry)
        if isinstance(logged.entry, ToolReturned):
            connection.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", (logged.entry.tool_use_id, origin, logged.seq))

    @contextmanager
    def _using(self, action: str) -> Generator[sqlite3.Connection]:
        with self._one_thread, failing_clearly(action):
            yield self._connection


def _open(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _made(_connect(":memory:"))
    with failing_clearly(f"open {path}"):
        try:
            return _made(_connect(str(path)))
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # damaged; nothing in it cannot be made again
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            return _made(_connect(str(path)))


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)


def _made(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            for table in ("passage", "result", "indexed", "reached", "telling"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in (*_TABLES.split(";\n"), out_of_sight.TABLE):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _attempts(connection: sqlite3.Connection, wanted: list[str]) -> Iterator[Iterable[tuple[Any, ...]]]:
    phrases = [_phrase(word) for word in wanted if any(letter.isalnum() for letter in word)]
    if phrases:
        matching = (
            "SELECT session_id, seq, at, what, snippet(passage, 0, '', '', ' … ', ?), tool_use_id, text FROM passage "
            "WHERE passage MATCH ? ORDER BY rank"
        )
        for operator in (" AND ", " OR "):
            yield connection.execute(matching, (_EXCERPT_WORDS, operator.join(phrases)))
    yield _containing(connection, wanted)


def _containing(connection: sqlite3.Connection, wanted: list[str]) -> Iterator[tuple[Any, ...]]:
    # Words inside longer words, scripts that write no spaces, and signs, none of which the index knows.
    rows = connection.execute("SELECT session_id, seq, at, what, text, tool_use_id FROM passage ORDER BY rowid DESC")
    folded = [word.casefold() for word in wanted]
    for session_id, seq, at, what, text, tool_use_id in rows:
        if all(word in text.casefold() for word in folded):
            start = max(0, text.casefold().find(folded[0]) - _EXCERPT_LEAD)
            yield session_id, seq, at, what, text[start : start + _EXCERPT_CHARACTERS], tool_use_id, text


def _phrase(word: str) -> str:
    # In quotes nothing is an operator; the star takes longer words with this beginning too.
    return '"{}"*'.format(_storable(word).replace('"', '""'))


def _first_of_each(
    rows: Iterable[tuple[Any, ...]], holders: Holders, limit: int, through_seq: int | None, hidden: Mapping[str, AbstractSet[int]]
) -> list[_Found]:
    """The first hit of each entry; entries of deleted sessions are passed over."""
    hits: dict[tuple[str, int], _Found] = {}
    for origin, seq, at, what, excerpt, tool_use_id, text in rows:
        is_later = through_seq is not None and seq > through_seq
        session_id = holders.of(origin, seq)
        if session_id is None or is_later or seq in hidden.get(session_id, ()):
            continue
        if (session_id, seq) not in hits:
            hits[session_id, seq] = _Found(SearchHit(session_id, seq, at, what, _one_line(excerpt), tool_use_id), text)
        if len(hits) == limit:
            break
    return list(hits.values())


def _exact_first(found: list[_Found], wanted: list[str]) -> list[SearchHit]:
    """Those that hold each word as it was written before the others: the index knows neither case nor underscores nor where a word ends."""
    whole = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in wanted]
    exact: list[SearchHit] = []
    others: list[SearchHit] = []
    for each in found:
        places = [match.start() for pattern in whole if (match := pattern.search(each.text))]
        if len(places) < len(whole):
            others.append(each.hit)
            continue
        start = max(0, min(places) - _EXCERPT_LEAD)
        is_near = max(places) - start < _EXCERPT_CHARACTERS - _EXCERPT_LEAD
        excerpt = _one_line(each.text[start : start + _EXCERPT_CHARACTERS]) if is_near else each.hit.excerpt
        exact.append(replace(each.hit, excerpt=excerpt))
    return exact + others


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _storable(text: str) -> str:
    # Half a surrogate pair cannot be stored as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")

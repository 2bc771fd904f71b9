"""The file of the search index: its tables, opening it, and what it takes in of a log entry.

One that is not ours, is of another version or is damaged is made anew. Nothing is lost by that: it is made from the log again
(`search.py`). It has:

- Passages, which are found by their words: pieces of text, each with what it is in words for the model.
- Which entries tell what the user took out of which session: so a search need not read whole logs for it. The index keeps the places of
  those entries alone; what they say is read from the log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.entries import AssistantReply, Entry, Notice, ToolReturned, UserPrompt
from ullage.context.view.taken_out import gone_by, out_of_sight
from ullage.store.database import connect, failing_clearly, is_damage
from ullage.store.errors import StoreFailed
from ullage.store.examine import header_damage
from ullage.store.log_store import LogStore
from ullage.store.origins import Lineage
from ullage.store.plain_files import ResultFiles

_VERSION = 5
"""Raise it when the tables or what is indexed change; the index is then made again."""

_CHECKED_BYTES = 16 * 1024 * 1024
"""The size up to which indexes are checked whole when they are opened, in bytes (some 10 ms a megabyte)."""

_BUSY_MILLISECONDS = 5_000
"""How long a call, which stands in a thread of its own, waits for another window's write."""

_TABLES = """
CREATE VIRTUAL TABLE passage USING fts5 (
    text, session_id UNINDEXED, seq UNINDEXED, at UNINDEXED, what UNINDEXED, tool_use_id UNINDEXED, check_sum UNINDEXED
);
CREATE TABLE result (
    tool_use_id TEXT NOT NULL, session_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tool_use_id, session_id, seq)
);
CREATE TABLE indexed (row INTEGER NOT NULL, log TEXT NOT NULL);
INSERT INTO indexed VALUES (0, '');
CREATE TABLE reached (session_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);
"""
"""`session_id` and `seq` are where an entry was first logged: of the entries that forks have in common there is one, whoever is deleted.
`reached` is the last entry of a session that was taken in, `log` the log whose rows were. `check_sum` is over the text of a passage and its
place, and looked at before a hit is believed."""


def open_index(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return made_anew(None)
    with failing_clearly(f"open {path}"):
        try:
            if not header_damage(path):
                return _made(connect(str(path)), path)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if not is_damage(error):
                raise
        return made_anew(path)


def made_anew(path: Path | None, without: str = ":memory:") -> sqlite3.Connection:
    """Makes an empty index: nothing in an old one cannot be made again. Without a path it is where SQLite takes `without` for. Raises
    `StoreFailed`."""
    try:
        for suffix in ("", "-wal", "-shm") if path is not None else ():
            path.with_name(path.name + suffix).unlink(missing_ok=True)  # pyright: ignore[reportOptionalMemberAccess]
    except OSError as error:
        raise StoreFailed(f"Cannot remove the damaged search index {path}: {error.strerror or error}") from error
    return _made(connect(without if path is None else str(path)), path)


def _made(connection: sqlite3.Connection, path: Path | None) -> sqlite3.Connection:
    """The connection, with our tables and no others in it. Raises SQLite's errors where they are not, or are damaged."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        if not _objects(connection):
            _make_tables(connection)
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION or _objects(connection) != _objects_of_ours():
            raise sqlite3.DatabaseError("its tables are not those of this version")
        connection.execute("COMMIT")
        if path is not None and path.stat().st_size <= _CHECKED_BYTES:
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("its pages are damaged")
            connection.execute("INSERT INTO passage (passage) VALUES ('integrity-check')")
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES.split(";\n"), TELLING_TABLE):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


@cache
def _objects_of_ours() -> frozenset[tuple[bytes, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _make_tables(connection)
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> frozenset[tuple[bytes, ...]]:
    return frozenset(
        connection.execute(
            "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema"
        )
    )


# What is taken in

PIECE_CHARACTERS = 20_000
"""The length of the pieces in which longer text is indexed, so that an excerpt is found quickly."""

INDEXED_CHARACTERS = 4_000_000
"""How many characters of a result, from its beginning, can be searched (a longer one can still be opened whole); indexing takes about 0.1 s
a million."""

RECALL = "recall"
"""The name of the tool that searches."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that was said or returned. `what` names it: `user`, `assistant`, `result of bash` ..."""

    what: str
    text: str
    tool_use_id: str | None = None


def passages(entry: Entry, results: ResultFiles) -> Iterator[Passage]:
    """All that can be found of an entry, in pieces. Clipped results come whole where their file is still there.

    What was recalled is left out: else a search would find itself, and what it repeats, before what it is for.
    """
    for passage in _whole(entry, results):
        text = passage.text[:INDEXED_CHARACTERS]
        for start in range(0, len(text), PIECE_CHARACTERS):
            yield Passage(passage.what, text[start : start + PIECE_CHARACTERS], passage.tool_use_id)


def _whole(entry: Entry, results: ResultFiles) -> Iterator[Passage]:
    match entry:
        case UserPrompt():
            yield Passage("user", entry.text)
            for attachment in entry.attachments:
                yield Passage(f"attachment {attachment.name}", attachment.text)
        case AssistantReply():
            for block in entry.blocks:
                yield from _said(block)
        case ToolReturned() if entry.tool != RECALL:
            whole = results.read(entry.tool_use_id, entry.full_output)
            yield Passage(f"result of {entry.tool}", entry.content if whole is None else whole, entry.tool_use_id)
            if entry.answers:
                yield Passage("user", "\n".join(answer.words for answer in entry.answers), entry.tool_use_id)
        case Notice():
            yield Passage("notice", entry.text)
        case Compaction(summarised=summarised) if summarised is not None:
            yield Passage("summary", summarised.words)
        case _:
            return


def _said(block: AssistantBlock) -> Iterator[Passage]:
    match block:
        case Text():
            yield Passage("assistant", block.text)
        case Thinking():
            yield Passage("thinking", block.thinking)
        case ToolUse() if block.name != RECALL:
            yield Passage(f"call of {block.name}", json.dumps(dict(block.input), ensure_ascii=False))
        case ToolUse() | RedactedThinking():
            return


TELLING_TABLE = """
CREATE TABLE telling (
    session_id TEXT NOT NULL, seq INTEGER NOT NULL, takes_out INTEGER NOT NULL, PRIMARY KEY (session_id, seq)
)
"""
"""The table of entries that tell what is taken out, by where each was first logged, as everything in the index."""

_Places = tuple[int, ...]


def note_telling(connection: sqlite3.Connection, origin: str, seq: int, entry: Entry) -> None:
    """Notes an entry that tells what the user took out: what takes something out, records, which may speak of it, and what undoes and
    redoes."""
    match entry:
        case Compaction():
            takes_out = bool(gone_by(entry))
            tells = takes_out or entry.summarised is not None
        case CompactionUndone() | CompactionRedone():
            takes_out, tells = False, True
        case _:
            return
    if tells:
        connection.execute("INSERT OR REPLACE INTO telling VALUES (?, ?, ?)", (origin, seq, takes_out))


def telling_places(connection: sqlite3.Connection, lineages: Mapping[str, Lineage]) -> dict[str, _Places]:
    """The seqs of the entries that `note_telling` noted, by session; none of a session from which nothing was ever taken out."""
    told: dict[str, list[tuple[int, bool]]] = {}
    for origin, seq, takes_out in connection.execute("SELECT session_id, seq, takes_out FROM telling ORDER BY seq"):
        told.setdefault(origin, []).append((seq, bool(takes_out)))
    found: dict[str, _Places] = {}
    for session_id, lineage in lineages.items() if told else ():
        rows = list(told.get(session_id, ()))
        after = 0
        for origin, through in lineage:
            rows += [row for row in told.get(origin, ()) if after < row[0] <= through]
            after = through
        if any(takes_out for _, takes_out in rows):
            found[session_id] = tuple(sorted(seq for seq, _ in rows))
    return found


class OutOfSight:
    """Knows what is not to be found of each session. It is read anew only where more entries tell of it."""

    def __init__(self, log: LogStore) -> None:
        self._log = log
        self._known: dict[str, tuple[_Places, AbstractSet[int]]] = {}

    def of_all(self, telling: Mapping[str, _Places]) -> Mapping[str, AbstractSet[int]]:
        """The seqs that are not to be found, by session, from what `telling_places` gave. Raises `StoreFailed`."""
        known = self._known
        self._known = {
            session_id: known[session_id] if known.get(session_id, ((),))[0] == seqs else (seqs, self._read(session_id, seqs))
            for session_id, seqs in telling.items()
        }
        return {session_id: hidden for session_id, (_, hidden) in self._known.items() if hidden}

    def _read(self, session_id: str, seqs: _Places) -> AbstractSet[int]:
        return out_of_sight(logged for seq in seqs for logged in self._log.between(session_id, seq, seq))

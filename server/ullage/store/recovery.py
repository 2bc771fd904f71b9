"""Making a sound log of a damaged one: the rows that can be believed go into a fresh database, and what is missing is named.

Entries are only ever added and never changed, and each carries its session, its number and its sum. So a log is a set of rows: one that is
found in any image of any page belongs to it, in whatever order they are found, and two logs are joined by putting their rows together.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from ullage.context.blocks import Json
from ullage.store.encode import DamagedEntry, decode
from ullage.store.last_rows import Known
from ullage.store.pages import FoundRow, found_rows
from ullage.store.schema import (
    EntryRow,
    PromptRow,
    SessionRow,
    ValueRow,
    entry_sum,
    prompt_sum,
    session_sum,
    updated_sum,
    value_sum,
)

LOST = "lost:"
"""Stands before a session's id in the key under which the log keeps which of its entries are gone, as `[[first, last], ...]`."""

IDENTITY = "identity"
"""The key under which a log keeps what tells it from any other; it stays behind where rows go into another file."""

_SESSIONS = "SELECT CAST(id AS BLOB), CAST(title AS BLOB), created_at, updated_at, sum, updated_sum FROM session"

_ENTRIES = (
    "SELECT CAST(session_id AS BLOB), seq, at, CAST(body AS BLOB), sum FROM entry "
    "WHERE session_id = CAST(? AS TEXT) AND seq BETWEEN ? AND ? ORDER BY seq"
)

_NO_TITLE = b"A session whose title was damaged"


@dataclass(slots=True)
class Rows:
    """The rows of a log, by what names them. `entries` may hold damaged ones; they keep their sum and stay damaged."""

    sessions: dict[bytes, SessionRow] = field(default_factory=dict[bytes, SessionRow])
    entries: dict[bytes, dict[int, EntryRow]] = field(default_factory=dict[bytes, dict[int, EntryRow]])
    prompts: dict[bytes, PromptRow] = field(default_factory=dict[bytes, PromptRow])
    values: dict[bytes, ValueRow] = field(default_factory=dict[bytes, ValueRow])


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found in a damaged log, and what was not: seqs by session id in order, the last seqs of sessions that are gone whole, and
    how many prompts that waited."""

    rows: Rows
    lost: Mapping[bytes, Sequence[int]]
    damaged: Mapping[bytes, Sequence[int]]
    lost_sessions: Mapping[bytes, int]
    lost_prompts: int
    count: int
    """The number of all entries that are there."""

    def __bool__(self) -> bool:
        return bool(self.rows.sessions)

    def known(self) -> tuple[dict[str, int], dict[str, str]]:
        """The last seq of each session, those that are lost included, and the session of each prompt that waits."""
        last = {_name(each): max((0, *entries, *self.lost.get(each, ()))) for each, entries in self.rows.entries.items()}
        return last, {_name(row.id): _name(row.session_id) for row in self.rows.prompts.values()}

    def beside(self, connection: sqlite3.Connection) -> Recovered:
        """What was found and what is missing, less what that log has: rows came into it from elsewhere, too. Raises SQLite's errors."""
        there = {row.id: row for row in (SessionRow(*each) for each in connection.execute(_SESSIONS))}
        lost = {**self.lost, **{each: range(1, last + 1) for each, last in self.lost_sessions.items() if each in there}}
        return replace(
            self,
            rows=replace(self.rows, sessions=there),
            count=connection.execute("SELECT count(*) FROM entry").fetchone()[0],
            lost={each: _missing(connection, each, seqs) for each, seqs in lost.items()},
            damaged={each: _missing(connection, each, seqs) for each, seqs in self.damaged.items()},
            lost_sessions={each: last for each, last in self.lost_sessions.items() if each not in there},
        )

    def in_words(self) -> str:
        """What is there and what is missing, for the user."""
        told = [f"{len(self.rows.sessions):,} sessions with {self.count:,} entries"]
        for session_id, row in self.rows.sessions.items():
            gone = sorted({*self.lost.get(session_id, ()), *self.damaged.get(session_id, ())})
            if gone:
                title = row.title.decode("utf-8", "replace")
                told.append(f"of “{title}” damaged or missing: {_numbers(gone)}")
        if self.lost_sessions:
            told.append(f"{len(self.lost_sessions):,} sessions could not be read")
        if self.lost_prompts:
            told.append(f"{self.lost_prompts:,} prompts that waited could not be read")
        return "; ".join(told)


def _missing(connection: sqlite3.Connection, session_id: bytes, seqs: Sequence[int]) -> Sequence[int]:
    """Those of the seqs that have no whole row in that log."""
    if not seqs:
        return ()
    rows = connection.execute(_ENTRIES, (session_id, seqs[0], seqs[-1]))
    whole = {row.seq for row in (EntryRow(*each) for each in rows) if row.is_whole}
    return [seq for seq in seqs if seq not in whole]


def _name(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def recover(database: bytes, wal: bytes, known: Known) -> Recovered:
    """Reads what can be believed out of the bytes of a database and its write-ahead log."""
    found = [_of_version_1(each) for each in found_rows(database, wal)]
    deleted = {session_id.encode() for session_id in known.deleted}
    whole = [each for each in found if each.row.is_whole]
    sessions = {each.row.id: each.row for each in reversed(whole) if isinstance(each.row, SessionRow) and each.is_newest}
    ids = {*sessions, *(session_id.encode() for session_id in known.last)}
    ids |= {each.row.session_id for each in whole if isinstance(each.row, EntryRow) and each.is_newest}
    ids -= deleted
    entries: dict[bytes, dict[int, EntryRow]] = {session_id: {} for session_id in ids}
    for row in (each.row for each in whole):
        if isinstance(row, EntryRow) and row.session_id in ids:
            entries[row.session_id].setdefault(row.seq, row)
    last = {session_id: max((known.last.get(session_id.decode(), 0), *rows)) for session_id, rows in entries.items()}
    damaged: dict[bytes, set[int]] = {}
    for row in (each.row for each in found if not each.row.is_whole):
        if isinstance(row, EntryRow) and 0 < row.seq <= last.get(row.session_id, 0) and row.seq not in entries[row.session_id]:
            entries[row.session_id][row.seq] = row
            damaged.setdefault(row.session_id, set()).add(row.seq)
    older = {each.row.id: each.row for each in reversed(found) if isinstance(each.row, SessionRow)}
    gone = {session_id for session_id in ids if session_id not in older and not entries[session_id]}
    ids -= gone
    rows = Rows(
        {each: _session(each, sessions.get(each), older.get(each), entries[each]) for each in ids},
        {session_id: dict(sorted(entries[session_id].items())) for session_id in ids},
    )
    rows.values = {each.row.key: each.row for each in reversed(whole) if isinstance(each.row, ValueRow) and each.is_newest}
    rows.prompts, lost_prompts = _waiting(found, rows, known)
    lost = {session_id: [seq for seq in range(1, last[session_id] + 1) if seq not in entries[session_id]] for session_id in ids}
    return Recovered(
        rows,
        {each: seqs for each, seqs in lost.items() if seqs},
        {each: sorted(seqs) for each, seqs in damaged.items()},
        {session_id: last[session_id] for session_id in gone},
        lost_prompts,
        sum(map(len, entries.values())),
    )


def _of_version_1(found: FoundRow) -> FoundRow:
    """A row of version 1 has no sum: it is believed where it can be read, and gets one."""
    match found.row:
        case EntryRow(session_id, seq, at, body, b"") if _is_entry(body):
            return replace(found, row=EntryRow(session_id, seq, at, body, entry_sum(session_id, seq, at, body)))
        case SessionRow(session_id, title, created, updated, b"", b"") if _is_text(title):
            sums = session_sum(session_id, title, created), updated_sum(session_id, updated)
            return replace(found, row=SessionRow(session_id, title, created, updated, *sums))
        case PromptRow(prompt_id, session_id, body, b"") if _is_entry(body):
            return replace(found, row=PromptRow(prompt_id, session_id, body, prompt_sum(prompt_id, session_id, body)))
        case _:
            return found


def _is_entry(body: bytes) -> bool:
    try:
        decode(body)
    except DamagedEntry:
        return False
    return True


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _session(session_id: bytes, newest: SessionRow | None, older: SessionRow | None, entries: Mapping[int, EntryRow]) -> SessionRow:
    whole = [row for row in entries.values() if row.is_whole]
    best = newest or older
    first = min((row.at for row in whole), default=0.0)
    last = max(whole, key=lambda row: row.seq).at if whole else first
    if best is None or not best.is_whole:
        title = _NO_TITLE if best is None else best.title.decode("utf-8", "replace").encode() + b" (damaged)"
        return make_session(session_id, title, first, last)
    if best is not newest or not best.has_its_time:
        return make_session(session_id, best.title, best.created_at, last or best.created_at)
    return best


def make_session(session_id: bytes, title: bytes, created_at: float, updated_at: float) -> SessionRow:
    """The row of a session with its sums."""
    sums = session_sum(session_id, title, created_at), updated_sum(session_id, updated_at)
    return SessionRow(session_id, title, created_at, updated_at, *sums)


def _waiting(found: Sequence[FoundRow], rows: Rows, known: Known) -> tuple[dict[bytes, PromptRow], int]:
    """The prompts that waited, damaged ones among them, and how many of them are gone."""
    waiting: dict[bytes, PromptRow] = {}
    wanted = {prompt_id.encode() for prompt_id in known.waiting}
    for each in sorted((each for each in found if isinstance(each.row, PromptRow)), key=lambda each: not each.row.is_whole):
        row = each.row
        if isinstance(row, PromptRow) and row.session_id in rows.sessions and (row.id in wanted or (each.is_newest and not known.is_kept)):
            waiting.setdefault(row.id, row)
    named = wanted | waiting.keys()
    logged = {prompt_id for entries in rows.entries.values() for prompt_id in _prompt_ids(entries.values(), named)}
    there = {prompt_id: row for prompt_id, row in waiting.items() if prompt_id not in logged}
    of_sessions = {prompt_id.encode() for prompt_id, session_id in known.waiting.items() if session_id.encode() in rows.sessions}
    return there, len(of_sessions - waiting.keys() - logged)


def _prompt_ids(entries: Iterable[EntryRow], named: AbstractSet[bytes]) -> set[bytes]:
    """Those of the named prompts that a session has in its log."""
    quoted = {prompt_id: b'"id":"%b"' % prompt_id for prompt_id in named}
    return {prompt_id for row in entries for prompt_id, text in quoted.items() if text in row.body[:200] and b"user_prompt" in row.body}


def add_entries(into: sqlite3.Connection, entries: Iterable[EntryRow]) -> None:
    """Adds rows of entries to a database as they are."""
    into.executemany(
        "INSERT INTO entry (session_id, seq, at, body, sum) VALUES (CAST(? AS TEXT), ?, ?, CAST(? AS TEXT), ?)",
        [(row.session_id, row.seq, row.at, row.body, row.sum) for row in entries],
    )


def keep_lost(connection: sqlite3.Connection, session_id: bytes, seqs: Iterable[int]) -> None:
    """Notes that those entries are gone for good, so that nobody looks for them again."""
    key, value = LOST.encode() + session_id, json.dumps(ranges(seqs)).encode()
    connection.execute(
        "INSERT OR REPLACE INTO remembered (key, value, sum) VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?)",
        (key, value, value_sum(key, value)),
    )


def lost_of(value: Json) -> set[int]:
    """The seqs that `keep_lost` noted."""
    lost: set[int] = set()
    for run in value if isinstance(value, list) else ():
        match run:
            case [int(first), int(last)]:
                lost.update(range(first, last + 1))
            case _:
                pass
    return lost


def ranges(seqs: Iterable[int]) -> list[list[int]]:
    """The numbers as runs, each with its first and last."""
    runs: list[list[int]] = []
    for seq in sorted(seqs):
        if runs and seq == runs[-1][1] + 1:
            runs[-1][1] = seq
        else:
            runs.append([seq, seq])
    return runs


def _numbers(seqs: Iterable[int]) -> str:
    numbers = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in ranges(seqs))
    return f"entry {numbers}"

"""The tables of the log, their rows, how an older file becomes a newer one, and whether the tables of a file are these.

Each row has a sum over its bytes, so that a damaged one is known for what it is. The sum is BLAKE2b with 8 bytes: the standard library has
it, it takes some 2 µs a row, and a row that was damaged passes it once in 2^64 times. It is no signature: it tells damage, not who wrote
the row.

`PRAGMA user_version` holds the version. Each migration takes a file one version up, in one transaction with its number;
add new ones at the end and never change one that was released.
"""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TypeAlias

SUM_BYTES = 8

Raw: TypeAlias = bytes | int | float | None
"""A value of a row; texts as the bytes that lie in the file."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """The row of an entry of a session."""

    session_id: bytes
    seq: int
    at: float
    body: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether the row is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == entry_sum(self.session_id, self.seq, self.at, self.body)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The row of a session. The time of its last entry has a sum of its own, since it changes with each."""

    id: bytes
    title: bytes
    created_at: float
    updated_at: float
    sum: bytes
    updated_sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether id, title and beginning are as they were written."""
        return len(self.sum) == SUM_BYTES and self.sum == session_sum(self.id, self.title, self.created_at)

    @property
    def has_its_time(self) -> bool:
        """Whether `updated_at` is as it was written."""
        return len(self.updated_sum) == SUM_BYTES and self.updated_sum == updated_sum(self.id, self.updated_at)


@dataclass(frozen=True, slots=True)
class PromptRow:
    """The row of a prompt that waits."""

    id: bytes
    session_id: bytes
    body: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether the row is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == prompt_sum(self.id, self.session_id, self.body)


@dataclass(frozen=True, slots=True)
class ValueRow:
    """The row of a small thing to remember."""

    key: bytes
    value: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether the row is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == value_sum(self.key, self.value)


Row: TypeAlias = EntryRow | SessionRow | PromptRow | ValueRow


def entry_sum(session_id: Raw, seq: Raw, at: Raw, body: Raw) -> bytes:
    """The sum of an entry; of values that cannot be of an entry, a sum that no row has."""
    try:
        data = b"".join((struct.pack("<qqd", len(session_id), seq, at), session_id, body))  # pyright: ignore[reportArgumentType]
    except (struct.error, TypeError):  # a damaged row may hold anything, whatever its columns are to hold
        return b""
    return blake2b(data, digest_size=SUM_BYTES, person=b"entry").digest()


def session_sum(session_id: Raw, title: Raw, created_at: Raw) -> bytes:
    """The sum of a session, without the time of its last entry."""
    return _sum(b"session", session_id, title, _time(created_at))


def updated_sum(session_id: Raw, updated_at: Raw) -> bytes:
    """The sum of the time of a session's last entry."""
    return _sum(b"updated", session_id, _time(updated_at))


def prompt_sum(prompt_id: Raw, session_id: Raw, body: Raw) -> bytes:
    """The sum of a prompt that waits."""
    return _sum(b"prompt", prompt_id, session_id, body)


def value_sum(key: Raw, value: Raw) -> bytes:
    """The sum of a thing to remember."""
    return _sum(b"value", key, value)


def add_functions(connection: sqlite3.Connection) -> None:
    """Gives the connection the sums as functions of SQL. Texts have to be given as BLOB: SQLite decodes them otherwise, and damaged ones
    cannot be."""
    functions: dict[str, tuple[int, Callable[..., bytes]]] = {
        "entry_sum": (4, entry_sum),
        "session_sum": (3, session_sum),
        "updated_sum": (2, updated_sum),
        "prompt_sum": (3, prompt_sum),
        "value_sum": (2, value_sum),
    }
    for name, (arguments, function) in functions.items():
        connection.create_function(name, arguments, function, deterministic=True)


def _time(value: Raw) -> Raw:
    return float(value) if isinstance(value, int) else value


def _sum(kind: bytes, *values: Raw) -> bytes:
    digest = blake2b(digest_size=SUM_BYTES, person=kind)
    for value in values:  # a damaged row may hold anything, whatever its columns are to hold
        match value:
            case int():
                data = struct.pack("<cq", b"i", value)
            case float():
                data = struct.pack("<cd", b"f", value)
            case bytes():
                digest.update(struct.pack("<cq", b"b", len(value)))
                data = value
            case _:
                return b""
        digest.update(data)
    return digest.digest()


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE session (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL
        )
        """,
        # AUTOINCREMENT: a row number is never given twice, so the search index can go on from the last one it saw.
        """
        CREATE TABLE entry (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            at REAL NOT NULL,
            body TEXT NOT NULL,
            UNIQUE (session_id, seq)
        )
        """,
        """
        CREATE TABLE queued_prompt (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
            body TEXT NOT NULL
        )
        """,
        "CREATE INDEX queued_prompt_session ON queued_prompt (session_id)",
        "CREATE TABLE remembered (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
    (
        # A sum over each row (`entry_sum`). What lies in the file now is taken for what was written.
        "ALTER TABLE entry ADD COLUMN sum BLOB NOT NULL DEFAULT x''",
        "ALTER TABLE session ADD COLUMN sum BLOB NOT NULL DEFAULT x''",
        "ALTER TABLE session ADD COLUMN updated_sum BLOB NOT NULL DEFAULT x''",
        "ALTER TABLE queued_prompt ADD COLUMN sum BLOB NOT NULL DEFAULT x''",
        "ALTER TABLE remembered ADD COLUMN sum BLOB NOT NULL DEFAULT x''",
        "UPDATE entry SET sum = entry_sum(CAST(session_id AS BLOB), seq, CASE WHEN typeof(at) = 'real' THEN at END, CAST(body AS BLOB))",
        """
        UPDATE session SET
            sum = session_sum(CAST(id AS BLOB), CAST(title AS BLOB), created_at),
            updated_sum = updated_sum(CAST(id AS BLOB), updated_at)
        """,
        "UPDATE queued_prompt SET sum = prompt_sum(CAST(id AS BLOB), CAST(session_id AS BLOB), CAST(body AS BLOB))",
        "UPDATE remembered SET sum = value_sum(CAST(key AS BLOB), CAST(value AS BLOB))",
    ),
)

VERSION = len(MIGRATIONS)

_APPLICATION = 0x756C6C00
"""What `PRAGMA application_id` holds from version 2 on, with the version in its last byte."""

_MOST_VERSIONS = 0xFF
"""How many versions fit into that byte. A greater number would coincide with bits that are set anyway."""

_OBJECTS = "SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema"

Objects = Mapping[bytes, tuple[str, bytes, bytes]]
"""The objects of a schema by name: what each is, its table, and its text with one space for each white space."""


class NotOurs(Exception):
    """The file has objects that no version of Ullage makes; `str()` says which kind."""


class Damaged(Exception):
    """The schema is no longer what Ullage wrote; `str()` says so."""


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file's schema; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_later(connection: sqlite3.Connection) -> bool:
    """Whether a later version wrote the file. The number stands in the file twice, since a flipped bit in one looks like that, too."""
    version = version_of(connection)
    return VERSION < version <= _MOST_VERSIONS and _application_id(connection) == _APPLICATION | version


def migrate(connection: sqlite3.Connection) -> None:
    """Takes the file up to `VERSION`. Two processes may do it at the same time: the second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        set_version(connection, VERSION)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def set_version(connection: sqlite3.Connection, version: int) -> None:
    """Writes the number of the version, at both of its places in the file."""
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {_APPLICATION | version}")


def compare(connection: sqlite3.Connection) -> None:
    """Compares the schema of a file with that of its version. Raises `NotOurs` and `Damaged`, and SQLite's errors.

    Do it before anything else is read. A flipped bit cannot add an object nor make a table a trigger or a view: whoever put one there was
    not Ullage.
    """
    objects = _objects(connection)
    kinds = {kind for kind, _, _ in objects.values()}
    if kinds & {"trigger", "view"}:
        raise NotOurs("it has triggers or views, which Ullage never makes")
    if objects and not objects.keys() & objects_of(VERSION).keys():
        raise NotOurs("it has none of the tables that Ullage makes")
    if len(objects) > len(objects_of(VERSION)):
        raise NotOurs("it has tables that Ullage never makes")
    version = version_of(connection)
    if version not in range(VERSION + 1) or _application_id(connection) != (_APPLICATION | version if version > 1 else 0):
        raise Damaged("its version is none that there is")
    if objects != objects_of(version):
        raise Damaged("its list of tables is not what Ullage wrote")


@cache
def objects_of(version: int) -> Objects:
    """The objects of a file of that version."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        add_functions(connection)
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        return _objects(connection)
    finally:
        connection.close()


def _application_id(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _objects(connection: sqlite3.Connection) -> Objects:
    # What ANALYZE makes (sqlite_stat1 ...) is SQLite's own, and holds nothing that is run.
    return {
        name: (kind, table, re.sub(rb"\s+", b" ", text).strip())
        for kind, name, table, text in connection.execute(_OBJECTS)
        if not name.startswith(b"sqlite_stat")
    }

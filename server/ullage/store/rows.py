"""The rows of the log as they lie in the file, each with a sum over its bytes, so that a damaged one is known for what it is.

The sum is BLAKE2b with 8 bytes: the standard library has it, it takes some 2 µs a row, and a row that was damaged passes it once in 2^64
times. It is no signature: it tells damage, not who wrote the row.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

SUM_BYTES = 8

Raw: TypeAlias = bytes | int | float | None
"""A value of a row; texts as the bytes that lie in the file."""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry of a session."""

    session_id: bytes
    seq: int
    at: float
    body: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == entry_sum(self.session_id, self.seq, self.at, self.body)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session. The time of its last entry has a sum of its own, since it changes with each."""

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
    """A prompt that waits."""

    id: bytes
    session_id: bytes
    body: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == prompt_sum(self.id, self.session_id, self.body)


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A small thing to remember."""

    key: bytes
    value: bytes
    sum: bytes

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was written."""
        return len(self.sum) == SUM_BYTES and self.sum == value_sum(self.key, self.value)


Row: TypeAlias = EntryRow | SessionRow | PromptRow | ValueRow


def entry_sum(session_id: Raw, seq: Raw, at: Raw, body: Raw) -> bytes:
    """The sum of an entry; of values that cannot be any, one that no row has."""
    try:
        data = b"".join((struct.pack("<qqd", len(session_id), seq, at), session_id, body))  # pyright: ignore[reportArgumentType]
    except (struct.error, TypeError):  # a damaged row may hold anything, whatever its columns are to hold
        return b""
    return blake2b(data, digest_size=SUM_BYTES, person=b"entry").digest()


def session_sum(session_id: Raw, title: Raw, created_at: Raw) -> bytes:
    """The sum of a session, without the time of its last entry."""
    return _sum(b"session", session_id, title, _time(created_at))


def updated_sum(session_id: Raw, updated_at: Raw) -> bytes:
    """The sum of the time of its last entry."""
    return _sum(b"updated", session_id, _time(updated_at))


def prompt_sum(prompt_id: Raw, session_id: Raw, body: Raw) -> bytes:
    """The sum of a prompt that waits."""
    return _sum(b"prompt", prompt_id, session_id, body)


def value_sum(key: Raw, value: Raw) -> bytes:
    """The sum of a thing to remember."""
    return _sum(b"value", key, value)


def add_functions(connection: sqlite3.Connection) -> None:
    """Makes the sums functions of SQL. Texts have to be given as BLOB: SQLite decodes them otherwise, and damaged ones cannot be."""
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

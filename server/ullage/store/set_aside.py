"""Values that are in a file until they are asked for, for sessions that are larger than memory should hold.

The file is the system's own temporary one (`TMPDIR`): nobody else sees it, and it is gone with what it holds, or with the process.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar
from weakref import finalize

from ullage.context.entries import Logged
from ullage.context.view.paged_log import Log
from ullage.store.packed import packed, unpacked

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)

PAGE = 16
"""How many entries are read at once: few, since one may be as large as a file."""
NEWEST = 64
"""How many entries at the end stay in memory, whether they are in view or not."""
CACHED = 4
"""How many pages that were read lately are kept in memory."""


class Aside:
    """Holds values in a file, in the order in which they were put."""

    def __init__(self) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed when this is gone
        self._starts = array("Q", [0])
        self._latest: tuple[int, Any] = (-1, None)
        self._lock = Lock()
        finalize(self, self._file.close)

    def put(self, value: object) -> int:
        """Writes a value into the file; gives the number by which `get` reads it. Raises `OSError`, where the disk is full, say."""
        data, written = packed(value), 0
        with self._lock:
            self._file.seek(self._starts[-1])
            while written < len(data):
                written += self._file.write(data[written:])
            self._starts.append(self._starts[-1] + len(data))
            return len(self._starts) - 2

    def get(self, number: int) -> Any:
        """A value that is equal to the one put; the same object as long as no other number is asked for. Raises `OSError`."""
        known, value = self._latest
        if known == number:
            return value
        with self._lock:
            self._file.seek(self._starts[number])
            left, parts = self._starts[number + 1] - self._starts[number], list[bytes]()
            while left and (part := self._file.read(left)):
                parts.append(part)
                left -= len(part)
        value = unpacked(b"".join(parts))
        self._latest = number, value
        return value


class HeldValue(Protocol[Value_co]):
    """A value that is in memory, or in a file of values that were set aside."""

    def get(self) -> Value_co:
        """The value, read from its file where it is in one."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory(Generic[Value_co]):
    """A value that is in memory."""

    value: Value_co

    def get(self) -> Value_co:
        """The value, which is at hand."""
        return self.value


@dataclass(frozen=True, slots=True)
class _Placed:
    aside: Aside
    number: int

    def get(self) -> Any:
        return self.aside.get(self.number)


class Shelf:
    """Holds values: the first in memory, and all others in a file once there are more than `most` characters."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._aside: Aside | None = None

    def hold(self, value: Value, characters: int) -> HeldValue[Value]:
        """Holds a value. `characters` says how large it is, about. Raises `OSError`."""
        self._left -= characters
        if self._left >= 0:
            return InMemory(value)
        self._aside = self._aside or Aside()
        try:
            return _Placed(self._aside, self._aside.put(value))
        except RecursionError:  # nested too deeply to be packed; whoever reads it cuts that off
            return InMemory(value)


class LogAside(Log):
    """A log whose entries lie in such a file, but for those that are in view and the newest. Their seqs count from 1 without gaps."""

    def __init__(self, entries: Iterable[Logged] = ()) -> None:
        self._aside = Aside()
        self._unwritten: list[Logged] = []
        self._written_at = PAGE
        super().__init__((), self._between, page=PAGE, newest=NEWEST, cached=CACHED)
        for logged in entries:
            self.append(logged)

    def append(self, logged: Logged) -> None:
        """Adds an entry at the end. Raises `OSError`."""
        super().append(logged)
        self._unwritten.append(logged)
        while len(self._unwritten) >= self._written_at:  # more, where the disk was full before
            self._aside.put(tuple(self._unwritten[: self._written_at]))
            del self._unwritten[: self._written_at]

    def _between(self, first: int, last: int) -> Sequence[Logged]:
        return self._aside.get((first - 1) // self._written_at)


class EntriesAside(LogAside):
    """A log whose entries may all leave memory, but for the newest."""

    def append(self, logged: Logged) -> None:
        """Adds an entry at the end. Raises `OSError`."""
        super().append(logged)
        if logged.seq % NEWEST == 0:
            self.let_go(((1, logged.seq),))


def held_as(others: Sequence[Logged], entries: Iterable[Logged]) -> Sequence[Logged]:
    """The entries as a sequence that is in a file where the others are in one. Raises `OSError`."""
    return EntriesAside(entries) if isinstance(others, EntriesAside) else tuple(entries)

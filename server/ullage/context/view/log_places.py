"""A log as a sequence: where its entries stand, and parts of it that cost nothing.

The functions of `context/` get a log so. An entry is found by its seq: however long the log is, nothing but the entry is looked at. A part
(`log[a:b]`) does not change as the log grows.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar, cast, overload

from ullage.context.entries import AssistantReply, Clipped, Entry, Logged

PAGE = 64
"""Entries. The store reads as many in less than a millisecond."""

T = TypeVar("T")


def entry_at(entries: Sequence[Logged], seq: int) -> Entry | None:
    """The entry with this seq; None if there is none."""
    index = place_of(entries, seq)
    return entries[index].entry if index < len(entries) and entries[index].seq == seq else None


def place_of(entries: Sequence[Logged], seq: int) -> int:
    """The index of the first entry whose seq is not less. At once in a log without gaps, as all are that a store wrote."""
    if isinstance(entries, Entries):
        return entries.place(seq)
    if 0 < seq <= len(entries) and entries[seq - 1].seq == seq:
        return seq - 1
    return bisect_left(entries, seq, key=_seq_of)


def clipped_to(entries: Sequence[Logged], seq: int) -> Clipped | None:
    """What shortened the result of entry `seq` on arrival, together with the others of its message; None if nothing did."""
    for index in range(place_of(entries, seq) + 1, len(entries)):
        entry = entries[index].entry
        if isinstance(entry, Clipped) and entry.seq == seq:
            return entry
        if isinstance(entry, AssistantReply):  # nothing is clipped once it was sent
            return None
    return None


def joined(first: Sequence[Logged], second: Sequence[Logged]) -> Sequence[Logged]:
    """Both, one after the other; at once where they are neighbours in a log."""
    return first.and_then(second) if isinstance(first, LogPart) else (*first, *second)


def said_of(entries: Sequence[Logged], work: Callable[[Sequence[Logged]], T]) -> Iterator[T]:
    """What `work` says of stretches of the entries (`Entries.stretches`), of any others all at once."""
    return entries.stretches(work) if isinstance(entries, Entries) else iter((work(entries),))


def root_of(entries: Sequence[Logged]) -> Hashable | None:
    """What tells that two begin alike; None if only their entries can tell."""
    return entries.root if isinstance(entries, Entries) else None


class EntriesMissing(LookupError):
    """What was in the log can no longer be read."""


class Entries(Sequence[Logged]):
    """A log, or a part of one, whose parts cost nothing."""

    @property
    @abstractmethod
    def root(self) -> Hashable | None:
        """Of two with the same root, one begins with the other. None if it begins in the midst of a log."""
        ...

    @abstractmethod
    def place(self, seq: int) -> int:
        """The index of the first entry whose seq is not less."""
        ...

    @abstractmethod
    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """Those from one index to another, which is not included."""
        ...

    @abstractmethod
    def at(self, index: int) -> Logged:
        """That with this index, which is none from the end."""
        ...

    def stretches(self, work: Callable[[Sequence[Logged]], T], start: int = 0, stop: int | None = None) -> Iterator[T]:
        """What `work` says of stretches of it, one after the other from one index to another. It may be remembered of whole pages, so it
        has to depend on their entries alone."""
        for first in range(start, len(self) if stop is None else stop, PAGE):
            yield work([*self.between(first, min(first + PAGE, len(self) if stop is None else stop))])

    @overload
    def __getitem__(self, index: int) -> Logged: ...
    @overload
    def __getitem__(self, index: slice) -> Entries: ...
    def __getitem__(self, index: int | slice) -> Logged | Entries:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError("a part of a log is one stretch of it")
            return LogPart(self, start, max(start, stop))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self.at(at)

    def __iter__(self) -> Iterator[Logged]:
        return self.between(0, len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        others = cast("Sequence[object]", other)
        return len(self) == len(others) and all(mine == theirs for mine, theirs in zip(self, others, strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} entries)"


class LogPart(Entries):
    """The entries between two indexes of a log. It stays as it is while the log grows."""

    def __init__(self, whole: Entries, start: int, stop: int) -> None:
        inside = isinstance(whole, LogPart)
        self._whole: Entries = whole.whole if inside else whole
        self._start = start + (whole.start if inside else 0)
        self._stop = stop + (whole.start if inside else 0)

    @property
    def whole(self) -> Entries:
        """The log that it is a part of."""
        return self._whole

    @property
    def start(self) -> int:
        """Where in it this begins."""
        return self._start

    @property
    def root(self) -> Hashable | None:
        """That of the log, where it begins with that."""
        return None if self._start else self._whole.root

    def and_then(self, other: Sequence[Logged]) -> Sequence[Logged]:
        """This with what follows."""
        if isinstance(other, LogPart) and other.whole is self._whole and other.start == self._stop:
            return LogPart(self._whole, self._start, other.start + len(other))
        return (*self, *other)

    def place(self, seq: int) -> int:
        """As in the log, from where this begins."""
        return min(max(self._whole.place(seq), self._start), self._stop) - self._start

    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """As in the log, from where this begins."""
        return self._whole.between(self._start + start, min(self._start + stop, self._stop))

    def stretches(self, work: Callable[[Sequence[Logged]], T], start: int = 0, stop: int | None = None) -> Iterator[T]:
        """As in the log, from where this begins."""
        end = self._stop if stop is None else min(self._start + stop, self._stop)
        return self._whole.stretches(work, self._start + start, end)

    def at(self, index: int) -> Logged:
        """As in the log, from where this begins."""
        return self._whole.at(self._start + index)

    def __len__(self) -> int:
        return self._stop - self._start


def _seq_of(logged: Logged) -> int:
    return logged.seq

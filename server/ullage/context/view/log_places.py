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
"""Entries of a page. The store reads as many in less than a millisecond."""

T = TypeVar("T")


def entry_at(entries: Sequence[Logged], seq: int) -> Entry | None:
    """The entry with this seq; None if there is none."""
    index = place_of(entries, seq)
    return entries[index].entry if index < len(entries) and entries[index].seq == seq else None


def place_of(entries: Sequence[Logged], seq: int) -> int:
    """The index of the first entry whose seq is not less than `seq`. It takes no time in a log without gaps, as every log is that a store
    wrote."""
    if isinstance(entries, Entries):
        return entries.place(seq)
    if 0 < seq <= len(entries) and entries[seq - 1].seq == seq:
        return seq - 1
    return bisect_left(entries, seq, key=_seq_of)


def clipped_to(entries: Sequence[Logged], seq: int) -> Clipped | None:
    """The entry that shortened the result of entry `seq` on arrival, together with the others of its message; None if none did."""
    for index in range(place_of(entries, seq) + 1, len(entries)):
        entry = entries[index].entry
        if isinstance(entry, Clipped) and entry.seq == seq:
            return entry
        if isinstance(entry, AssistantReply):  # a result that was sent is not clipped any more
            return None
    return None


def joined(first: Sequence[Logged], second: Sequence[Logged]) -> Sequence[Logged]:
    """Both sequences as one; without a copy if they are neighbours in a log."""
    return first.and_then(second) if isinstance(first, LogPart) else (*first, *second)


def said_of(entries: Sequence[Logged], work: Callable[[Sequence[Logged]], T]) -> Iterator[T]:
    """What `work` gives for each stretch of the entries (`Entries.stretches`); for a plain sequence, for all entries at once."""
    return entries.stretches(work) if isinstance(entries, Entries) else iter((work(entries),))


def root_of(entries: Sequence[Logged]) -> Hashable | None:
    """A value that two parts of logs with the same beginning have in common; None if only their entries can tell."""
    return entries.root if isinstance(entries, Entries) else None


class EntriesMissing(LookupError):
    """Entries of the log can no longer be read."""


class Entries(Sequence[Logged]):
    """A log, or a part of one. Taking a part costs nothing."""

    @property
    @abstractmethod
    def root(self) -> Hashable | None:
        """A value by which logs are compared: of two with the same root, one begins with the other. None if this one begins in the midst of
        a log."""
        ...

    @abstractmethod
    def place(self, seq: int) -> int:
        """The index of the first entry whose seq is not less than `seq`."""
        ...

    @abstractmethod
    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """The entries from index `start` to index `stop`, which is not included."""
        ...

    @abstractmethod
    def at(self, index: int) -> Logged:
        """The entry at that index, which must not be negative."""
        ...

    def stretches(self, work: Callable[[Sequence[Logged]], T], start: int = 0, stop: int | None = None) -> Iterator[T]:
        """What `work` gives for stretches of the entries from one index to another, one stretch after the other. It may be remembered for
        whole pages, so it must depend on their entries alone."""
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
        """The log that this is a part of."""
        return self._whole

    @property
    def start(self) -> int:
        """The index in the log at which this part begins."""
        return self._start

    @property
    def root(self) -> Hashable | None:
        """The root of the log if this part begins where the log does; else None."""
        return None if self._start else self._whole.root

    def and_then(self, other: Sequence[Logged]) -> Sequence[Logged]:
        """This part and the entries after it."""
        if isinstance(other, LogPart) and other.whole is self._whole and other.start == self._stop:
            return LogPart(self._whole, self._start, other.start + len(other))
        return (*self, *other)

    def place(self, seq: int) -> int:
        """The index in this part, found in the log."""
        return min(max(self._whole.place(seq), self._start), self._stop) - self._start

    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """The entries between two indexes of this part, taken from the log."""
        return self._whole.between(self._start + start, min(self._start + stop, self._stop))

    def stretches(self, work: Callable[[Sequence[Logged]], T], start: int = 0, stop: int | None = None) -> Iterator[T]:
        """What `work` gives for stretches of this part, taken from the log."""
        end = self._stop if stop is None else min(self._start + stop, self._stop)
        return self._whole.stretches(work, self._start + start, end)

    def at(self, index: int) -> Logged:
        """The entry at that index of this part, taken from the log."""
        return self._whole.at(self._start + index)

    def __len__(self) -> int:
        return self._stop - self._start


def _seq_of(logged: Logged) -> int:
    return logged.seq

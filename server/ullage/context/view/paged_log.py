"""The log of one session as it is in memory: all of it can be read, and most of a long one lies with the store.

An open session needs few of its entries again and again: those that the model sees, and the newest. The others leave memory a page at a
time, and are read where somebody asks. Who asks for entries of before the newest compaction, and when:

- a fold under a key that none was kept for, and the count after it: after an undo, in another thread (`Conversation.foresee`)
- a compaction, which looks at what is new since the one before, and at single older entries: user messages that it quotes, the summary of
  before (`summary/facts.py`); what was excluded makes it read the whole log once
- the user: scrolling back, epochs and what became of entries, a fork, a pin or an exclusion of something old, a search
- the tools `recall` and `memory`, and the engines of some policies, which read the whole log for each summary

`log_places.py` says what a log is as a sequence.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias, TypeVar, cast

from ullage.context.entries import EntryPinned, Logged
from ullage.context.view.log_places import PAGE, Entries, EntriesMissing

LOST = EntryPinned(0, False)
"""An entry that does nothing, in the place of one that can no longer be read."""

NEWEST = 1_280
"""Entries at the end that stay in memory: more than what a summary looks at one by one (`summary/facts.py`)."""
CACHED = 8
"""Pages that are kept in memory after they were read."""

Read: TypeAlias = Callable[[int, int], Sequence[Logged]]
"""Gives the entries from one seq to another, both included."""


T = TypeVar("T")


class Log(Entries):
    """A log that grows. With `read` it keeps few of its entries in memory, else all.

    Threads may read it while one of them appends.
    """

    def __init__(
        self,
        entries: Iterable[Logged] = (),
        read: Read | None = None,
        *,
        page: int = PAGE,
        newest: int = NEWEST,
        cached: int = CACHED,
    ) -> None:
        self._size = page
        self._newest = newest
        self._pages: list[list[Logged] | None] = []
        self._firsts, self._lasts = array("q"), array("q")
        """The first and the last seq of each page; without the last seq of the last page."""
        self._length = 0
        self._open: list[Logged] = []
        """The last page."""
        self._read = None if read is None else _Cache(read, cached)
        self._root: object = object()
        self._remember: list[Callable[[Sequence[Logged]], object]] = []
        self._remembered: dict[Callable[[Sequence[Logged]], object], dict[int, object]] = {}
        """What was worked out for whole pages, for this log and its copies."""
        self._own_pages = 0
        """The number of pages that a copy has in common with its original."""
        self._lets_go = True
        self._gone = 0
        """The number of pages at the beginning that have left memory, as far as that is known."""
        for logged in entries:
            self.append(logged)

    def append(self, logged: Logged) -> None:
        """Adds one entry at the end."""
        if self._length == len(self._pages) * self._size:
            if self._pages:
                self._lasts.append(self.at(self._length - 1).seq)
            self._firsts.append(logged.seq)
            self._open = list[Logged]()
            self._pages.append(self._open)
        self._open.append(logged)
        self._length += 1

    @property
    def ends_a_page(self) -> bool:
        """Whether the next entry begins a page."""
        return self._length % self._size == 0

    def will_be_asked(self, work: Callable[[Sequence[Logged]], object]) -> None:
        """Has `work` done for each page before the page leaves memory: it will be asked for where nothing may be read."""
        self._remember.append(work)

    def copy(self) -> Log:
        """A copy that grows by itself."""
        other = Log(page=self._size, newest=self._newest)
        other._pages = self._pages.copy()
        if other._pages:
            other._open = other._pages[-1] = self._open.copy()
        other._firsts, other._lasts = self._firsts[:], self._lasts[:]
        other._length, other._read, other._root = self._length, self._read, self._root
        other._remembered, other._own_pages = self._remembered, len(self._lasts) if self._lets_go else self._own_pages
        other._lets_go = False  # its newest entries may be in no store
        return other

    def let_go(self, hidden: Sequence[tuple[int, int]]) -> None:
        """Lets pages leave memory whose entries all lie in one of these ranges of seqs (both ends included), but not the newest."""
        if self._read is None or not self._lets_go:
            return
        first = 0 if self._read.in_view else self._gone
        for number in range(first, min(max(self._length - self._newest, 0) // self._size, len(self._lasts))):
            if (self._pages[number] is not None or number in self._read.in_view) and self._is_in(number, hidden):
                for work in self._remember:
                    self._said_of(number, work)
                self._pages[number] = None
                self._read.in_view.pop(number, None)
                self._gone += number == self._gone

    def bring_back(self, hidden: Sequence[tuple[int, int]]) -> None:
        """Brings pages that are not in these ranges into memory again, for this log and its copies."""
        for number in range(len(self._lasts)):
            if self._read is not None and self._pages[number] is None and not self._is_in(number, hidden):
                self._read.in_view[number] = self._page(number)

    def _is_in(self, number: int, ranges: Sequence[tuple[int, int]]) -> bool:
        first, last = self._firsts[number], self._lasts[number]
        return any(begin <= first and last <= end for begin, end in ranges)

    @property
    def in_memory(self) -> Iterator[Logged]:
        """The entries that can be read without the store, without those that were only read lately."""
        again = {} if self._read is None else dict(self._read.in_view)
        return (logged for number, page in enumerate(self._pages) for logged in page or again.get(number, ()))

    @property
    def kept(self) -> int:
        """The number of entries that are in memory."""
        read = 0 if self._read is None else (self._read.pages + len(self._read.in_view)) * self._size
        return sum(len(page) for page in self._pages if page is not None) + read

    @property
    def root(self) -> Hashable | None:
        """A value that this log and each copy of it have in common."""
        return self._root

    def place(self, seq: int) -> int:
        """The index of the first entry whose seq is not less than `seq`. It takes no time except in a page with gaps."""
        number = max(bisect_left(self._firsts, seq + 1) - 1, 0)
        if number < len(self._lasts):
            first, last = self._firsts[number], self._lasts[number]
            if seq > last:
                return (number + 1) * self._size
            if last - first == self._size - 1:
                return number * self._size + max(seq - first, 0)
        start = number * self._size
        page = self._page(number) if number < len(self._pages) else ()
        return start + bisect_left(page, seq, key=_seq_of)

    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """The entries between two indexes, read page by page."""
        stop = min(stop, self._length)
        while start < stop:
            number, first = divmod(start, self._size)
            end = min(stop - number * self._size, self._size)
            yield from islice(self._page(number), first, end)
            start = number * self._size + end

    def stretches(self, work: Callable[[Sequence[Logged]], T], start: int = 0, stop: int | None = None) -> Iterator[T]:
        """What `work` gives for each page between two indexes. It is remembered for whole pages."""
        end = self._length if stop is None else min(stop, self._length)
        while start < end:
            number, first = divmod(start, self._size)
            last = min(end - number * self._size, self._size)
            if first == 0 and last == self._size and number < (len(self._lasts) if self._lets_go else self._own_pages):
                yield self._said_of(number, work)
            else:
                yield work(self._page(number)[first:last])
            start = number * self._size + last

    def _said_of(self, number: int, work: Callable[[Sequence[Logged]], T]) -> T:
        known = cast("dict[int, T]", self._remembered.setdefault(work, {}))
        if number not in known:
            known[number] = work(self._page(number))
        return known[number]

    def at(self, index: int) -> Logged:
        """The entry at that index, from memory, or with its page from the store."""
        return self._page(index // self._size)[index % self._size]

    def __len__(self) -> int:
        return self._length

    def _page(self, number: int) -> Sequence[Logged]:
        page = self._pages[number]
        if page is not None:
            return page
        if self._read is None:
            raise EntriesMissing("without a store nothing leaves memory")
        page = self._read.in_view.get(number)
        return self._read.page(number, self._firsts[number], self._lasts[number], self._size) if page is None else page


class _Cache:
    """Pages that were read lately, for a log and its copies. Threads may ask at the same time: at worst a page is read twice."""

    def __init__(self, read: Read, most: int) -> None:
        self._read = read
        self._most = most
        self.in_view: dict[int, Sequence[Logged]] = {}
        """Pages that are in view again after an undo, by their number."""
        self._known: dict[int, Sequence[Logged]] = {}
        """The pages by number; the one that was asked for last comes last."""

    @property
    def pages(self) -> int:
        """The number of pages that were read lately."""
        return len(self._known)

    def page(self, number: int, first: int, last: int, size: int) -> Sequence[Logged]:
        """The entries of a page. Raises what reading raises."""
        found = self._known.pop(number, None)
        if found is None:
            found = _filled(self._read(first, last), first, last, size)
        self._known[number] = found
        while len(self._known) > self._most:
            with suppress(StopIteration, RuntimeError):  # another thread has just taken a page out
                self._known.pop(next(iter(self._known)), None)
        return found


def _filled(found: Sequence[Logged], first: int, last: int, size: int) -> Sequence[Logged]:
    """The entries of a page, from seq `first` to `last`. An entry that can no longer be read is replaced by one that does nothing, so that
    the rest stays where it was. The store names what is lost."""
    if len(found) == size:
        return tuple(found)
    there = {logged.seq: logged for logged in found}
    missing = sorted((seq for seq in range(first, last + 1) if seq not in there), key=lambda seq: seq not in (first, last))
    at = found[0].at if found else 0.0
    return tuple(sorted((*found, *(Logged(seq, at, LOST) for seq in missing[: size - len(there)])), key=_seq_of))


def _seq_of(logged: Logged) -> int:
    return logged.seq

"""What the user pinned, and which entries must stay for that: no compaction touches them. `spare` keeps plans to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from sys import intern

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Clipped, EntryPinned, FilePinned, FileTouch, Logged, Notice, ToolReturned
from ullage.context.view.log_places import Entries, place_of

LONG_AGO = 1_000
"""Entries. What was logged before the last so many has nothing to do with anything that comes now."""


@dataclass(frozen=True, slots=True)
class Pins:
    """What the user has pinned: entries by seq, files by path."""

    seqs: frozenset[int] = frozenset()
    paths: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything is pinned."""
        return bool(self.seqs or self.paths)

    def after(self, logged: Logged) -> Pins:
        """The pins after one more entry: this very object if it changes none."""
        match logged.entry:
            case EntryPinned(seq, pinned):
                return Pins(self.seqs | {seq} if pinned else self.seqs - {seq}, self.paths)
            case FilePinned(path, pinned):
                return Pins(self.seqs, self.paths | {path} if pinned else self.paths - {path})
            case _:
                return self


def pins(entries: Iterable[Logged]) -> Pins:
    """The pins after `entries`; the last word on each entry or file counts."""
    found = Pins()
    for logged in entries:
        found = found.after(logged)
    return found


class PinnedEntries:
    """Finds the entries that must stay because of pins, for one log as it grows. It looks only at what is new and around what is pinned."""

    def __init__(self) -> None:
        self._texts: dict[str, _Text] = {}
        self._read = 0
        self._together: dict[int, tuple[int, ...]] = {}

    def of(self, entries: Sequence[Logged], pinned: Pins) -> frozenset[int]:
        """The seqs of all entries that must stay because of what is `pinned`.

        These are the entries that the user pinned, the newest text of each pinned file with what was changed in it since, and whatever the
        API wants together: the reply with the calls, the results of all of them, and what shortened these on arrival. If a file is pinned
        that was not before, all of the log is looked at once.
        """
        if pinned.paths - self._texts.keys():
            self._texts, self._read = {path: _Text() for path in pinned.paths}, 0
        if self._texts:
            self._go_on(entries)
        wanted = pinned.seqs.union(*(self._texts[path].seqs for path in pinned.paths))
        stay: set[int] = set()
        for seq in sorted(wanted):
            if seq not in stay:
                stay.update(self._with_others(entries, seq))
        return frozenset(stay)

    def _with_others(self, entries: Sequence[Logged], seq: int) -> Iterable[int]:
        """The seqs of what must stay together with entry `seq`. Long after the entry that is known for good."""
        known = self._together.get(seq)
        if known is None:
            known = tuple(_together_with(entries, seq))
            if place_of(entries, seq) + LONG_AGO < len(entries):
                self._together[seq] = known
        return known

    def copy(self) -> PinnedEntries:
        """A copy that goes on by itself."""
        other = PinnedEntries()
        other._texts, other._read = {path: text.copy() for path, text in self._texts.items()}, self._read
        other._together = self._together.copy()
        return other

    def _go_on(self, entries: Sequence[Logged]) -> None:
        for logged in self._where_touched(entries):
            seq, entry = logged.seq, logged.entry
            if isinstance(entry, ToolReturned | Notice):
                clipped = isinstance(entry, ToolReturned) and entry.full_output is not None
                for touch in entry.touched:
                    if touch.path in self._texts:
                        self._texts[touch.path].saw(seq, touch, clipped=clipped)
        self._read = len(entries)

    def _where_touched(self, entries: Sequence[Logged]) -> Iterator[Logged]:
        """The entries that were not looked at yet, without stretches in which none of the files was touched."""
        if not isinstance(entries, Entries):
            yield from islice(entries, self._read, None)
            return
        start = self._read
        for count, paths in entries.stretches(paths_touched, self._read):
            if not self._texts.keys().isdisjoint(paths):
                yield from entries.between(start, start + count)
            start += count


def paths_touched(entries: Sequence[Logged]) -> tuple[int, frozenset[str]]:
    """The number of entries, and the files that results and notices among them touched."""
    touches = (touch for logged in entries if isinstance(logged.entry, ToolReturned | Notice) for touch in logged.entry.touched)
    return len(entries), frozenset(intern(touch.path) for touch in touches)


class _Text:
    """The places of one file's text: the newest that was whole, what was changed in it since, and the newest part of it read since."""

    def __init__(self) -> None:
        self._whole: int | None = None
        self._part: int | None = None
        self._edits: list[int] = []

    @property
    def seqs(self) -> set[int]:
        return {seq for seq in (self._whole, self._part, *self._edits) if seq is not None}

    def copy(self) -> _Text:
        other = _Text()
        other._whole, other._part, other._edits = self._whole, self._part, self._edits.copy()
        return other

    def saw(self, seq: int, touch: FileTouch, *, clipped: bool) -> None:
        if touch.kind == "edited":
            self._edits.append(seq)
        elif touch.kind == "read" and (touch.partial or clipped):
            self._part = seq
            if self._whole is None:
                self._edits = []
        else:
            self._whole, self._part, self._edits = seq, None, []


def _together_with(entries: Sequence[Logged], seq: int) -> Iterable[int]:
    """The seqs of the entries that must stay if entry `seq` must; empty if there is no such entry."""
    at = place_of(entries, seq)
    if at == len(entries) or entries[at].seq != seq:
        return ()
    for first in range(at, -1, -1):
        reply = entries[first].entry
        if isinstance(reply, AssistantReply):
            batch = _batch(entries, first, reply)
            return batch if seq in batch else (seq,)
    return (seq,)


def _batch(entries: Sequence[Logged], first: int, reply: AssistantReply) -> list[int]:
    """The seqs of the reply at index `first`, of the results of its calls, and of what shortened these."""
    batch = [entries[first].seq]
    open_calls = {block.id for block in reply.blocks if isinstance(block, ToolUse)}
    results: set[int] = set()
    for index in range(first + 1, len(entries)):
        seq, entry = entries[index].seq, entries[index].entry
        if isinstance(entry, AssistantReply):
            break
        if isinstance(entry, ToolReturned) and entry.tool_use_id in open_calls:
            open_calls.discard(entry.tool_use_id)
            batch.append(seq)
            results.add(seq)
        elif isinstance(entry, Clipped) and entry.seq in results:
            batch.append(seq)
    return batch

"""What the user pinned, and which entries must stay for that: no compaction touches them. Plans are kept to it in `moves/spare.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Clipped, EntryPinned, FilePinned, FileTouch, Logged, Notice, ToolReturned


@dataclass(frozen=True, slots=True)
class Pins:
    """What is pinned: entries by seq, files by path."""

    seqs: frozenset[int] = frozenset()
    paths: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything is."""
        return bool(self.seqs or self.paths)

    def after(self, logged: Logged) -> Pins:
        """What is pinned after one more entry: this very object where nothing changed."""
        match logged.entry:
            case EntryPinned(seq, pinned):
                return Pins(self.seqs | {seq} if pinned else self.seqs - {seq}, self.paths)
            case FilePinned(path, pinned):
                return Pins(self.seqs, self.paths | {path} if pinned else self.paths - {path})
            case _:
                return self


def pins(entries: Iterable[Logged]) -> Pins:
    """What is pinned after `entries`; the last word on each counts."""
    found = Pins()
    for logged in entries:
        found = found.after(logged)
    return found


def pinned_entries(entries: Sequence[Logged], pinned: Pins | None = None) -> frozenset[int]:
    """The seqs of all entries that must stay because of what is `pinned` (None: by `entries`).

    Beside what the user pinned that is the newest text of each pinned file with what was changed in it since, and whatever the API
    wants together: the reply with the calls, the results of all of them, and what shortened these on arrival.
    """
    pinned = pins(entries) if pinned is None else pinned
    if not pinned:
        return frozenset()
    wanted = pinned.seqs | _newest_texts(entries, pinned.paths)
    stay: set[int] = set()
    for group in _groups(entries):
        if not wanted.isdisjoint(group):
            stay.update(group)
    return frozenset(stay)


def _newest_texts(entries: Sequence[Logged], paths: frozenset[str]) -> frozenset[int]:
    """Of each file the newest text that was whole, what was changed in it since, and the newest part of it that was read since."""
    texts: dict[str, _Text] = {path: _Text() for path in paths}
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, ToolReturned | Notice):
            clipped = isinstance(entry, ToolReturned) and entry.full_output is not None
            for touch in entry.touched:
                if touch.path in texts:
                    texts[touch.path].saw(logged.seq, touch, clipped=clipped)
    return frozenset(seq for text in texts.values() for seq in text.seqs)


class _Text:
    """Where the text of one file stands."""

    def __init__(self) -> None:
        self._whole: int | None = None
        self._part: int | None = None
        self._edits: list[int] = []

    @property
    def seqs(self) -> set[int]:
        return {seq for seq in (self._whole, self._part, *self._edits) if seq is not None}

    def saw(self, seq: int, touch: FileTouch, *, clipped: bool) -> None:
        if touch.kind == "edited":
            self._edits.append(seq)
        elif touch.kind == "read" and (touch.partial or clipped):
            self._part = seq
            if self._whole is None:
                self._edits = []
        else:
            self._whole, self._part, self._edits = seq, None, []


def _groups(entries: Sequence[Logged]) -> Iterable[frozenset[int]]:
    """The entries by what must stay together."""
    batch: list[int] = []
    open_calls: set[str] = set()
    results: set[int] = set()
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            yield frozenset(batch)
            batch, results = [logged.seq], set()
            open_calls = {block.id for block in entry.blocks if isinstance(block, ToolUse)}
        elif isinstance(entry, ToolReturned) and entry.tool_use_id in open_calls:
            open_calls.discard(entry.tool_use_id)
            batch.append(logged.seq)
            results.add(logged.seq)
        elif isinstance(entry, Clipped) and entry.seq in results:
            batch.append(logged.seq)
        else:
            yield frozenset((logged.seq,))
    yield frozenset(batch)

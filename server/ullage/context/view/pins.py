"""What the user pinned, and which entries must stay for that: no compaction touches them. Plans are kept to it in `moves/spare.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Clipped, EntryPinned, FilePinned, Logged, Notice, ToolReturned


@dataclass(frozen=True, slots=True)
class Pins:
    """What is pinned: entries by seq, files by path."""

    seqs: frozenset[int] = frozenset()
    paths: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything is."""
        return bool(self.seqs or self.paths)


def pins(entries: Iterable[Logged]) -> Pins:
    """What is pinned after `entries`; the last word on each counts."""
    seqs: dict[int, bool] = {}
    paths: dict[str, bool] = {}
    for logged in entries:
        if isinstance(logged.entry, EntryPinned):
            seqs[logged.entry.seq] = logged.entry.pinned
        elif isinstance(logged.entry, FilePinned):
            paths[logged.entry.path] = logged.entry.pinned
    return Pins(
        frozenset(seq for seq, pinned in seqs.items() if pinned),
        frozenset(path for path, pinned in paths.items() if pinned),
    )


def pinned_entries(entries: Sequence[Logged]) -> frozenset[int]:
    """The seqs of all entries that must stay because of what is pinned.

    Beside what the user pinned that is the newest text of each pinned file, and whatever the API wants together: the reply
    with the calls, the results of all of them, and what shortened these on arrival.
    """
    pinned = pins(entries)
    if not pinned:
        return frozenset()
    wanted = pinned.seqs | _newest_texts(entries, pinned.paths)
    stay: set[int] = set()
    for group in _groups(entries):
        if not wanted.isdisjoint(group):
            stay.update(group)
    return frozenset(stay)


def _newest_texts(entries: Sequence[Logged], paths: frozenset[str]) -> frozenset[int]:
    newest: dict[str, int] = {}
    for logged in entries:
        if isinstance(logged.entry, ToolReturned | Notice):
            newest.update((touch.path, logged.seq) for touch in logged.entry.touched if touch.path in paths)
    return frozenset(newest.values())


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

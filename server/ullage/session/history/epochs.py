"""The epochs of a session: what went on between two compactions, what it cost, and what became of each message in one of them.

Messages are given a page at a time: what the compaction of the epoch did, what was out of view before, what stayed. As of that epoch: the
compactions count that were in force when it began, whatever was undone or made later. For the current one it is as things are now. What a
message is, `context/view/fates.py` says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, FetchedAgain, SpentInVain
from ullage.context.entries import AssistantReply, Entry, Forked, Logged, ToolReturned
from ullage.context.view.epoch import EpochState
from ullage.context.view.fates import GONE, Becoming, Fate, is_message
from ullage.context.view.projection import Projection
from ullage.session.history.places import item_of_message
from ullage.session.history.preview import ItemFate, by_hand, part_of, title_of_entry
from ullage.session.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class EpochInfo:
    """One epoch. `number` counts from 1, `at` is when it began (Unix seconds), `cost` the dollars of its requests.

    `compaction` is the one that it began with; None for the first. `cost` also has what was spent in vain on summaries meanwhile; it is
    None if nothing had a price, and has nothing of what another session paid from which this one was forked.
    """

    number: int
    at: float
    requests: int
    cost: float | None
    compaction: Compaction | None
    undone: bool
    current: bool
    fetched_again: FetchedAgain | None = None
    """What the agent got again since its compaction; None if that is nothing, and while that is undone."""


def epochs(projection: Projection, fetched_again: Mapping[str, FetchedAgain]) -> tuple[EpochInfo, ...]:
    """All epochs, the oldest first, also those of compactions that were undone. The last one whose compaction is in force is current.
    `fetched_again` is by the id of the compaction.

    What was asked while a compaction was undone counts for the epoch that was in force again.
    """
    undone = {each.id for each in projection.undone}
    undone_then: set[str] = set()
    found: list[EpochInfo] = []
    at = 0
    for logged in projection.entries:
        entry = logged.entry
        if not found or isinstance(entry, Compaction):
            found.append(_begun(logged, len(found) + 1, undone))
            at = len(found) - 1
        if isinstance(entry, CompactionUndone | CompactionRedone):
            (undone_then.add if isinstance(entry, CompactionUndone) else undone_then.discard)(entry.compaction_id)
            at = _in_force(found, undone_then)
        elif isinstance(entry, AssistantReply):
            found[at] = _with_cost(replace(found[at], requests=found[at].requests + 1), entry.cost)
        elif isinstance(entry, SpentInVain):
            found[at] = _with_cost(found[at], entry.cost)
        elif isinstance(entry, Forked):
            found = [replace(each, cost=None) for each in found]
    current = max((index for index, each in enumerate(found) if not each.undone), default=None)
    return tuple(replace(each, current=index == current, fetched_again=_fetched(each, fetched_again)) for index, each in enumerate(found))


def _fetched(epoch: EpochInfo, fetched_again: Mapping[str, FetchedAgain]) -> FetchedAgain | None:
    found = None if epoch.compaction is None or epoch.undone else fetched_again.get(epoch.compaction.id)
    return found if found is not None and found.characters else None


def _in_force(found: Sequence[EpochInfo], undone: Collection[str]) -> int:
    """The place of the newest epoch whose compaction was not undone then; 0 if there is none."""
    for index in range(len(found) - 1, 0, -1):
        compaction = found[index].compaction
        if compaction is None or compaction.id not in undone:
            return index
    return 0


def _begun(logged: Logged, number: int, undone: set[str]) -> EpochInfo:
    compaction = logged.entry if isinstance(logged.entry, Compaction) else None
    return EpochInfo(number, logged.at, 0, None, compaction, compaction is not None and compaction.id in undone, current=False)


def _with_cost(epoch: EpochInfo, dollars: float | None) -> EpochInfo:
    return epoch if dollars is None else replace(epoch, cost=(epoch.cost or 0.0) + dollars)


Group: TypeAlias = Literal["changed", "before", "kept"]
"""What the compaction of the epoch did; what was out of view, or set aside, when it came; what the model saw as it was."""


@dataclass(frozen=True, slots=True)
class FatePage:
    """Some messages of one group, in the order of the log, and how many there are in each group."""

    changed: int
    before: int
    kept: int
    fates: tuple[ItemFate, ...]


def fate_page(projection: Projection, timeline: Timeline, number: int, group: Group, offset: int, limit: int) -> FatePage | None:
    """The messages of epoch `number` (as `epochs` counts them) from the `offset`th of the group on; None if there is no such epoch.

    Goes through the log up to the end of the epoch.
    """
    epoch = _epoch(projection, number)
    if epoch is None:
        return None
    become = _Become(epoch)
    groups: dict[Group, list[Logged]] = {"changed": [], "before": [], "kept": []}
    for logged in epoch.entries:
        if is_message(logged.entry):
            groups[become.group(logged)].append(logged)
    restored = {file.path for file in epoch.made.restored if file.is_read} if epoch.made is not None else set[str]()
    page = (_item_fate(logged, become.fate(logged), restored, timeline) for logged in groups[group][offset : offset + limit])
    return FatePage(len(groups["changed"]), len(groups["before"]), len(groups["kept"]), tuple(page))


@dataclass(frozen=True, slots=True)
class _EpochView:
    """One epoch: the `entries` up to its end, and by seq the compactions in force `before` it and in it (`active`). It began with `made`,
    which is None for the first."""

    entries: Sequence[Logged]
    before: Mapping[int, Compaction]
    active: Mapping[int, Compaction]
    made: Compaction | None


def _epoch(projection: Projection, number: int) -> _EpochView | None:
    entries = projection.entries
    starts = [index for index, logged in enumerate(entries) if index == 0 or isinstance(logged.entry, Compaction)]
    if not 1 <= number <= len(starts):
        return None
    start = starts[number - 1]
    end = starts[number] if number < len(starts) else len(entries)
    made, seq = entries[start].entry, entries[start].seq
    made = made if isinstance(made, Compaction) else None
    epoch = EpochState()
    for logged in islice(entries, start + 1):
        epoch = epoch.after(logged)
    before = {each: compaction for each, compaction in epoch.active.items() if each != seq}
    newest = max(projection.active_by_seq, default=0)
    if newest == (seq if made is not None else 0):
        return _EpochView(entries, before, projection.active_by_seq, made)
    return _EpochView(entries[:end], before, epoch.active, made)


class _Become:
    """What becomes of messages in an epoch, and what had become of them before."""

    def __init__(self, epoch: _EpochView) -> None:
        self._then, self._now = Becoming(epoch.entries, epoch.before), Becoming(epoch.entries, epoch.active)
        self._out_then, self._out_now = by_hand(epoch.before.values()), by_hand(epoch.active.values())

    def group(self, logged: Logged) -> Group:
        """The group in which a message stands."""
        seq = logged.seq
        if self._then.is_summarised(seq) and self._now.is_summarised(seq) and seq not in self._out_then:
            return "before"  # most of a long log, in most of its epochs
        was, fate = self._was(logged), self._is(logged)
        if fate.kind in ("kept", "clipped") or (fate.kind == "pinned" and was.kind in ("pinned", *GONE)):
            return "kept"  # or seen again: what took it away was undone since
        return "before" if was.kind in GONE or was.kind == fate.kind else "changed"

    def fate(self, logged: Logged) -> Fate:
        """What became of a message in the epoch. If it was gone before, it names the compaction that took it away then."""
        was, fate = self._was(logged), self._is(logged)
        return replace(fate, compaction_id=was.compaction_id) if was.kind in GONE and fate.kind in GONE else fate

    def _was(self, logged: Logged) -> Fate:
        return self._out_then.get(logged.seq) or self._then.of(logged)

    def _is(self, logged: Logged) -> Fate:
        return self._out_now.get(logged.seq) or self._now.of(logged)


def _item_fate(logged: Logged, fate: Fate, restored: set[str], timeline: Timeline) -> ItemFate:
    item_id = item_of_message(logged.entry)
    title = title_of_entry(logged, timeline)
    fetched_again = next(iter(_files_of(logged.entry, restored)), None) if fate.kind not in ("kept", "pinned") else None
    return ItemFate(item_id or "", fate.kind, fate.compaction_id, part_of(logged.entry), title, fetched_again)


def _files_of(entry: Entry, among: set[str]) -> Iterator[str]:
    if isinstance(entry, ToolReturned):
        yield from (touch.path for touch in entry.touched if touch.path in among)

"""The epochs of a session: what went on between two compactions, and what it cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ullage.context.entries import AssistantReply, Compaction, CompactionRedone, CompactionUndone, Forked, Logged, SpentInVain
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class EpochInfo:
    """One epoch. `number` counts from 1, `at` is when it began (Unix seconds), `cost` the dollars of its requests.

    `compaction` is the one that it began with; None for the first. `cost` also has what was spent in vain on summaries meanwhile; it is
    None where nothing had a price, and has nothing of what another session paid from which this one was forked.
    """

    number: int
    at: float
    requests: int
    cost: float | None
    compaction: Compaction | None
    undone: bool
    current: bool


def epochs(projection: Projection) -> tuple[EpochInfo, ...]:
    """All of them, oldest first; those of compactions that were undone too. The last one whose compaction is in force is current.

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
    return tuple(replace(each, current=index == current) for index, each in enumerate(found))


def _in_force(found: Sequence[EpochInfo], undone: Collection[str]) -> int:
    """The place of the newest epoch whose compaction was not undone then; 0 where there is none."""
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

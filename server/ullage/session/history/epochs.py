"""The epochs of a session: what went on between two compactions, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ullage.context.entries import AssistantReply, Compaction, Logged, SpentInVain
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class EpochInfo:
    """One epoch. `number` counts from 1, `at` is when it began (Unix seconds), `cost` the dollars of its requests.

    `compaction` is the one that it began with; None for the first. `cost` also has what was spent in vain on summaries meanwhile; it is
    None where nothing had a price.
    """

    number: int
    at: float
    requests: int
    cost: float | None
    compaction: Compaction | None
    undone: bool
    current: bool


def epochs(projection: Projection) -> tuple[EpochInfo, ...]:
    """All of them, oldest first; those of compactions that were undone too. The last one whose compaction is in force is current."""
    undone = {each.id for each in projection.undone}
    found: list[EpochInfo] = []
    for logged in projection.entries:
        if not found or isinstance(logged.entry, Compaction):
            found.append(_begun(logged, len(found) + 1, undone))
        if isinstance(logged.entry, AssistantReply):
            found[-1] = _with_cost(replace(found[-1], requests=found[-1].requests + 1), logged.entry.cost)
        elif isinstance(logged.entry, SpentInVain):
            found[-1] = _with_cost(found[-1], logged.entry.cost)
    current = max((index for index, each in enumerate(found) if not each.undone), default=None)
    return tuple(replace(each, current=index == current) for index, each in enumerate(found))


def _begun(logged: Logged, number: int, undone: set[str]) -> EpochInfo:
    compaction = logged.entry if isinstance(logged.entry, Compaction) else None
    return EpochInfo(number, logged.at, 0, None, compaction, compaction is not None and compaction.id in undone, current=False)


def _with_cost(epoch: EpochInfo, dollars: float | None) -> EpochInfo:
    return epoch if dollars is None else replace(epoch, cost=(epoch.cost or 0.0) + dollars)

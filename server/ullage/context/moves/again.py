"""A compaction that was undone, as it can be made again after something was pinned meanwhile."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.entries import Compaction
from ullage.context.moves.plan import Count, Plan
from ullage.context.moves.spare import spare
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import gone_by


def again(undone: Compaction, projection: Projection, count: Count) -> Compaction | None:
    """The compaction without what it does to pinned entries: itself where it does nothing to any, and where the user took something out
    with it. None where nothing is left of it, or what must stay would come between the API's block and the turns after it.

    `projection` is the view without it. Files are not read again: those that it restored may have changed.
    """
    told = undone.summarised
    to, covers, carried = (told.last_seq, told.messages, told.carried) if told is not None else (None, 0, ())
    plan = Plan(undone.through, undone.cleared, undone.snipped, to, covers, 0, carried=carried)
    spared = plan if gone_by(undone) else spare(plan, projection, count)
    if spared is None:
        return None
    if (spared.cleared, spared.snipped, spared.carried) == (plan.cleared, plan.snipped, plan.carried):
        return undone
    if told is None:
        return replace(undone, cleared=spared.cleared, snipped=spared.snipped, restored=(), resume="")
    if told.block is not None:
        return None
    summarised = replace(told, carried=spared.carried)
    return replace(undone, cleared=spared.cleared, snipped=spared.snipped, summarised=summarised, restored=(), resume="")

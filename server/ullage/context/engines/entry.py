"""A planned compaction and the text of its handoff as the entry of the log that they become, live and in replay."""

from __future__ import annotations

from ullage.context.engines.engine import Handoff
from ullage.context.entries import Compaction, Rung, Snipped, Summarised, Trigger
from ullage.context.moves.plan import Plan
from ullage.context.view.projection import Projection


def planned_entry(
    id: str, trigger: Trigger, plan: Plan, handoff: Handoff, rung: Rung, *, policy: str, tokens_before: int, focus: str = ""
) -> Compaction:
    """The entry before files are read again and before its size is known (`estimated_after` is 0). Tokens of the whole context."""
    summarised, snipped = None, plan.snipped
    if plan.summarise_to is not None and plan.summarise_from:
        snipped = Snipped(plan.summarise_from, plan.summarise_to, handoff.text, plan.carried)
    elif plan.summarise_to is not None:
        summarised = Summarised(plan.summarise_to, handoff.text, plan.covers, handoff.acknowledgement, plan.carried, handoff.block)
    return Compaction(
        id=id,
        trigger=trigger,
        rung=rung,
        through=plan.through,
        cleared=plan.cleared,
        snipped=snipped,
        summarised=summarised,
        restored=(),
        resume=handoff.resume,
        focus=focus,
        policy=policy,
        tokens_before=tokens_before,
        estimated_after=0,
        without_files=plan.without_files,
    )


def is_in_force(planned: Plan, projection: Projection) -> bool:
    """Whether all that is planned was done before: an epoch of its own would cost the cache and all thinking for nothing."""
    cleared = {each for active in projection.active for each in active.cleared}
    snipped = [active.snipped for active in projection.active]
    return cleared.issuperset(planned.cleared) and (planned.snipped is None or planned.snipped in snipped)

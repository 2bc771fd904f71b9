"""What a compaction would do now. Nothing changes, and no model is asked: the program writes what a model would have a part in."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.compaction.api_summary import for_the_api
from ullage.context.compaction.draft import Draft, Forecast, NothingToCompact, PolicyFailed, Wanted, counting
from ullage.context.compaction.drafting import as_stand_in
from ullage.context.compaction.making import Making
from ullage.context.compaction.means import Means
from ullage.context.compaction_entries import Rung
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection


async def forecast(making: Making, means: Means, wanted: Wanted) -> Forecast:
    """By the draft that is ready, by the one that would be waited for, as it is planned, or by a new one. Raises `NothingToCompact`."""
    wanted = replace(wanted, foreseen=True)
    prepared = making.ahead.prepared(wanted)
    if prepared is not None:
        return Forecast(await making.completed(prepared.as_wanted(wanted), at_work=False), prepared.rung, is_written=True)
    in_work = making.ahead.in_work(wanted)
    try:
        planned = in_work.as_wanted(wanted) if in_work is not None else await making.drafting.plan(wanted, means.policy, means.sizes())
        draft, rung = await _as_if_written(making, means, planned)
    except PolicyFailed as failure:
        draft = await making.drafting.by_stand_in(wanted, means.asking(), why=str(failure))
        rung = draft.rung
    except NothingToCompact:
        if not means.policy.never:
            raise
        planned = await making.drafting.plan(wanted, ULLAGE, as_stand_in(wanted, means.sizes())[1])
        draft, rung = await _as_if_written(making, means, planned)
    return Forecast(await making.completed(draft, at_work=False), rung)


async def _as_if_written(making: Making, means: Means, draft: Draft) -> tuple[Draft, Rung]:
    """As the program would write it, and the way that would be tried first."""
    if draft.plan.summarise_to is None:
        return draft, draft.rung
    window, asks = means.sizes().window, draft.plan.asked is not None
    if asks and making.drafting.may_ask_api(draft, window) and (by_api := await _for_the_api(means, draft)) is not None:
        return await making.drafting.by_program(by_api), "api"
    written = await making.drafting.by_program(draft)
    return written, "model" if asks and making.drafting.may_ask_model(draft, window, []) else written.rung


async def _for_the_api(means: Means, draft: Draft) -> Draft | None:
    entries, count = means.view.entries, counting(means.sizes().calibration)
    planned_for = entries[: place_of(entries, draft.plan.through + 1)]  # one in work was planned before the last of them
    possible = await means.ask_engine(ULLAGE, lambda: for_the_api(draft.plan, Projection(planned_for), count), counts=False)
    return None if possible is None else replace(draft, plan=possible[0])

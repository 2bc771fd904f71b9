"""Keeps a plan, whoever made it, from touching what the user pinned."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.moves.plan import Count, Plan
from ullage.context.moves.preview import preview
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import messages_taken_out


def spare(plan: Plan, projection: Projection, count: Count) -> Plan | None:
    """The plan without what it does to pinned entries, which stay where a summary or a snip takes their surroundings away.

    None where nothing is left of it. What the user took out by hand stays out, pinned or not: a message is not carried; of a result whose
    call stays, so does the line that says that it was taken out.
    """
    pinned = projection.pinned_entries
    if not pinned:
        return plan
    pinned = pinned.difference(*(messages_taken_out(each) for each in projection.active))
    cleared = tuple(each for each in plan.cleared if each.seq not in pinned)
    snipped = plan.snipped
    if snipped is not None:
        snipped = replace(snipped, carried=_within(pinned, snipped.first_seq, snipped.last_seq))
    if plan.summarise_to is None:
        return _alone(replace(plan, cleared=cleared, snipped=snipped), plan, projection, count)
    carried = tuple(sorted({*plan.carried, *_within(pinned, plan.summarise_from, plan.summarise_to)}))
    staying = set(carried) - set(plan.carried)
    more = sum(count([message]) for message in projection.messages if not staying.isdisjoint(message.sources))
    return replace(plan, cleared=cleared, snipped=snipped, carried=carried, estimated_after=plan.estimated_after + more)


def leaves_alone(plan: Plan, first: int) -> bool:
    """Whether the plan touches no entry from seq `first` on."""
    if plan.summarise_to is not None and plan.summarise_to >= first:
        return False
    if plan.snipped is not None and plan.snipped.last_seq >= first:
        return False
    return all(each.seq < first for each in plan.cleared)


def _alone(spared: Plan, planned: Plan, projection: Projection, count: Count) -> Plan | None:
    """Moves without a summary: a marker can be longer than what gives way to it, once what is pinned stays."""
    if spared == planned:
        return planned
    after = count(preview(projection, spared.cleared, spared.snipped).messages)
    return replace(spared, estimated_after=after) if after < count(projection.messages) else None


def _within(pinned: frozenset[int], first: int, last: int) -> tuple[int, ...]:
    return tuple(sorted(seq for seq in pinned if first <= seq <= last))

"""Keeps a plan, whoever made it, from touching what the user pinned."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.moves.plan import Count, Plan
from ullage.context.view.pins import pinned_entries
from ullage.context.view.projection import Projection


def spare(plan: Plan, projection: Projection, count: Count) -> Plan | None:
    """The plan without what it does to pinned entries, which stay where a summary or a snip takes their surroundings away.

    None where nothing is left of it.
    """
    pinned = pinned_entries(projection.entries)
    if not pinned:
        return plan
    cleared = tuple(each for each in plan.cleared if each.seq not in pinned)
    snipped = plan.snipped
    if snipped is not None:
        snipped = replace(snipped, carried=_within(pinned, snipped.first_seq, snipped.last_seq))
    carried = plan.carried
    if plan.summarise_to is not None:
        carried = tuple(sorted({*carried, *_within(pinned, plan.summarise_from, plan.summarise_to)}))
    if not cleared and snipped is None and plan.summarise_to is None:
        return None
    more = sum(count([message]) for message in projection.messages if not set(carried).isdisjoint(message.sources))
    return replace(plan, cleared=cleared, snipped=snipped, carried=carried, estimated_after=plan.estimated_after + more)


def _within(pinned: frozenset[int], first: int, last: int) -> tuple[int, ...]:
    return tuple(sorted(seq for seq in pinned if first <= seq <= last))

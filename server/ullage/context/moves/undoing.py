"""The moves that belong to undo and redo.

If an undo would make the conversation too large for its window, cheap moves make it fit, as little as serves and without a summary. If
something was pinned since a compaction was undone, it is made again without touching that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ullage.context.blocks import Message
from ullage.context.entries import Compaction, Snipped
from ullage.context.moves.clear import clear
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Count, Digest, Plan, spare
from ullage.context.moves.preview import preview
from ullage.context.moves.snip import between
from ullage.context.policy import UllageNumbers
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import gone_by

TRIES = 4
"""The marker of what is cut out says in a few lines what that was, so how long it is shows only when it is written."""


def fitting(view: Projection, too_many: int, numbers: UllageNumbers, count: Count, digest: Digest) -> Plan | None:
    """The plan that makes the messages of `view` at least `too_many` tokens fewer: old results are cleared, and where that is not enough
    the middle is cut out, as little of it as serves. None where even that is not enough, or what is pinned is too much.
    """
    before = count(view.messages)
    for plan in _plans(view, before - too_many, numbers, count, digest):
        spared = spare(plan, view, count)
        if spared is not None:
            after = count(preview(view, spared.cleared, spared.snipped).messages)
            if after <= before - too_many:
                return replace(spared, estimated_after=after)
    return None


def _plans(view: Projection, room: int, numbers: UllageNumbers, count: Count, digest: Digest) -> Sequence[Plan]:
    through = view.entries[-1].seq
    cleared = clear(view, numbers.clear)
    alone = Plan(through, cleared, None, None, 0, 0)
    shown = preview(view, cleared)
    snipped = _middle(shown, count(shown.messages) - room, numbers, count, digest)
    return [*([alone] if cleared else []), *([replace(alone, snipped=snipped)] if snipped is not None else [])]


def _middle(view: Projection, too_many: int, numbers: UllageNumbers, count: Count, digest: Digest) -> Snipped | None:
    """The shortest range from after the first few messages on that takes so many tokens with it, marker and all; the last few stay."""
    messages: Sequence[Message] = tuple(view.messages)
    cuts = legal_cuts(messages)
    first = min((cut for cut in cuts if cut >= numbers.snip.keep_first), default=len(messages))
    before = list(accumulate((count([message]) for message in messages), initial=0))
    latest = len(messages) - numbers.summary.reactive_keep_messages
    needed = too_many
    for _ in range(TRIES):
        last = next((cut for cut in cuts if first < cut <= latest and before[cut] - before[first] >= needed), None)
        found = between(view, first, last, digest) if last is not None else None
        if found is None:
            return None
        gained = before[-1] - count(preview(view, snipped=found).messages)
        if gained >= too_many:
            return found
        needed += too_many - gained
    return None


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

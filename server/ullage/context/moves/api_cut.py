"""What the API is asked to put a block in the place of (anthropic-api.md 2.4): a part of what was planned to be summarised, or more.

The turns that are kept must follow it unchanged, or their thinking is lost. So nothing is cleared beside it, and the tail, which keeps
its results and its thinking, begins later than planned where it would be longer than planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ullage.context.blocks import CompactionBlock, Message
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Count, Plan
from ullage.context.moves.preview import preview
from ullage.context.moves.snip import messages_in
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection


def block_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """The legal cuts before which there is something for a block to stand for, ascending.

    The first kept message must be of another role than the last summarised one: the API would take them for one. That also leaves
    out the cut right behind an earlier block, which would summarise nothing but that block.
    """
    return tuple(
        cut
        for cut in legal_cuts(messages)
        if cut > _earlier_block(messages) and (cut == len(messages) or messages[cut].role != messages[cut - 1].role)
    )


def for_the_api(planned: Plan, projection: Projection, count: Count) -> tuple[Plan, int] | None:
    """The plan as the API can carry it out, and how many messages it gets to summarise.

    None where it cannot: where the summary would stand amid the messages, or where something that it covers must stay, which would come
    between the block and the turns that were kept. `projection` is the one that was planned for.
    """
    if planned.summarise_to is None or planned.summarise_from or planned.carried:
        return None
    messages = projection.messages
    cleared = preview(projection, planned.cleared)
    planned_cut = next((cut for cut in range(len(messages) + 1) if projection.last_seq_before(cut) >= planned.summarise_to), None)
    cuts = [cut for cut in block_cuts(messages) if planned_cut is not None and cut >= planned_cut]
    if planned_cut is None or not cuts:
        return None
    tail = count(cleared.messages[planned_cut:])
    tokens = list(accumulate((count([message]) for message in reversed(messages)), initial=0))
    cut = next((cut for cut in cuts if tokens[len(messages) - cut] <= tail), cuts[-1])
    to = projection.last_seq_before(cut)
    if any(seq <= to for seq in projection.pinned_entries):
        return None
    covers = messages_in(projection.entries[: place_of(projection.entries, to + 1)])
    return replace(planned, cleared=(), snipped=None, summarise_to=to, covers=covers), cut


def keeps_turns(before: Sequence[Message], cut: int, after: Sequence[Message]) -> bool:
    """Whether the messages from `cut` on follow the block as they were; at the end of the last one there may be more.

    They do, but for tool use ids that were changed because an earlier call had the same one.
    """
    kept, now = before[cut:], after[1 : 1 + len(before) - cut]
    if len(now) != len(kept):
        return False
    same = all(mine.blocks == theirs.blocks for mine, theirs in zip(kept[:-1], now[:-1], strict=True))
    return same and (not kept or now[-1].blocks[: len(kept[-1].blocks)] == kept[-1].blocks)


def _earlier_block(messages: Sequence[Message]) -> int:
    return 1 if messages and isinstance(messages[0].blocks[0], CompactionBlock) else 0

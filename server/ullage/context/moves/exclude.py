"""Exclude: a message or a tool result that the user does not want the model to see any longer."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Cleared, Logged, Snipped, ToolReturned, UserPrompt
from ullage.context.moves.excluded import EXCLUDED_MESSAGE, EXCLUDED_RESULT, excluded
from ullage.context.moves.plan import Count, Plan
from ullage.context.moves.preview import preview
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection


def exclude(projection: Projection, seq: int, count: Count) -> Plan | None:
    """The moves that take entry `seq` out of the view: a result gives way to a line that says so; of a prompt or a reply the whole
    goes, a reply with the results of its calls. What a summary or a snip covers by now can be taken out as well, since a record may tell of
    it. None where it is out already, or is nothing that can be taken out.
    """
    entries, entry = projection.entries, entry_at(projection.entries, seq)
    if seq in excluded(projection):
        return None
    cleared: tuple[Cleared, ...] = ()
    snipped: Snipped | None = None
    match entry:
        case ToolReturned():
            cleared = (Cleared(seq, EXCLUDED_RESULT),)
        case UserPrompt():
            snipped = Snipped(seq, seq, EXCLUDED_MESSAGE)
        case AssistantReply():
            snipped = _with_results(entries, seq, entry)
        case _:
            return None
    after = preview(projection, cleared, snipped)
    return Plan(entries[-1].seq, cleared, snipped, None, 0, count(after.messages))


def _with_results(entries: Sequence[Logged], seq: int, reply: AssistantReply) -> Snipped:
    waiting = {block.id for block in reply.blocks if isinstance(block, ToolUse)}
    last = seq
    between: list[int] = []
    others: list[int] = []
    for index in range(place_of(entries, seq + 1), len(entries)):
        logged = entries[index]
        if not waiting or isinstance(logged.entry, AssistantReply):
            break
        if isinstance(logged.entry, ToolReturned) and logged.entry.tool_use_id in waiting:
            waiting.discard(logged.entry.tool_use_id)
            last = logged.seq
            between += others
            others = []
        else:
            others.append(logged.seq)
    return Snipped(seq, last, EXCLUDED_MESSAGE, tuple(between))

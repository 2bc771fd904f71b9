"""Where a session can be forked, and what a fork knows of the session that it comes from. How it is copied is known in `store/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import ToolUse
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.entries import AssistantReply, Clipped, Forked, Logged, Notice, Prelude, ToolReturned, TurnEnded, UserPrompt
from ullage.context.view.log_places import place_of
from ullage.session.history.places import entry_of_item, first_of_item
from ullage.session.timeline.items import ForkOrigin

LEFT_AT_WORK = "This turn was not finished where the session was forked. What was done by then is kept."

_READ_BY_THE_MODEL = (Prelude, UserPrompt, AssistantReply, ToolReturned, Notice, Compaction, CompactionUndone, CompactionRedone)


@dataclass(frozen=True, slots=True)
class ForkPlace:
    """The fork has the entries up to and with `through`. `prompt` is the one that it was forked before, to be said in another way."""

    through: int
    prompt: UserPrompt | None


def fork_origin(entries: Sequence[Logged]) -> ForkOrigin | None:
    """The session that the log was forked from last; None where it is no fork."""
    forked = (logged.entry for logged in reversed(entries) if isinstance(logged.entry, Forked))
    return next((ForkOrigin(entry.session_id, entry.title) for entry in forked), None)


def end_of_fork(entries: Sequence[Logged]) -> TurnEnded:
    """How the turn ends in a fork that was taken from its midst: well where the model had called nothing, else to be gone on with."""
    said = next((logged.entry for logged in reversed(entries) if isinstance(logged.entry, _READ_BY_THE_MODEL)), None)
    if isinstance(said, AssistantReply) and not any(isinstance(block, ToolUse) for block in said.blocks):
        return TurnEnded("end_turn")
    return TurnEnded("interrupted", LEFT_AT_WORK, "continue")


def fork_place(entries: Sequence[Logged], item_id: str) -> ForkPlace | None:
    """Where a fork from that item ends: before a prompt, else with the item; None where nothing in the log shows it.

    A reply is taken with all results of its calls, and with the end of its turn where that comes next: there the next request stood, or
    would have stood.
    """
    shown = entry_of_item(entries, item_id)
    if shown is None:
        return None
    if isinstance(shown.entry, UserPrompt):
        return ForkPlace(shown.seq - 1, shown.entry)
    first = first_of_item(entries, item_id) or shown.seq
    return ForkPlace(_last_with(entries, place_of(entries, first)), None)


def _last_with(entries: Sequence[Logged], at: int) -> int:
    """The seq of the last entry that belongs to the one at that place."""
    entry = entries[at].entry
    calls = {block.id for block in entry.blocks if isinstance(block, ToolUse)} if isinstance(entry, AssistantReply) else set[str]()
    last = entries[at].seq
    results: set[int] = set()
    for index in range(at + 1, len(entries)):
        logged = entries[index]
        match logged.entry:
            case ToolReturned(tool_use_id=id) if id in calls:
                calls.discard(id)
                results.add(logged.seq)
                last = logged.seq
            case Clipped(seq=seq) if seq in results:
                last = logged.seq
            case TurnEnded():
                return logged.seq
            case other if isinstance(other, _READ_BY_THE_MODEL):
                break
            case _:
                pass
    return last

"""What became of each entry: whether the model still sees it as it was, and if not, which compaction took it away and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from ullage.context.entries import AssistantReply, Clipped, Notice, ToolReturned, UserPrompt
from ullage.context.view.edits import edits_of
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection

FateKind: TypeAlias = Literal["kept", "clipped", "cleared", "snipped", "summarised", "pinned"]
"""As it was; shortened on arrival; a placeholder; cut out with a marker; in a summary; kept since it is pinned, its surroundings not."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one entry; `compaction_id` names the compaction that did it, None where none did."""

    kind: FateKind
    compaction_id: str | None = None


KEPT = Fate("kept")


def fates(projection: Projection, since: int = 0) -> Mapping[int, Fate]:
    """By seq, for every prompt, reply, tool result and notice of the log from entry `since` on."""
    active = projection.active_by_seq
    edits = edits_of(active)
    cleared_by = {cleared.seq: compaction.id for compaction in active.values() for cleared in compaction.cleared}
    found: dict[int, Fate] = {}
    for logged in islice(projection.entries, place_of(projection.entries, since), None):
        seq, entry = logged.seq, logged.entry
        if isinstance(entry, Clipped):
            if found.get(entry.seq) == KEPT:
                found[entry.seq] = Fate("clipped")
            continue
        if not isinstance(entry, UserPrompt | AssistantReply | ToolReturned | Notice):
            continue
        by = edits.handoff
        snip = next((each for each in edits.snips if each.first <= seq <= each.last), None)
        if snip is not None and seq in snip.carried:  # whatever else covers it
            found[seq] = Fate("pinned", active[snip.source].id)
        elif by is not None and seq <= by.last:
            found[seq] = Fate("pinned" if seq in by.carried else "summarised", active[by.source].id)
        elif snip is not None:
            found[seq] = Fate("snipped", active[snip.source].id)
        elif seq in cleared_by:
            found[seq] = Fate("cleared", cleared_by[seq])
        elif isinstance(entry, ToolReturned) and entry.full_output:
            found[seq] = Fate("clipped")
        else:
            found[seq] = KEPT
    return found

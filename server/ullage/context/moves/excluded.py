"""What the user took out of the conversation, as the compactions that did it say: nothing that is written of the log may repeat it."""

from __future__ import annotations

from ullage.context.view.projection import Projection

EXCLUDED_RESULT = "[The user took this result out of the conversation.]"
EXCLUDED_MESSAGE = "[The user took a message out of the conversation here.]"


def excluded(projection: Projection) -> frozenset[int]:
    """The seqs of the entries that are taken out as long as what did it is in force."""
    found: set[int] = set()
    for compaction in projection.active:
        found.update(each.seq for each in compaction.cleared if each.placeholder == EXCLUDED_RESULT)
        snipped = compaction.snipped
        if snipped is not None and snipped.marker == EXCLUDED_MESSAGE:
            found.update({*range(snipped.first_seq, snipped.last_seq + 1)} - {*snipped.carried})
    return frozenset(found)

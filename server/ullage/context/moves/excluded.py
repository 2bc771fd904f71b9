"""What the user took out of the conversation: nothing that is written of the log may repeat it."""

from __future__ import annotations

from collections.abc import Iterable

from ullage.context.entries import Logged
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import to_be_read
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT, all_taken_out

__all__ = ["EXCLUDED_MESSAGE", "EXCLUDED_RESULT", "excluded", "without_excluded"]


def excluded(projection: Projection) -> frozenset[int]:
    """The seqs of the entries that are taken out as long as what did it is in force."""
    return all_taken_out(projection.active)


def without_excluded(projection: Projection, entries: Iterable[Logged]) -> list[Logged]:
    """Those `entries` that are not taken out, and compactions in force with their texts as they read without these."""
    left_out, active = excluded(projection), to_be_read(projection.active_by_seq, projection.entries)
    kept = (logged for logged in entries if logged.seq not in left_out)
    return [Logged(each.seq, each.at, active[each.seq]) if active.get(each.seq, each.entry) is not each.entry else each for each in kept]

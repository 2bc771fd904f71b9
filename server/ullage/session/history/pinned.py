"""What is pinned in a session, as a front end shows it."""

from __future__ import annotations

from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection
from ullage.session.history.places import items_of_entry
from ullage.session.items import PinnedItems


def pinned_items(projection: Projection) -> PinnedItems:
    """The items and files that are pinned now, in the order of the log and by name."""
    entries = (entry_at(projection.entries, seq) for seq in sorted(projection.pins.seqs))
    shown = (item_id for entry in entries if entry is not None for item_id in items_of_entry(entry))
    return PinnedItems(tuple(shown), tuple(sorted(projection.pins.paths)))

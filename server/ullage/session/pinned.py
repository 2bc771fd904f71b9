"""What is pinned in a session, as a front end shows it."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.entries import Logged
from ullage.context.view.pins import pins
from ullage.session.items import PinnedItems
from ullage.session.places import items_of_entry


def pinned_items(entries: Sequence[Logged]) -> PinnedItems:
    """The items and files that are pinned after `entries`, in the order of the log and by name."""
    found = pins(entries)
    shown = (item_id for logged in entries if logged.seq in found.seqs for item_id in items_of_entry(logged.entry))
    return PinnedItems(tuple(shown), tuple(sorted(found.paths)))

"""What in the view is more than what earlier compactions left: without any of it another compaction would only repeat the last."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import chain

from ullage.context.entries import Compaction
from ullage.context.view.log_places import entry_at
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


def has_news(projection: Projection, messages: Iterable[Message], staying: AbstractSet[int] = frozenset()) -> bool:
    """Whether `messages` of the view hold anything that no compaction brought or carried; `staying` are seqs that stay in any case."""
    kept = carried(projection) | staying
    sources = {source for message in messages for source in message.sources} - kept
    return any(not isinstance(entry_at(projection.entries, source), Compaction) for source in sources)


def carried(projection: Projection) -> frozenset[int]:
    """The seqs of entries that compactions in force left in view although they cover them."""
    seqs = (
        (compaction.summarised.carried if compaction.summarised else (), compaction.snipped.carried if compaction.snipped else ())
        for compaction in projection.active
    )
    return frozenset(chain.from_iterable(chain.from_iterable(seqs)))

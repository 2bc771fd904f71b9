"""What went wrong and what it cost.

What makes it stop for a while, the breaker and the guard, stands in `context/compaction/gathering.py`.

What a summary cost that came to nothing still counts, and it counts once. As long as a summary may serve, its draft holds the cost. Then
the compaction that it becomes holds it. The cost of a draft that is given up is logged.
"""

from __future__ import annotations

from ullage.context.blocks import Usage
from ullage.context.compaction.assemble import Draft
from ullage.context.compaction_entries import SpentInVain
from ullage.models.model import ModelCard
from ullage.session.conversation import Conversation


class Spent:
    """What the calls for one summary have used so far."""

    def __init__(self) -> None:
        self.usage: Usage | None = None

    def add(self, usage: Usage | None) -> None:
        """One more call; None where it was not counted."""
        self.usage = self.usage + usage if self.usage and usage else self.usage or usage


def spend_in_vain(conversation: Conversation, usage: Usage | None, cost: float | None) -> None:
    """Nothing comes of what was spent."""
    if usage is not None:
        conversation.append_or_owe(SpentInVain(usage, cost))


def discard(conversation: Conversation, draft: Draft) -> None:
    """The draft will not be used."""
    spend_in_vain(conversation, draft.usage, draft.cost)


def spent_on(card: ModelCard, usage: Usage | None) -> float | None:
    """Dollars; None where nothing was spent or prices are not known."""
    return card.cost(usage) if usage is not None else None

"""Which model answers in a session, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable

from ullage.models.model import Model, ModelCard
from ullage.session.items import ModelInfo


class ModelInUse:
    """The model of one session; `changed` is called whenever it is another one, or more is known of it."""

    def __init__(self, model: Model, changed: Callable[[], None]) -> None:
        self.model: Model = model
        self.card: ModelCard = model.expected()
        self._changed = changed

    def use(self, model: Model) -> None:
        """Another model answers from the next call on."""
        self.model = model
        self.card = model.expected()
        self._changed()

    async def learn(self) -> None:
        """Takes over what the endpoint says of the model, or has said since; until then the table's figures are used."""
        model = self.model
        card = await model.card()
        if model is self.model and card != self.card:
            self.card = card
            self._changed()

    @property
    def info(self) -> ModelInfo:
        """For the panel."""
        card = self.card
        return ModelInfo(card.name, card.display_name, card.practice, card.source, card.efforts, card.effort)

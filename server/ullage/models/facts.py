"""What the user says of a model. It counts more than what its server, the table or an assumption says. Only the user knows the window where
a server does not tell it, deployments with names of their own, and prices by contract.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from ullage.context.view.request import Request
from ullage.models.endpoint_checks import LEAST_OUTPUT, integer, plausible_window
from ullage.models.model import Model, ModelCard, ModelEvent, Prices, SearchesWeb
from ullage.models.model_card import OfferedModel
from ullage.workspace.web_search import NotSearched, WebSearch, WebSearchResult

SOURCE = "settings"
"""`ModelCard.source` where the user said the window."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the user says of one model in the settings. A field is None where they say nothing. `window` and `max_output` are in tokens,
    prices in dollars per million tokens."""

    window: int | None = None
    max_output: int | None = None
    images: bool | None = None
    input_price: float | None = None
    output_price: float | None = None
    cached_price: float | None = None
    """The price of input that was read from a cache."""
    cache_write_price: float | None = None
    """The price of input that was written to a cache."""

    @property
    def prices(self) -> Prices | None:
        """The prices that the user says; None if they do not say both that of input and that of output."""
        if self.input_price is None or self.output_price is None:
            return None
        cached = self.input_price if self.cached_price is None else self.cached_price
        written = self.input_price if self.cache_write_price is None else self.cache_write_price
        return Prices(self.input_price, self.output_price, cached, written, written)

    def applied(self, card: ModelCard) -> ModelCard:
        """The card with what the user says of it. A smaller window that a refusal has named since stays: what the user said is hearsay
        then."""
        if self.window is not None and (card.stated_window is None or self.window < card.window):
            card = replace(card, window=self.window, stated_window=None, source=SOURCE, max_output=min(card.max_output, self.window))
        elif self.window is not None:
            card = replace(card, stated_window=self.window)
        return replace(
            card,
            max_output=min(self.max_output or card.max_output, card.window),
            prices=self.prices or card.prices,
            takes_images=card.takes_images if self.images is None else self.images,
        )


def read_facts(given: object) -> Mapping[str, ModelFacts] | None:
    """The facts of each model by its name; None if the value holds no such facts."""
    if not isinstance(given, Mapping):
        return None
    found: dict[str, ModelFacts] = {}
    for name, said in cast("Mapping[object, object]", given).items():
        facts = _facts(said)
        if not isinstance(name, str) or facts is None:
            return None
        found[name] = facts
    return found


def _facts(said: object) -> ModelFacts | None:
    if not isinstance(said, Mapping):
        return None
    values = dict(cast("Mapping[str, object]", said))
    window, most, images = values.pop("window", None), values.pop("maxOutput", None), values.pop("images", None)
    prices = [values.pop(name, None) for name in ("inputPrice", "outputPrice", "cachedPrice", "cacheWritePrice")]
    if values or (window is not None and plausible_window(integer(window)) is None):
        return None
    if (most is not None and (integer(most) or 0) < LEAST_OUTPUT) or not isinstance(images, bool | None):
        return None
    if not all(each is None or _is_price(each) for each in prices):
        return None
    paid = [None if each is None else float(cast("float", each)) for each in prices]
    return ModelFacts(integer(window), integer(most), images, *paid)


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def with_facts(model: Model, facts: ModelFacts | None) -> Model:
    """The model, with what the user says of it; the very same one if they say nothing."""
    return model if facts is None else _Stated(model, facts)


def offered_with(offered: OfferedModel, facts: ModelFacts | None) -> OfferedModel:
    """A model of a list with what the user says of it."""
    if facts is None:
        return offered
    return replace(offered, window=facts.window or offered.window, prices=facts.prices or offered.prices)


class _Stated:
    """A model with what the user says of it."""

    def __init__(self, model: Model, facts: ModelFacts) -> None:
        self._model = model
        self._facts = facts

    def expected(self) -> ModelCard:
        return self._facts.applied(self._model.expected())

    async def card(self) -> ModelCard:
        return self._facts.applied(await self._model.card())

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(cast("AsyncGenerator[ModelEvent, None]", self._model.stream(request, max_output_tokens))) as events:
            async for event in events:
                yield event

    async def count(self, request: Request) -> int | None:
        return await self._model.count(request)

    async def search(self, wanted: WebSearch) -> WebSearchResult:
        if not isinstance(self._model, SearchesWeb):
            raise NotSearched("This model has no search of its own")
        return await self._model.search(wanted)

    async def aclose(self) -> None:
        await self._model.aclose()

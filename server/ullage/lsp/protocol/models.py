"""The wire types of models: those that can be chosen, and the choice. See PROTOCOL.md, "The workspace"."""

from __future__ import annotations

from typing import Literal

import attrs

from ullage.lsp.protocol.items import Id


@attrs.frozen
class SetModelParams:
    """Params of `setModel`."""

    session_id: Id
    model: str


@attrs.frozen
class SetEffortParams:
    """Params of `setEffort`; `default` leaves it to the model."""

    session_id: Id
    effort: Literal["default", "low", "medium", "high", "xhigh", "max"]


@attrs.frozen
class ModelsParams:
    """Params of `ullage/model/list`. With an address, the endpoint there is asked, without the key, as one of that provider (Anthropic by
    default). With the provider `editor` the editor's own models are listed, whatever is set."""

    address: str | None = None
    provider: Literal["anthropic", "openai", "editor"] | None = None


@attrs.frozen
class TryModelParams:
    """Params of `ullage/model/try`; with an address, the endpoint there is asked, as with `ullage/model/list`."""

    model: str
    address: str | None = None
    provider: Literal["anthropic", "openai"] | None = None


@attrs.frozen
class ModelPrices:
    """The prices of a model, in dollars per million tokens."""

    input: float
    output: float


@attrs.frozen
class OfferedModel:
    """A model that an endpoint offers; `window` is in tokens."""

    name: str
    display_name: str
    window: int | None = None
    prices: ModelPrices | None = None


@attrs.frozen
class ModelsResult:
    """Result of `ullage/model/list`."""

    models: list[OfferedModel]

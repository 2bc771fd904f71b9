"""The wire types of what changed in a session. See PROTOCOL.md, "Updates"."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

from ullage.lsp.protocol.changes import OpenChanges
from ullage.lsp.protocol.history import Pins
from ullage.lsp.protocol.items import Gauge, Item, ModelInfo, PlanEntry, Retry, SessionState
from ullage.lsp.protocol.running import RunningCommand
from ullage.lsp.protocol.sessions import ModeId


@attrs.frozen
class ItemUpdate:
    """An item that came, or replaces the one with the same id."""

    item: Item


@attrs.frozen
class AppendUpdate:
    """More text at the end of a field of an item."""

    item_id: str
    field: Literal["text", "output", "input"]
    text: str


@attrs.frozen
class RemoveUpdate:
    """An item that is gone from the timeline."""

    item_id: str


@attrs.frozen
class EndedTurn:
    """A turn that is over: of which prompt, and why."""

    prompt_id: str
    stop_reason: Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]


@attrs.frozen
class StateUpdate:
    """The state of the session now; `ended` is the turn that ended just before."""

    state: SessionState
    retry: Retry | None = None
    ended: EndedTurn | None = None


@attrs.frozen
class GaugeUpdate:
    """The state of the gauge now."""

    gauge: Gauge


@attrs.frozen
class PlanUpdate:
    """The agent's task list now."""

    entries: list[PlanEntry]


@attrs.frozen
class TitleUpdate:
    """The session's title now."""

    title: str


@attrs.frozen
class ModelUpdate:
    """The model that answers now."""

    model: ModelInfo


@attrs.frozen
class PinsUpdate:
    """The items and files that are pinned now."""

    pins: Pins


@attrs.frozen
class ChangesUpdate:
    """The changes of the agent that the user has neither kept nor undone."""

    changes: OpenChanges


@attrs.frozen
class ModeUpdate:
    """The mode that is in force now."""

    current_mode_id: ModeId


@attrs.frozen
class RunningUpdate:
    """The commands that run in the background now."""

    commands: list[RunningCommand]


Update: TypeAlias = (
    ItemUpdate
    | AppendUpdate
    | RemoveUpdate
    | StateUpdate
    | GaugeUpdate
    | PlanUpdate
    | TitleUpdate
    | ModelUpdate
    | PinsUpdate
    | ChangesUpdate
    | ModeUpdate
    | RunningUpdate
)
UPDATE_KINDS: dict[type[Any], str] = {
    ItemUpdate: "item",
    AppendUpdate: "append",
    RemoveUpdate: "remove",
    StateUpdate: "state",
    GaugeUpdate: "gauge",
    PlanUpdate: "plan",
    TitleUpdate: "title",
    ModelUpdate: "model",
    PinsUpdate: "pins",
    ChangesUpdate: "changes",
    ModeUpdate: "mode",
    RunningUpdate: "running",
}


@attrs.frozen
class UpdateParams:
    """Params of `update`. `seq` counts on from the snapshot."""

    session_id: str
    seq: int
    update: Update

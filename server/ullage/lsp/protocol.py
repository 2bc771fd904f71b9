"""The wire types of PROTOCOL.md, and which method carries which. `client-extension/src/protocol.ts` mirrors this file.

Required fields have no default; optional ones default to None and are then left out. Names become camelCase on the wire.
How they are written and read is in `converter.py`, how they are made from a session's values in `convert.py`.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeAlias, TypeVar

import attrs

from ullage.lsp.items import Gauge, Item, ModelInfo, PlanEntry, Retry, SessionState

PROTOCOL_VERSION = 1

NEW = "ullage/session/new"
LIST = "ullage/session/list"
OPEN = "ullage/session/open"
SNAPSHOT = "ullage/session/snapshot"
ITEMS = "ullage/session/items"
RENAME = "ullage/session/rename"
DELETE = "ullage/session/delete"
PROMPT = "ullage/session/prompt"
UNQUEUE = "ullage/session/unqueue"
CANCEL = "ullage/session/cancel"
CONTINUE = "ullage/session/continue"
COMPACT = "ullage/session/compact"
UNDO_COMPACTION = "ullage/session/undoCompaction"
REDO_COMPACTION = "ullage/session/redoCompaction"
SET_MODEL = "ullage/session/setModel"
RESPOND = "ullage/permission/respond"
UPDATE = "ullage/session/update"
LIST_CHANGED = "ullage/session/listChanged"
DIAGNOSTICS = "ullage/editor/diagnostics"

REQUEST_FAILED = -32050
"""The code of every error that a session answers with; `data.reason` says which."""


# Params and results


@attrs.frozen
class Nothing:
    """`{}`"""


@attrs.frozen
class SessionParams:
    session_id: str


@attrs.frozen
class OpenParams:
    session_id: str | None = None


@attrs.frozen
class ItemsParams:
    session_id: str
    before: str
    limit: int


@attrs.frozen
class ItemsResult:
    items: list[Item]
    earlier: int


@attrs.frozen
class RenameParams:
    session_id: str
    title: str


@attrs.frozen
class FileAttachment:
    uri: str


@attrs.frozen
class ProblemsAttachment:
    pass


AttachmentRef: TypeAlias = FileAttachment | ProblemsAttachment
ATTACHMENT_KINDS: dict[type[Any], str] = {FileAttachment: "file", ProblemsAttachment: "problems"}


@attrs.frozen
class PromptParams:
    session_id: str
    text: str
    attachments: list[AttachmentRef] | None = None
    delivery: Literal["queue", "steer"] | None = None


@attrs.frozen
class PromptResult:
    prompt_id: str


@attrs.frozen
class UnqueueParams:
    session_id: str
    prompt_id: str


@attrs.frozen
class CompactParams:
    session_id: str
    focus: str | None = None


@attrs.frozen
class CompactionParams:
    session_id: str
    compaction_id: str | None = None


@attrs.frozen
class CompactionResult:
    compaction_id: str


@attrs.frozen
class SetModelParams:
    session_id: str
    model: str


@attrs.frozen
class RespondParams:
    session_id: str
    tool_call_id: str
    option_id: str
    reason: str | None = None


@attrs.frozen
class SessionSummary:
    session_id: str
    title: str
    updated_at: float
    state: SessionState


@attrs.frozen
class ListResult:
    sessions: list[SessionSummary]


@attrs.frozen
class Snapshot:
    session_id: str
    seq: int
    title: str
    state: SessionState
    items: list[Item]
    earlier: int
    plan: list[PlanEntry]
    gauge: Gauge
    model: ModelInfo
    retry: Retry | None = None


@attrs.frozen
class DiagnosticsParams:
    uri: str | None = None


@attrs.frozen
class Problem:
    uri: str
    line: int
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    message: str


@attrs.frozen
class DiagnosticsResult:
    problems: list[Problem]


# Updates


@attrs.frozen
class ItemUpdate:
    item: Item


@attrs.frozen
class AppendUpdate:
    item_id: str
    field: Literal["text", "output", "input"]
    text: str


@attrs.frozen
class RemoveUpdate:
    item_id: str


@attrs.frozen
class StateUpdate:
    state: SessionState
    retry: Retry | None = None


@attrs.frozen
class GaugeUpdate:
    gauge: Gauge


@attrs.frozen
class PlanUpdate:
    entries: list[PlanEntry]


@attrs.frozen
class TitleUpdate:
    title: str


@attrs.frozen
class ModelUpdate:
    model: ModelInfo


Update: TypeAlias = ItemUpdate | AppendUpdate | RemoveUpdate | StateUpdate | GaugeUpdate | PlanUpdate | TitleUpdate | ModelUpdate
UPDATE_KINDS: dict[type[Any], str] = {
    ItemUpdate: "item",
    AppendUpdate: "append",
    RemoveUpdate: "remove",
    StateUpdate: "state",
    GaugeUpdate: "gauge",
    PlanUpdate: "plan",
    TitleUpdate: "title",
    ModelUpdate: "model",
}


@attrs.frozen
class UpdateParams:
    session_id: str
    seq: int
    update: Update


# Messages

P = TypeVar("P")
R = TypeVar("R")


@attrs.frozen
class Request(Generic[P]):
    id: int | str
    method: str
    params: P
    jsonrpc: str


@attrs.frozen
class Response(Generic[R]):
    id: int | str
    result: R
    jsonrpc: str


@attrs.frozen
class Notification(Generic[P]):
    method: str
    params: P
    jsonrpc: str


REQUESTS_OF_CLIENT: dict[str, tuple[type[Any], type[Any]]] = {
    NEW: (Nothing, Snapshot),
    LIST: (Nothing, ListResult),
    OPEN: (OpenParams, Snapshot),
    SNAPSHOT: (SessionParams, Snapshot),
    ITEMS: (ItemsParams, ItemsResult),
    RENAME: (RenameParams, Nothing),
    DELETE: (SessionParams, Nothing),
    PROMPT: (PromptParams, PromptResult),
    UNQUEUE: (UnqueueParams, Nothing),
    CANCEL: (SessionParams, Nothing),
    CONTINUE: (SessionParams, Nothing),
    COMPACT: (CompactParams, CompactionResult),
    UNDO_COMPACTION: (CompactionParams, CompactionResult),
    REDO_COMPACTION: (CompactionParams, CompactionResult),
    SET_MODEL: (SetModelParams, Nothing),
    RESPOND: (RespondParams, Nothing),
}
"""Method to params and result."""

REQUESTS_OF_SERVER: dict[str, tuple[type[Any], type[Any]]] = {DIAGNOSTICS: (DiagnosticsParams, DiagnosticsResult)}

NOTIFICATIONS_OF_SERVER: dict[str, type[Any]] = {UPDATE: UpdateParams, LIST_CHANGED: Nothing}

REQUESTS = REQUESTS_OF_CLIENT | REQUESTS_OF_SERVER

MESSAGES: dict[str, Any] = {
    **{method: Request[params] for method, (params, _) in REQUESTS.items()},
    **{method: Notification[params] for method, params in NOTIFICATIONS_OF_SERVER.items()},
}
"""Method to the whole message that carries it."""

RESULTS: dict[str, Any] = {method: Response[result] for method, (_, result) in REQUESTS.items()}
"""Method to the whole answer."""

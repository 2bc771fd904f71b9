"""Which method of PROTOCOL.md carries which types, and the whole messages around them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import attrs

from ullage.lsp import history
from ullage.lsp import protocol as wire

P = TypeVar("P")
R = TypeVar("R")


@attrs.frozen
class Request(Generic[P]):
    """A whole request."""

    id: int | str
    method: str
    params: P
    jsonrpc: str


@attrs.frozen
class Response(Generic[R]):
    """A whole answer."""

    id: int | str
    result: R
    jsonrpc: str


@attrs.frozen
class Notification(Generic[P]):
    """A whole notification."""

    method: str
    params: P
    jsonrpc: str


REQUESTS_OF_CLIENT: dict[str, tuple[type[Any], type[Any]]] = {
    wire.NEW: (wire.Nothing, wire.Snapshot),
    wire.LIST: (wire.Nothing, wire.ListResult),
    wire.OPEN: (wire.OpenParams, wire.Snapshot),
    wire.SNAPSHOT: (wire.SessionParams, wire.Snapshot),
    wire.IMPORT: (wire.ImportParams, wire.ImportResult),
    wire.IMPORTABLE: (wire.Nothing, wire.ImportableResult),
    wire.ITEMS: (wire.ItemsParams, wire.ItemsResult),
    wire.FORK: (wire.ForkParams, wire.ForkResult),
    wire.RENAME: (wire.RenameParams, wire.Nothing),
    wire.DELETE: (wire.SessionParams, wire.Nothing),
    wire.CLOSE: (wire.SessionParams, wire.Nothing),
    wire.PROMPT: (wire.PromptParams, wire.PromptResult),
    wire.UNQUEUE: (wire.UnqueueParams, wire.UnqueueResult),
    wire.CANCEL: (wire.SessionParams, wire.Nothing),
    wire.CONTINUE: (wire.SessionParams, wire.Nothing),
    wire.COMPACT: (wire.CompactParams, wire.CompactionResult),
    wire.POSTPONE_COMPACTION: (wire.PostponeParams, wire.Nothing),
    wire.UNDO_COMPACTION: (wire.CompactionParams, wire.CompactionResult),
    wire.REDO_COMPACTION: (wire.CompactionParams, wire.CompactionResult),
    wire.PREVIEW_COMPACTION: (history.PreviewParams, history.Preview),
    wire.PIN: (history.PinParams, wire.Nothing),
    wire.EXCLUDE: (history.ExcludeParams, wire.CompactionResult),
    wire.EPOCHS: (history.EpochsParams, history.EpochsResult),
    wire.EPOCH_FATES: (history.EpochFatesParams, history.EpochFatesResult),
    wire.SEARCH: (history.SearchParams, history.SearchResult),
    wire.SET_MODEL: (wire.SetModelParams, wire.Nothing),
    wire.SET_EFFORT: (wire.SetEffortParams, wire.Nothing),
    wire.RESPOND: (wire.RespondParams, wire.Nothing),
    wire.ALLOWED: (wire.Nothing, wire.AllowedResult),
    wire.FORGET: (wire.ForgetParams, wire.Nothing),
    wire.COMMANDS: (wire.Nothing, wire.CommandsResult),
    wire.MODELS: (wire.ModelsParams, wire.ModelsResult),
}
"""Method to params and result."""

REQUESTS_OF_SERVER: dict[str, tuple[type[Any], type[Any]]] = {wire.DIAGNOSTICS: (wire.DiagnosticsParams, wire.DiagnosticsResult)}

NOTIFICATIONS_OF_SERVER: dict[str, type[Any]] = {wire.UPDATE: wire.UpdateParams, wire.LIST_CHANGED: wire.Nothing}

REQUESTS = REQUESTS_OF_CLIENT | REQUESTS_OF_SERVER

MESSAGES: dict[str, Any] = {
    **{method: Request[params] for method, (params, _) in REQUESTS.items()},
    **{method: Notification[params] for method, params in NOTIFICATIONS_OF_SERVER.items()},
}
"""Method to the whole message that carries it."""

RESULTS: dict[str, Any] = {method: Response[result] for method, (_, result) in REQUESTS.items()}
"""Method to the whole answer."""

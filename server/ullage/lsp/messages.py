"""Which method of PROTOCOL.md carries which types, and how these are read and written: camelCase keys, None left out, nothing guessed.

LSP's types are read and written as `lsprotocol` does it. It takes a number for a text where one is wanted; our own types do not, so that a
wrong message is answered with what is wrong in it. What is taken is what `json_schema.py` writes down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.cols import list_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.strategies import configure_tagged_union
from pygls.protocol import default_converter

from ullage.lsp import protocol as wire
from ullage.lsp.protocol import (
    changes,
    coming_over,
    context,
    editor,
    history,
    instructions,
    items,
    mcp,
    models,
    permissions,
    prompts,
    running,
    sessions,
    updates,
)
from ullage.lsp.protocol.items import AtMost, NotOfItsType

P = TypeVar("P")

R = TypeVar("R")

REQUESTS_OF_CLIENT: dict[str, tuple[type[Any], type[Any]]] = {
    wire.NEW: (sessions.NewParams, sessions.Snapshot),
    wire.LIST: (wire.Nothing, sessions.ListResult),
    wire.OPEN: (sessions.OpenParams, sessions.Snapshot),
    wire.SNAPSHOT: (wire.SessionParams, sessions.Snapshot),
    wire.IMPORT: (sessions.ImportParams, sessions.ImportResult),
    wire.IMPORTABLE: (wire.Nothing, sessions.ImportableResult),
    wire.OTHERS: (coming_over.OthersParams, coming_over.OthersResult),
    wire.OTHERS_LOOK: (coming_over.LookParams, coming_over.LookResult),
    wire.OTHERS_GO_ON: (coming_over.GoOnParams, sessions.Snapshot),
    wire.ITEMS: (sessions.ItemsParams, sessions.ItemsResult),
    wire.FORK: (sessions.ForkParams, sessions.ForkResult),
    wire.RENAME: (sessions.RenameParams, wire.Nothing),
    wire.DELETE: (wire.SessionParams, wire.Nothing),
    wire.CLOSE: (wire.SessionParams, wire.Nothing),
    wire.LOOKED: (wire.SessionParams, wire.Nothing),
    wire.LEAVE_RUNNING: (running.LeaveRunningParams, wire.Nothing),
    wire.STOP_COMMAND: (running.CommandParams, wire.Nothing),
    wire.COMMAND_OUTPUT: (running.CommandParams, running.CommandOutputResult),
    wire.OPEN_PORT: (running.OpenPortParams, running.OpenPortResult),
    wire.WORKTREE: (wire.SessionParams, running.WorktreeResult),
    wire.BRING_BACK: (running.BringBackParams, changes.DecidedResult),
    wire.TAKE_BACK: (wire.SessionParams, changes.DecidedResult),
    wire.REMOVE_WORKTREE: (wire.SessionParams, running.RemoveWorktreeResult),
    wire.PROMPT: (prompts.PromptParams, prompts.PromptResult),
    wire.UNQUEUE: (prompts.UnqueueParams, prompts.UnqueueResult),
    wire.CANCEL: (wire.SessionParams, wire.Nothing),
    wire.CONTINUE: (wire.SessionParams, wire.Nothing),
    wire.COMPACT: (history.CompactParams, history.CompactionResult),
    wire.POSTPONE_COMPACTION: (history.PostponeParams, wire.Nothing),
    wire.UNDO_COMPACTION: (history.CompactionParams, history.CompactionResult),
    wire.REDO_COMPACTION: (history.CompactionParams, history.CompactionResult),
    wire.PREVIEW_COMPACTION: (history.PreviewParams, history.Preview),
    wire.PIN: (history.PinParams, wire.Nothing),
    wire.EXCLUDE: (history.ExcludeParams, history.CompactionResult),
    wire.CLEAR_RESULT: (history.ClearResultParams, history.CompactionResult),
    wire.EPOCHS: (history.EpochsParams, history.EpochsResult),
    wire.EPOCH_FATES: (history.EpochFatesParams, history.EpochFatesResult),
    wire.CONTEXT: (context.ContextParams, context.ContextResult),
    wire.CHANGES: (changes.ChangesParams, changes.ChangesResult),
    wire.VERSION_TEXT: (changes.VersionTextParams, changes.VersionTextResult),
    wire.KEEP_CHANGES: (changes.DecideParams, changes.DecidedResult),
    wire.UNDO_CHANGES: (changes.DecideParams, changes.DecidedResult),
    wire.CHECKPOINTS: (changes.CheckpointsParams, changes.CheckpointsResult),
    wire.PREVIEW_RESTORE: (changes.PreviewRestoreParams, changes.PreviewRestoreResult),
    wire.RESTORE: (changes.RestoreParams, sessions.RestoreResult),
    wire.SEARCH: (history.SearchParams, history.SearchResult),
    wire.SET_MODEL: (models.SetModelParams, wire.Nothing),
    wire.COMMIT_MESSAGE: (changes.CommitMessageParams, changes.CommitMessageResult),
    wire.SET_EFFORT: (models.SetEffortParams, wire.Nothing),
    wire.EXPORT: (sessions.ExportParams, sessions.ExportResult),
    wire.SET_MODE: (sessions.SetModeParams, wire.Nothing),
    wire.INSTRUCTIONS: (wire.SessionParams, instructions.InstructionsResult),
    wire.DECIDE_HOOK: (instructions.DecideHookParams, wire.Nothing),
    wire.RESPOND: (permissions.RespondParams, wire.Nothing),
    wire.ANSWER: (prompts.AnswerParams, wire.Nothing),
    wire.ALLOWED: (permissions.ListParams, permissions.AllowedResult),
    wire.FORGET: (permissions.ForgetParams, wire.Nothing),
    wire.ALLOW: (permissions.AllowParams, wire.Nothing),
    wire.CHECK: (permissions.CheckParams, permissions.CheckResult),
    wire.MCP_LIST: (wire.Nothing, mcp.McpListResult),
    wire.MCP_TURN: (mcp.McpTurnParams, wire.Nothing),
    wire.MCP_RESTART: (mcp.McpServerParams, wire.Nothing),
    wire.MCP_LOG: (mcp.McpServerParams, mcp.McpLogResult),
    wire.MCP_SIGN_IN: (mcp.McpServerParams, wire.Nothing),
    wire.MCP_SIGN_OUT: (mcp.McpServerParams, wire.Nothing),
    wire.COMMANDS: (prompts.CommandsParams, prompts.CommandsResult),
    wire.MODELS: (models.ModelsParams, models.ModelsResult),
    wire.TRY_MODEL: (models.TryModelParams, wire.Nothing),
}
"""The types of params and result by method."""

REQUESTS_OF_SERVER: dict[str, tuple[type[Any], type[Any]]] = {
    wire.DIAGNOSTICS: (editor.DiagnosticsParams, editor.DiagnosticsResult),
    wire.EDITOR_MODELS: (wire.Nothing, editor.EditorModelsResult),
    wire.CHAT: (editor.ChatParams, editor.ChatResult),
    wire.COUNT_TOKENS: (editor.CountTokensParams, editor.CountTokensResult),
    wire.READ_SECRET: (mcp.SecretParams, mcp.SecretResult),
    wire.KEEP_SECRET: (mcp.KeepSecretParams, wire.Nothing),
}

NOTIFICATIONS_OF_CLIENT: dict[str, type[Any]] = {
    wire.DIRTY: editor.DirtyParams,
    wire.EDITOR_MODELS_CHANGED: wire.Nothing,
    wire.CHAT_PARTS: editor.ChatPartsParams,
}

NOTIFICATIONS_OF_SERVER: dict[str, type[Any]] = {
    wire.UPDATE: updates.UpdateParams,
    wire.LIST_CHANGED: wire.Nothing,
    wire.MCP_CHANGED: wire.Nothing,
    wire.FIGURES: sessions.FiguresParams,
}

REQUESTS = REQUESTS_OF_CLIENT | REQUESTS_OF_SERVER

_OURS = wire.__name__
"""The package of our own types."""

TAGGED_UNIONS: tuple[tuple[Any, Mapping[type[Any], str]], ...] = (
    (prompts.AttachmentRef, prompts.ATTACHMENT_KINDS),
    (items.Item, items.ITEM_KINDS),
    (updates.Update, updates.UPDATE_KINDS),
    (editor.SentPart, editor.SENT_KINDS),
    (editor.ReplyPart, editor.REPLY_KINDS),
)
"""The unions whose types are told apart by their key `kind`, each with the value of `kind` for each type."""


@attrs.frozen
class ClientRequest(Generic[P]):
    """A whole request of JSON-RPC, with params of the type `P`."""

    id: int | str
    method: str
    params: P
    jsonrpc: str


@attrs.frozen
class Response(Generic[R]):
    """A whole answer of JSON-RPC, with a result of the type `R`."""

    id: int | str
    result: R
    jsonrpc: str


@attrs.frozen
class Notification(Generic[P]):
    """A whole notification of JSON-RPC, with params of the type `P`."""

    method: str
    params: P
    jsonrpc: str


MESSAGES: dict[str, Any] = {
    **{method: ClientRequest[params] for method, (params, _) in REQUESTS.items()},
    **{method: Notification[params] for method, params in (NOTIFICATIONS_OF_CLIENT | NOTIFICATIONS_OF_SERVER).items()},
}
"""The type of the whole message by method."""


RESULTS: dict[str, Any] = {method: Response[result] for method, (_, result) in REQUESTS.items()}
"""The type of the whole answer by method."""


@cache
def make_converter() -> Converter:
    """The converter for LSP's types and ours that pygls asks for.

    All clients of a process share one: to make it takes a tenth of a second, it keeps what it learned of each type, and nobody adds to it.
    """
    ours = _make_converter_for_ours()
    both = default_converter()
    both.register_structure_hook_func(_is_ours, ours.structure)
    both.register_unstructure_hook_func(_is_ours, ours.unstructure)
    return both


def camel_case(name: str) -> str:
    """The key of a field on the wire, for its name in Python."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _is_ours(kind: Any) -> bool:
    module = getattr(get_origin(kind) or kind, "__module__", "")
    return module == _OURS or module.startswith(f"{_OURS}.")


def _make_converter_for_ours() -> Converter:
    converter = Converter()
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(int, _whole_number)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(int | str, _message_id)
    converter.register_structure_hook_func(lambda kind: get_origin(kind) is Annotated, _short_text)
    converter.register_structure_hook_func(lambda kind: get_origin(kind) is Literal, _one_of)

    def structure_hook(kind: Any) -> Any:
        read = make_dict_structure_fn(kind, converter, **_keys(kind))

        def structure(value: object, as_kind: Any) -> Any:
            if not isinstance(value, dict):
                raise NotOfItsType("expected an object")
            return read(cast("dict[str, Any]", value), as_kind)

        return structure

    def list_hook(kind: Any) -> Any:
        read = list_structure_factory(kind, converter)

        def structure(value: object, as_kind: Any) -> Any:
            if not isinstance(value, list):
                raise NotOfItsType("expected an array")
            return read(cast("list[Any]", value), as_kind)

        return structure

    def unstructure_hook(kind: Any) -> Any:
        return make_dict_unstructure_fn(kind, converter, _cattrs_omit_if_default=True, **_keys(kind))

    converter.register_structure_hook_factory(attrs.has, structure_hook)
    converter.register_unstructure_hook_factory(attrs.has, unstructure_hook)
    converter.register_structure_hook_factory(lambda kind: get_origin(kind) is list, list_hook)
    for union, kinds in TAGGED_UNIONS:
        configure_tagged_union(union, converter, tag_name="kind", tag_generator=kinds.__getitem__)
        converter.register_structure_hook(union, _of_known_kind(converter.get_structure_hook(union), kinds.values()))
    return converter


def _keys(kind: Any) -> Any:
    return {field.name: override(rename=camel_case(field.name)) for field in attrs.fields(get_origin(kind) or kind)}


def _of_known_kind(read: Callable[[Any, Any], Any], kinds: Iterable[str]) -> Callable[[Any, Any], Any]:
    known = tuple(kinds)

    def structure(value: object, union: Any) -> Any:
        kind = cast("dict[str, Any]", value).get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in known:
            raise NotOfItsType(f"expected an object whose kind is {_named(known)}")
        return read(value, union)

    return structure


def _text(value: object, _: object) -> str:
    if not isinstance(value, str):
        raise NotOfItsType("expected a text")
    return value


def _short_text(value: object, kind: Any) -> str:
    text = _text(value, kind)
    for limit in get_args(kind)[1:]:
        if isinstance(limit, AtMost) and len(text) > limit.characters:
            raise NotOfItsType(f"expected at most {limit.characters} characters")
    return text


def _boolean(value: object, _: object) -> bool:
    if not isinstance(value, bool):
        raise NotOfItsType("expected true or false")
    return value


def _whole_number(value: object, _: object) -> int:
    if type(value) is not int or value < 0:  # a bool is an int, too
        raise NotOfItsType("expected a whole number, not negative")
    return value


def _number(value: object, _: object) -> float:
    if type(value) not in (int, float) or not 0 <= cast("float", value) < math.inf:
        raise NotOfItsType("expected a number, not negative")
    try:
        return float(cast("float", value))
    except OverflowError:
        raise NotOfItsType("expected a number of a size that there is") from None


def _one_of(value: object, kind: Any) -> str:
    wanted = get_args(kind)
    if not isinstance(value, str) or value not in wanted:
        raise NotOfItsType(f"expected {_named(wanted)}")
    return value


def _named(values: Sequence[str]) -> str:
    named = [f'"{value}"' for value in values]
    return " or ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def _message_id(value: object, _: object) -> int | str:
    if type(value) not in (int, str):
        raise NotOfItsType("expected a whole number or a text")
    return cast("int | str", value)

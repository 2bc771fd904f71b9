"""Which message of the client does what. Handlers are short; what they need is in the server (`ls`)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types

from ullage.lsp.configuration import SECTION
from ullage.lsp.documents import path_of
from ullage.lsp.initialization import read_options
from ullage.lsp.messages import REQUESTS_OF_CLIENT
from ullage.lsp.server import UllageServer

logger = logging.getLogger(__name__)

TOO_LONG = "{} is too long to be followed as you edit it. Ullage goes by what is on disk: save it before you ask about it."


def register_features(server: UllageServer) -> None:
    """Lets the server answer all of PROTOCOL.md."""
    for method, handler in _FEATURES.items():
        server.feature(method)(handler)
    for method in REQUESTS_OF_CLIENT:
        server.feature(method)(_answer_to(method))


def _answer_to(method: str) -> Callable[[UllageServer, Any], Awaitable[object]]:
    async def answer(ls: UllageServer, params: Any) -> object:
        return await ls.answer(method, params)

    return answer


def _initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    ls.options, complaints = read_options(params.initialization_options)
    for complaint in complaints:
        logger.warning("%s", complaint)


def _initialized(ls: UllageServer, _: types.InitializedParams) -> None:
    ls.open_sessions()


async def _shutdown(ls: UllageServer, _: None) -> None:
    await ls.close()


def _did_open(ls: UllageServer, params: types.DidOpenTextDocumentParams) -> None:
    path = ls.documents.opened(params.text_document.uri)
    if path is not None and ls.documents.is_too_long(params.text_document.uri):
        ls.warn(TOO_LONG.format(path.name))
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "opened")


def _did_change(ls: UllageServer, params: types.DidChangeTextDocumentParams) -> None:
    path = ls.documents.path(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "changed", _first_line(params))


def _did_save(ls: UllageServer, params: types.DidSaveTextDocumentParams) -> None:
    path = ls.documents.path(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "saved")


def _did_close(ls: UllageServer, params: types.DidCloseTextDocumentParams) -> None:
    path = ls.documents.closed(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "closed")


def _first_line(params: types.DidChangeTextDocumentParams) -> int | None:
    """Where the document was changed (from 1); None where it was replaced whole."""
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            return change.range.start.line + 1
    return None


def _did_change_configuration(ls: UllageServer, params: types.DidChangeConfigurationParams) -> None:
    settings: object = params.settings
    if isinstance(settings, dict):
        ls.pushed_settings = cast("dict[str, object]", settings).get(SECTION)
    ls.own(ls.configure())


def _did_change_workspace_folders(ls: UllageServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    if ls.bridge is not None:  # else they are read when the sessions are opened
        ls.bridge.sessions.folders_changed(_paths_of(params.event.removed), _paths_of(params.event.added))


def _paths_of(folders: Sequence[types.WorkspaceFolder]) -> list[Path]:
    return [path for path in (path_of(folder.uri) for folder in folders) if path is not None]


_FEATURES: dict[str, Callable[[UllageServer, Any], object]] = {
    types.INITIALIZE: _initialize,
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shutdown,
    types.TEXT_DOCUMENT_DID_OPEN: _did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: _did_change,
    types.TEXT_DOCUMENT_DID_SAVE: _did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: _did_close,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _did_change_configuration,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _did_change_workspace_folders,
}

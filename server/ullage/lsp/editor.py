"""The editor at the other end of the wire: `ullage.workspace.files.Editor` over LSP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from lsprotocol.types import Position, Range, TextEdit
from pygls.exceptions import JsonRpcException
from pygls.workspace import PositionCodec, TextDocument

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.documents import EditorDocument, OpenDocuments, lines_of, path_of
from ullage.lsp.protocol import DIAGNOSTICS
from ullage.lsp.protocol.editor import DiagnosticsParams, DiagnosticsResult
from ullage.workspace.files import Diagnostic, EditorChanged
from ullage.workspace.regular_files import LedElsewhere

logger = logging.getLogger(__name__)

_DIAGNOSTICS_SECONDS = 10.0
"""A client that takes longer to list its problems counts as one that cannot."""


class ConnectedEditor:
    """The editor at the other end of the wire, as `Editor` describes one."""

    def __init__(self, protocol: AgentProtocol, documents: OpenDocuments) -> None:
        self._protocol = protocol
        self._documents = documents

    async def look(self, path: Path) -> None:
        """Does nothing: the client tells of all that it does in its documents, without being asked."""

    def open_text(self, path: Path) -> str | None:
        """The text of an open document as the user sees it now, saved or not; None if it is not open, or has yet to load anew what is on
        disk."""
        document = self._documents.find(path)
        return None if document is None else document.source

    def is_on_disk(self, path: Path, text: str) -> None:
        """Takes note that the disk has the same text, if the document still has it."""
        document = self._documents.find(path)
        if isinstance(document, EditorDocument) and document.source == text:
            document.is_saved = True

    def new_text(self, uri: str) -> str | None:
        """The text of an open document that was never saved, by its URI; None if there is no such document, or it is too long."""
        return self._documents.new_text(uri)

    def open_paths(self) -> Sequence[Path]:
        """The files of all open documents."""
        return self._documents.paths()

    async def apply_text(self, path: Path, text: str) -> bool:
        """Replaces the text of an open document so that the user can undo it; False if the editor refused.

        Raises `EditorChanged` if the document changed while the edit was on its way, `LedElsewhere` where its name leads elsewhere
        by now.
        """
        document = self._documents.find(path)
        workspace = self._protocol.client_capabilities.workspace
        if document is None or workspace is None or not workspace.apply_edit:
            return False
        if path_of(document.uri) != path:  # a link was put on the way since it was opened, and the editor would follow it
            raise LedElsewhere(path)
        edit = edit_between(document.source, text, document.position_codec)
        if edit is None:
            return True
        version = document.version
        params = types.ApplyWorkspaceEditParams(_workspace_edit(document, edit, workspace.workspace_edit), label="Ullage")
        try:
            result: types.ApplyWorkspaceEditResult = await self._protocol.ask(types.WORKSPACE_APPLY_EDIT, params)
        except JsonRpcException as error:
            logger.warning("the editor could not apply an edit: %s", error)
            return False
        if result.applied:
            return True
        if document.version != version or self._documents.find(path) is not document:
            raise EditorChanged
        return False

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        """Problems of one file or of all; None if the editor cannot tell."""
        params = DiagnosticsParams(None if path is None else self._uri(path))
        try:
            async with asyncio.timeout(_DIAGNOSTICS_SECONDS):
                result: DiagnosticsResult = await self._protocol.ask(DIAGNOSTICS, params)
        except (JsonRpcException, TimeoutError) as error:
            logger.info("the editor does not tell its problems: %s", error or "no answer")
            return None
        return [
            Diagnostic(found, problem.line, problem.severity, problem.source, problem.message)
            for problem in result.problems
            if (found := path_of(problem.uri)) is not None
        ]

    def _uri(self, path: Path) -> str:
        document = self._documents.find(path)
        return path.as_uri() if document is None else document.uri


def _workspace_edit(
    document: TextDocument, edit: types.TextEdit, supported: types.WorkspaceEditClientCapabilities | None
) -> types.WorkspaceEdit:
    """An edit of one document as the protocol writes it. It names the version that it is made for, if the client supports that, so that the
    editor refuses it if the user was faster."""
    if supported is None or not supported.document_changes:
        return types.WorkspaceEdit(changes={document.uri: [edit]})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [edit])])


def edit_between(old: str, new: str, codec: PositionCodec) -> TextEdit | None:
    """One edit of the lines that differ, so that the rest of the document keeps its marks; None if nothing differs."""
    if old == new:
        return None
    before, after = lines_of(old), lines_of(new)
    shorter = min(len(before), len(after))
    first = 0
    while first < shorter and before[first] == after[first]:
        first += 1
    if first == len(before) and first > 0 and not _is_ended(before[-1]):
        first -= 1  # there is no line after an unended one to insert at
    same_at_end = 0
    while same_at_end < shorter - first and before[-1 - same_at_end] == after[-1 - same_at_end]:
        same_at_end += 1
    end = _end_of(before, codec) if same_at_end == 0 else Position(len(before) - same_at_end, 0)
    return TextEdit(Range(Position(first, 0), end), "".join(after[first : len(after) - same_at_end]))


def _end_of(lines: tuple[str, ...], codec: PositionCodec) -> Position:
    if not lines or _is_ended(lines[-1]):
        return Position(len(lines), 0)
    return Position(len(lines) - 1, codec.client_num_units(lines[-1]))


def _is_ended(line: str) -> bool:
    return line.endswith(("\n", "\r"))

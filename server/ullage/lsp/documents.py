"""The documents that are open in the editor: found by the files they are of, and kept as the editor has them.

pygls' own documents are cut into lines by `str.splitlines`, which also cuts at form feeds and other signs that no editor takes for a line
end; all later edits would go to the wrong place. And each change cuts and joins the whole text. Here a change costs what it changes
(`document_text.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from ullage.lsp.document_text import DocumentText, Units, lines_of
from ullage.workspace.editor import NEW_DOCUMENT

LONGEST = 20_000_000
"""Characters of a document that is kept as the editor has it. VS Code itself takes no part in editing files of that size."""


def path_of(uri: str) -> Path | None:
    """The file that a URI names, symbolic links resolved; None for what is no file (an untitled document, a diff)."""
    name = to_fs_path(uri)
    if name is None:
        return None
    try:
        return Path(name).resolve()
    except (OSError, RuntimeError, ValueError):  # loops of links, NUL in the name
        return None


def is_new(uri: str) -> bool:
    """Whether the URI is that of a document that was never saved."""
    return uri.startswith(NEW_DOCUMENT)


class OpenDocuments:
    """pygls holds the documents by their URI; tools know them by their path."""

    def __init__(self, workspace: Callable[[], Workspace]) -> None:
        self._workspace = workspace
        self._uris: dict[Path, str] = {}
        self._paths: dict[str, Path] = {}

    def opened(self, uri: str) -> Path | None:
        """Takes note of a document; gives its path."""
        path = path_of(uri)
        if path is not None:
            self._uris[path] = uri
            self._paths[uri] = path
        return path

    def closed(self, uri: str) -> Path | None:
        """Forgets a document; gives its path."""
        path = self._paths.pop(uri, None)
        if path is not None and self._uris.get(path) == uri:
            del self._uris[path]
        return path

    def path(self, uri: str) -> Path | None:
        """The path of a document that is open."""
        return self._paths.get(uri)

    def paths(self) -> Sequence[Path]:
        """The files of all open documents."""
        return tuple(self._uris)

    def find(self, path: Path) -> TextDocument | None:
        """The open document of a file; None where it is not open, or too long to be kept here: then the disk has its text."""
        uri = self._uris.get(path)
        document = None if uri is None else self._workspace().get_text_document(uri)
        return document if is_mirrored(document) else None

    def new_text(self, uri: str) -> str | None:
        """The text of a document that was never saved, as the client synchronises it; None where it is not open, or too long."""
        document = self._workspace().text_documents.get(uri)
        return document.source if document is not None and is_new(uri) and is_mirrored(document) else None

    def is_too_long(self, uri: str) -> bool:
        """Whether it is open and its text is not kept."""
        return uri in self._paths and not is_mirrored(self._workspace().get_text_document(uri))


def is_mirrored(document: TextDocument | None) -> bool:
    """Whether its text is kept here."""
    return not isinstance(document, EditorDocument) or document.is_mirrored


class EditorWorkspace(Workspace):
    """pygls' workspace, of such documents."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return EditorDocument(doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=self._position_codec)


class EditorDocument(TextDocument):
    """pygls' document, whose text changes place by place, cut into lines as the protocol says."""

    def __init__(self, uri: str, source: str | None = None, *more: Any, **options: Any) -> None:
        super().__init__(uri, None, *more, **options)
        self.text: DocumentText | None = None
        """None where the document is not open."""
        self.is_mirrored = True
        """Whether its text is kept here; not where it is too long (`LONGEST`)."""
        if source is not None:
            self.take(source)

    def take(self, text: str) -> None:
        """Another text in the place of all."""
        self.is_mirrored = len(text) <= LONGEST
        self.text = DocumentText(text if self.is_mirrored else "", self.units)

    @property
    def units(self) -> Units:
        """What the client counts characters in."""
        match self.position_codec.encoding:
            case types.PositionEncodingKind.Utf8:
                return "utf-8"
            case types.PositionEncodingKind.Utf32:
                return "utf-32"
            case _:
                return "utf-16"

    @property
    def source(self) -> str:
        """The text."""
        return super().source if self.text is None else self.text.whole

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return lines_of(self.source) if self.text is None else tuple(self.text.lines)

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Takes over one change of the user; costs what it changes."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            if self.text is None:
                self.text = DocumentText(self.source, self.units)
            if self.is_mirrored:
                start, end = change.range.start, change.range.end
                self.text.change((start.line, start.character), (end.line, end.character), change.text)
        else:
            self.take(change.text)

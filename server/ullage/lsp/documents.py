"""The documents that are open in the editor, found by the files they are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from ullage.lsp.pygls_fixes import EditorDocument
from ullage.workspace.editor import NEW_DOCUMENT


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

"""The seam to the editor that the user sees: unsaved text, edits that can be undone there, and its problems list.

`lsp/` implements it over the wire; `NoEditor` stands in where none is connected (command line, replay).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

NEW_DOCUMENT = "untitled:"
"""How the URI of a document begins that was never saved."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem as the editor's language servers report it. `line` counts from 1."""

    path: Path
    line: int
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    message: str


class Editor(Protocol):
    """What Ullage asks of an editor. Paths are absolute, symbolic links resolved."""

    def open_text(self, path: Path) -> str | None:
        """The text of an open document as the user sees it now, saved or not; None where it is not open."""
        ...

    def new_text(self, uri: str) -> str | None:
        """The text of an open document that was never saved, by its URI; None where there is no such document, or it is too long."""
        ...

    def open_paths(self) -> Sequence[Path]:
        """The files of all open documents, so that a search finds what is not yet on disk."""
        ...

    async def apply_text(self, path: Path, text: str) -> bool:
        """Replaces the text of an open document so that the user can undo it; False where the editor refused.

        A document without unsaved changes is saved afterwards where the editor can do that; one with unsaved changes
        of the user is left unsaved.

        Raises `EditorChanged` where the document changed while the edit was on its way, `LedElsewhere` where its name leads elsewhere by
        now: the editor would follow the link when it saves.
        """
        ...

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        """Problems of one file or of all; None where the editor cannot tell."""
        ...


class EditorChanged(Exception):
    """The user changed the document between reading and editing; nothing was applied."""


class NoEditor:
    """No editor: nothing is open, nothing can be applied, nothing is known."""

    def open_text(self, path: Path) -> str | None:
        """Always None."""
        return None

    def new_text(self, uri: str) -> str | None:
        """Always None."""
        return None

    def open_paths(self) -> Sequence[Path]:
        """Always empty."""
        return ()

    async def apply_text(self, path: Path, text: str) -> bool:
        """Always False."""
        return False

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        """Always None."""
        return None

"""An editor for tests: real documents in memory that save, refuse or change as a test says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ullage.workspace.files import Diagnostic, EditorChanged


class MemoryEditor:
    """Open documents by path. The flags and `formats_to` say how it behaves when an edit comes."""

    def __init__(self) -> None:
        self.documents: dict[Path, str] = {}
        self.problems: list[Diagnostic] | None = None
        self.saves = False
        self.accepts = True
        self.typed_meanwhile = False
        self.formats_to: str | None = None
        self.tells_late = False

    async def look(self, path: Path) -> None:
        pass

    def open_text(self, path: Path) -> str | None:
        return self.documents.get(path)

    def is_on_disk(self, path: Path, text: str) -> None:
        pass

    def new_text(self, uri: str) -> str | None:
        return None

    def open_paths(self) -> Sequence[Path]:
        return tuple(self.documents)

    async def apply_text(self, path: Path, text: str) -> bool:
        if self.typed_meanwhile:
            raise EditorChanged
        if not self.accepts:
            return False
        text = text if self.formats_to is None else self.formats_to
        if not self.tells_late:
            self.documents[path] = text
        if self.saves:
            path.write_text(text, newline="")
        return True

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        if self.problems is None or path is None:
            return self.problems
        return [problem for problem in self.problems if problem.path == path]

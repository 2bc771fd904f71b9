"""An `Editor` in which nothing happens, for what is tested and measured without one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ullage.workspace.files import Diagnostic


class NoEditor:
    """No editor: nothing is open, nothing can be applied, nothing is known."""

    async def look(self, path: Path) -> None:
        """There is nothing to see."""

    def open_text(self, path: Path) -> str | None:
        """Always None."""
        return None

    def is_on_disk(self, path: Path, text: str) -> None:
        """Nothing is open."""

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

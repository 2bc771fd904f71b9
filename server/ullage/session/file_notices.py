"""Telling the model that a file changed under it: appended before the next model call, once for each new text."""

from __future__ import annotations

from ullage.context.entries import Notice
from ullage.session.surroundings import Surroundings
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.reads import FileReads
from ullage.workspace.text_file import NotText, TooLarge


class FileNotices:
    """Collects which files may have changed since the agent of one session read them."""

    def __init__(self, surroundings: Surroundings, reads: FileReads) -> None:
        self._surroundings = surroundings
        self._reads = reads
        self._suspects: dict[str, None] = {}

    def changed(self, path: str) -> None:
        """A file was changed, by whomever."""
        self._suspects[path] = None

    async def take(self) -> Notice | None:
        """What the model has to be told now; None where nothing that it saw is different."""
        suspects, self._suspects = list(self._suspects), {}
        seen = set(self._reads.paths())
        changed: list[str] = []
        for path in suspects:
            if path in seen:
                sha256, how = await self._now(path)
                if self._reads.newly_changed(path, sha256):
                    changed.append(f"- {path} {how}")
        if not changed:
            return None
        listed = "\n".join(changed)
        return Notice("file_changed", f"Changed since you last saw it (read again before you rely on it or edit it):\n{listed}")

    async def _now(self, path: str) -> tuple[str, str]:
        try:
            current = await self._surroundings.files.read(self._surroundings.folders.resolve(path))
        except FileNotFoundError:
            return "", "was deleted or renamed"
        except (OSError, OutsideWorkspace, NotText, TooLarge):
            return "", "can no longer be read as text"
        return current.sha256, "has unsaved changes in the editor" if current.unsaved else "has another text on disk"

"""What happens around the sessions of one workspace, or of one worktree: to files on disk, to documents in the editor, to the folders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.session.session import Session
from ullage.session.surroundings import Surroundings
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.touched import EditedBy
from ullage.workspace.watcher import FileChange, watch

FIRST_FOLDER_GONE = (
    "The folder {} was removed from the window, so Ullage can no longer read or change files: its sessions belong to that folder. "
    "Restart the Ullage server to work in the other folders."
)
NO_FOLDER_BEFORE = "Restart the Ullage server to let it work in the folder that was added: until then sessions are kept in memory only."

DocumentEvent: TypeAlias = Literal["opened", "changed", "saved", "closed"]


class WorkspaceEvents:
    """Watches the folders that sessions work in. `opened` gives the open ones of these. `keep` runs work in the background."""

    def __init__(
        self,
        around: Surroundings,
        opened: Callable[[], Iterable[Session]],
        own_writes: OwnWrites,
        warn: Callable[[str], None],
        keep: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._around = around
        self._opened = opened
        self._own_writes = own_writes
        self._warn = warn
        self._keep = keep
        self._stop = asyncio.Event()

    def watch(self) -> None:
        """Begins to watch the disk."""
        self._stop = asyncio.Event()
        roots = self._around.folders.roots
        if roots:
            self._keep(watch(roots, self._own_writes, self._disk_changed, self._warn, self._stop))

    def stop(self) -> None:
        """Stops watching the disk."""
        self._stop.set()

    def folders_changed(self, removed: Sequence[Path], added: Sequence[Path]) -> None:
        """Tells that the editor has other workspace folders now: what was removed is out of reach at once, the model is told with the next
        turn."""
        before = self._around.folders.roots
        self._around.folders.follow(removed, added)
        if self._around.folders.roots == before:
            return
        self.stop()
        self.watch()
        for session in self._opened():
            session.settings_changed()

    def document_changed(self, path: Path, event: DocumentEvent, line: int | None = None) -> None:
        """Tells that a document of the editor was opened, changed, saved or closed; `line` (from 1) is where it was changed."""
        if not self._around.folders.contains(path):
            return
        if event in ("changed", "saved"):
            self._record(path, "user", line)
        if event == "saved":  # an editor also tells of a change where it read a file anew that a command changed
            self._around.written.note(path)
        name = self._around.folders.show(path)
        for session in self._opened():
            session.file_changed(name)
            if event == "changed":
                session.user_edits()

    def _disk_changed(self, change: FileChange) -> None:
        if self._around.folders.is_private(change.path):  # where the home folder is open, what is logged here is seen, too
            return
        self._record(change.path, "disk")
        for session in self._opened():
            session.file_changed(self._around.folders.show(change.path))

    def _record(self, path: Path, by: EditedBy, line: int | None = None) -> None:
        self._around.recent.record(self._around.folders.show(path), self._around.clock(), by, line)

"""Sessions that work in a worktree of git of their own: what is kept of it, and what surrounds such a session.

For such a session the worktree is its only workspace folder. Its store, its approvals and its settings are those of the workspace.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ullage.context.blocks import Json
from ullage.session.attachments import FileRef, Ref
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.sessions.workspace_events import WorkspaceEvents
from ullage.session.surroundings import Surroundings
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.session_list import WORKTREE
from ullage.tools.sandbox.sandbox import SandboxFinder
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.touched import RecentEdits, WrittenMeanwhile
from ullage.workspace.worktrees import NoWorktree, Worktree, add_worktree, remove_worktree

logger = logging.getLogger(__name__)

GONE = "The worktree of this session is gone: {}. The conversation can be read and forked; the agent has no folder to work in."

_FIELDS = ("top", "folder", "name", "branch", "base", "within")


def to_json(worktree: Worktree) -> Json:
    """The worktree as it is kept."""
    return {name: str(getattr(worktree, name)) for name in _FIELDS}


def from_json(value: Json) -> Worktree | None:
    """The worktree that was kept; None if the value is none."""
    if not isinstance(value, dict):
        return None
    texts = [value.get(name) for name in _FIELDS]
    top, folder, name, branch, base, within = (each if isinstance(each, str) else "" for each in texts)
    return Worktree(Path(top), Path(folder), name, branch, base, within) if all((top, folder, name, branch, base, within)) else None


@dataclass(frozen=True, slots=True)
class WorktreeSurroundings:
    """The surroundings of a session that works in a worktree, and what goes with them."""

    around: Surroundings
    events: WorkspaceEvents
    finder: SandboxFinder


class Worktrees:
    """The worktrees of the sessions of one workspace. `opened` gives a session that is open; `keep` runs work in the background."""

    def __init__(
        self,
        log: LogStore,
        around: Surroundings,
        opened: Callable[[str], Iterable[Session]],
        warn: Callable[[str], None],
        keep: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._log = log
        self._around = around
        self._opened = opened
        self._warn = warn
        self._keep = keep
        self._elsewhere: dict[str, WorktreeSurroundings] = {}

    def of(self, session_id: str) -> Worktree | None:
        """The worktree of that session; None if it works in the workspace folder."""
        return from_json(self._log.recalled(WORKTREE + session_id))

    def all(self) -> dict[str, Worktree]:
        """The worktrees of all sessions, by the ids of these. Raises `StoreFailed`."""
        found = {session_id: from_json(value) for session_id, value in self._log.recalled_all(WORKTREE).items()}
        return {session_id: worktree for session_id, worktree in found.items() if worktree is not None}

    async def add(self, session_id: str) -> None:
        """Makes a worktree for a session that was just made. Raises `SessionError`, `StoreFailed`."""
        home = self._around.folders.first
        if home is None:
            raise SessionError("invalid", "No folder is open, so there is no repository to make a worktree of")
        try:
            worktree = await add_worktree(home, session_id[:8])
        except (NoWorktree, OSError) as error:
            raise SessionError("invalid", str(error)) from error
        self._log.remember(WORKTREE + session_id, to_json(worktree))

    async def remove(self, session_id: str) -> bool:
        """Removes the worktree of that session with all that is in it; gives whether its branch stays. Raises `SessionError`."""
        worktree = self.named(session_id)
        if any(session.busy for session in self._opened(session_id)):
            raise SessionError("session_busy", "The session is working there. Stop it first")
        if any(session.running.any_runs for session in self._opened(session_id)):
            raise SessionError("session_busy", "Commands of this session run in the background there. Stop them first")
        known = self._elsewhere.get(session_id)
        if known is not None:
            known.events.stop()  # that the folder goes is no surprise
        try:
            stays = await remove_worktree(worktree)
        except (NoWorktree, OSError) as error:
            self.watch(session_id)
            raise SessionError("invalid", str(error)) from error
        if known is not None:
            known.events.folders_changed([worktree.root], [])
        return stays

    def named(self, session_id: str) -> Worktree:
        """The worktree of that session. Raises `SessionError` if it has none."""
        worktree = self.of(session_id)
        if worktree is None:
            raise SessionError("invalid", "This session has no worktree: it works in the workspace folder")
        return worktree

    def enter(self, session_id: str) -> WorktreeSurroundings | None:
        """Makes what surrounds that session, which is being opened; None if that is the workspace."""
        try:
            worktree = self.of(session_id)
        except StoreFailed as error:
            logger.warning("whether session %s has a worktree is not known: %s", session_id, error)
            return None
        if worktree is None:
            return None
        is_there = worktree.root.is_dir() and not worktree.folder.is_symlink()
        if not is_there:
            self._warn(GONE.format(worktree.folder))
        own_writes = OwnWrites()
        folders = Folders([worktree.root] if is_there else [], self._around.folders.kept, self._around.folders.private)
        folders.home = self._around.folders.home
        files = WorkspaceFiles(folders, self._around.editor, own_writes)
        around = replace(
            self._around,
            folders=folders,
            files=files,
            recent=RecentEdits(),
            written=WrittenMeanwhile(),
            worktree=worktree,
            home=self._around,
        )
        events = WorkspaceEvents(around, lambda: self._opened(session_id), own_writes, self._warn, self._keep)
        self._elsewhere[session_id] = found = WorktreeSurroundings(around, events, SandboxFinder())
        return found

    def watch(self, session_id: str) -> None:
        """Watches the worktree of that session, which is open."""
        if session_id in self._elsewhere:
            self._elsewhere[session_id].events.watch()

    def leave(self, session_id: str) -> None:
        """Tells that the session was closed: its worktree is watched no longer."""
        known = self._elsewhere.pop(session_id, None)
        if known is not None:
            known.events.stop()
            known.around.scanner.close()

    def is_elsewhere(self, session_id: str) -> bool:
        """Whether that open session works in a worktree."""
        return session_id in self._elsewhere

    def out_of_reach(self) -> None:
        """Tells that the folder was removed from the window of which these are worktrees: they go with it."""
        for each in self.surrounded:
            each.events.folders_changed(each.around.folders.roots, [])

    @property
    def surrounded(self) -> Sequence[WorktreeSurroundings]:
        """The surroundings of all open sessions that work in a worktree."""
        return tuple(self._elsewhere.values())

    def there(self, session_id: str, ref: Ref) -> Ref:
        """What a reference in a prompt of that session stands for: in place of a file of the workspace folder, the same file in the
        worktree."""
        known = self._elsewhere.get(session_id)
        worktree = None if known is None else known.around.worktree
        if worktree is None or not isinstance(ref, FileRef) or not ref.path.is_relative_to(worktree.home):
            return ref
        return replace(ref, path=worktree.root / ref.path.relative_to(worktree.home))

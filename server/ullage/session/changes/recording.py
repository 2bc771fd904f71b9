"""Recording what each call of a tool changes in the workspace: the versions of files before and after it.

The content before is durable before the call runs. What changed goes into the entry of its result, in the same write. So a result that is
in the log tells of all that was changed. Of a call without a result the store still knows that it was begun (`Versions.begun`).

Nothing of this stops a call: what cannot be recorded is named in the entry, with the reason, as what cannot be gone back to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Uncovered
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings
from ullage.store.errors import StoreFailed
from ullage.store.versions import Begun
from ullage.tools.tool import PermissionNeed, ToolKind
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.text_file import NotEncodable, TooLarge

LARGEST_BYTES = 5_000_000
"""Larger files are named as not covered: text that people write is far smaller, and copies of builds and data would fill the disk."""

TOO_LARGE = f"larger than {LARGEST_BYTES // 1_000_000} MB"
IGNORED = "ignored by git"


@dataclass(slots=True)
class CallChanges:
    """What one call changed; known when it has ended."""

    tool_use_id: str
    files: list[ChangedFile] = field(default_factory=list[ChangedFile])
    uncovered: list[Uncovered] = field(default_factory=list[Uncovered])

    def __bool__(self) -> bool:
        return bool(self.files or self.uncovered)


class _NotCovered(Exception):
    """The file cannot be gone back to; `str()` says why."""


class Recording:
    """For one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._logged: list[str] = []
        """Calls whose notes are no longer needed; they go with the next one that is written."""

    @asynccontextmanager
    async def around(self, changes: CallChanges, kind: ToolKind, allowed: PermissionNeed | None) -> AsyncGenerator[None]:
        """Stands around the run of one call, and fills in `changes` at its end.

        Of a call that is stopped they go into an entry of their own, since its result says only that it was stopped.
        """
        target = allowed.target if allowed is not None and kind == "edit" else None
        if target is None:
            yield
            return
        before = await self._before_edit(changes, target)
        try:
            yield
        except asyncio.CancelledError:
            await self._after_edit(changes, target, before)
            if changes:
                self._conversation.append_or_owe(FilesChanged(tuple(changes.files), changes.tool_use_id, tuple(changes.uncovered)))
            raise
        except BaseException:
            await self._after_edit(changes, target, before)
            raise
        await self._after_edit(changes, target, before)

    def logged(self, tool_use_id: str) -> None:
        """What that call changed is in the log."""
        self._logged.append(tool_use_id)

    async def _before_edit(self, changes: CallChanges, target: Path) -> FileVersion | None:
        path = self._surroundings.folders.show(target)
        try:
            return await self._version(target, changes.tool_use_id)
        except _NotCovered as why:
            changes.uncovered.append(Uncovered(path, str(why)))
            return None

    async def _after_edit(self, changes: CallChanges, target: Path, before: FileVersion | None) -> None:
        if changes.uncovered:
            return
        path = self._surroundings.folders.show(target)
        try:
            after = await self._version(target)
        except _NotCovered as why:
            changes.uncovered.append(Uncovered(path, str(why)))
        else:
            if after != before:
                changes.files.append(ChangedFile(path, before, after))

    async def _version(self, path: Path, begun: str | None = None) -> FileVersion | None:
        """The file as it is now, kept; with it goes a note that this call begins. Raises `_NotCovered`."""
        try:
            content = await self._surroundings.files.content(path, LARGEST_BYTES)
        except TooLarge:
            raise _NotCovered(TOO_LARGE) from None
        except (OSError, NotEncodable) as error:
            raise _NotCovered(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from error

        def keep() -> FileVersion | None:
            if self._ignores(path):
                raise _NotCovered(IGNORED)
            versions, session_id, shown = self._surroundings.versions, self._conversation.session_id, str(path)
            version = None if content is None else versions.keep(content.data, executable=content.executable)
            if begun is not None:
                ended, self._logged = self._logged, []
                versions.ended(session_id, ended)
                versions.begin(Begun(session_id, begun, shown, version))
            return version

        try:
            return await asyncio.to_thread(keep)
        except StoreFailed as error:
            raise _NotCovered(str(error).removesuffix(".")) from error

    def _ignores(self, path: Path) -> bool:
        return IgnoreRules(self._surroundings.folders.roots).ignores(path, is_folder=False)

"""Sessions that the workspace can be given: those in its `.ullage` (`earlier_store.py`), looked for at the start, and those of folders that
are gone (`moved_folders.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ullage.session.earlier_store import OFFERED, EarlierStore, Listed, Taken, taken_over
from ullage.session.errors import SessionError, refusing
from ullage.session.moved_folders import GoneFolder, gone_folders, take_over
from ullage.session.workspace_store import WorkspaceStore
from ullage.store.brought import NotBrought
from ullage.store.errors import StoreFailed

IN_MEMORY = "Sessions are in memory only here, so none can be imported"


@dataclass(frozen=True, slots=True)
class Importable:
    """What lies in `.ullage` of the workspace (None: nothing that can be read), and folders that are gone."""

    brought: Listed | None
    gone: tuple[GoneFolder, ...]


class BroughtSessions:
    """What a workspace brings along, and the store that takes it in."""

    def __init__(
        self, workspace: Path | None, kept: WorkspaceStore, remembered_session: str | None, on_warning: Callable[[str], None]
    ) -> None:
        """`remembered_session`: the id of one that the editor itself remembers for this workspace."""
        self._earlier = None if workspace is None or kept.folder is None else EarlierStore(workspace, kept.folder, kept.log)
        self._workspace = workspace
        self._kept = kept
        self._remembered_session = remembered_session
        self._on_warning = on_warning

    async def look(self) -> None:
        """Takes over what an earlier version kept in the workspace, where it is this user's; says what else lies there."""
        earlier = self._earlier
        try:
            state = "none" if earlier is None else await asyncio.to_thread(earlier.state)
            if earlier is None or state in ("none", "taken"):
                return
            taken = None
            if self._remembered_session is not None:
                taken = await asyncio.to_thread(earlier.take_over, self._remembered_session)
            if taken is None:
                if state == "new":
                    self._on_warning(OFFERED)
                    await asyncio.to_thread(earlier.offered)
                return
        except (NotBrought, StoreFailed) as error:
            self._on_warning(f"There are sessions in .ullage of this folder that were not imported: {error}. They stay where they are")
            return
        self._on_warning(taken_over(taken, self._kept.folder))

    async def importable(self) -> Importable:
        """What can be imported here. Raises `SessionError`."""
        earlier, location = self._here()
        with refusing():
            try:
                brought = await asyncio.to_thread(lambda: None if earlier.state() == "none" else earlier.listed())
            except NotBrought:
                brought = None
            return Importable(brought, tuple(await asyncio.to_thread(gone_folders, location)))

    async def take_in(self, *, as_mine: bool = False) -> Taken:
        """Imports what lies in `.ullage` of the workspace: to be read and searched, or to be gone on with where the user says that it is
        theirs. Raises `SessionError`."""
        earlier, _ = self._here()
        with refusing():
            try:
                return await asyncio.to_thread(earlier.take_as_mine if as_mine else earlier.import_foreign)
            except NotBrought as error:
                raise SessionError("invalid", f"No session was imported: {error}") from error

    async def take_over(self, folder: Path) -> Taken:
        """Takes over the sessions of a folder that is gone. Raises `SessionError`."""
        _, location = self._here()
        workspace, kept = self._workspace, self._kept
        with refusing():
            if workspace is None or kept.folder is None:
                raise SessionError("invalid", IN_MEMORY)
            return await asyncio.to_thread(take_over, folder, location, workspace, kept.folder, kept.log)

    def _here(self) -> tuple[EarlierStore, Path]:
        if self._earlier is None or self._kept.folder is None:
            raise SessionError("invalid", IN_MEMORY)
        return self._earlier, self._kept.folder.parent.parent

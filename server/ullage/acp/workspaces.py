"""The sessions of one client, by the folder that they work in: a client of this protocol names a folder for each session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.session.errors import SessionError
from ullage.session.sessions.sessions import Sessions
from ullage.session.sessions.workspace_servers import OfClient
from ullage.session.settings import Settings
from ullage.session.timeline.updates import Update
from ullage.starting import Keys
from ullage.store.workspace_store import open_workspace_store
from ullage.workspace.files import Editor
from ullage.workspace.folders import Folders

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder and its sessions."""

    folder: Path
    folders: Folders
    sessions: Sessions

    async def forget_servers(self, session_id: str) -> None:
        """Forgets the MCP servers that the client named for a session."""
        self.sessions.servers.name_for(session_id, None)
        await self.sessions.servers.look()


class Workspaces:
    """The folders that one client named so far, each with its sessions."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        keys: Keys | None,
        state_folder: Path | None,
        make_editor: Callable[[Path], Editor],
        on_update: Callable[[str, int, Update], None],
        on_servers: Callable[[Path], None],
    ) -> None:
        """`on_servers` is called with the folder when something about its MCP servers is new."""
        self._on_servers = on_servers
        self._settings = settings
        self._keys = keys
        self._state_folder = state_folder
        self._make_editor = make_editor
        self._on_update = on_update
        self._places: dict[Path, OpenFolder] = {}
        self._opening = asyncio.Lock()

    def __iter__(self) -> Iterator[OpenFolder]:
        return iter(tuple(self._places.values()))

    async def at(self, cwd: str, more: Sequence[str] = ()) -> OpenFolder:
        """The sessions of that folder, which is opened if it is not open. Raises `SessionError`."""
        first, *others = [await asyncio.to_thread(_folder, name) for name in (cwd, *more)]
        async with self._opening:
            place = self._places.get(first)
            if place is None:
                place = self._places[first] = await self._opened(first, others)
                return place
        added = [each for each in others if each not in place.folders.roots]
        if added:
            place.folders.follow((), added)
            place.sessions.folders_changed((), added)
        return place

    async def _opened(self, first: Path, others: Sequence[Path]) -> OpenFolder:
        settings = self._settings()
        folders = Folders([first, *others])
        try:
            kept = await asyncio.to_thread(open_workspace_store, folders.roots, settings.store_location, settings.team_place)
        except OSError as error:
            raise SessionError("store_failed", f"The sessions of {first} cannot be opened: {error}") from error
        sessions = Sessions(
            folders.roots,
            self._make_editor(first),
            settings,
            self._keys,
            self._state_folder,
            self._on_update,
            lambda: None,
            lambda told: logger.warning("%s", told),
            kept=kept,
            of_client=OfClient(lambda: self._on_servers(first)),
        )
        await sessions.start()
        return OpenFolder(first, folders, sessions)

    def configure(self) -> None:
        """Hands the settings, which have changed, to all sessions."""
        for place in self:
            place.sessions.configure(self._settings())

    async def close(self) -> None:
        """Ends all that runs; turns are closed as interrupted."""
        await asyncio.gather(*(place.sessions.close() for place in self))


def _folder(name: str) -> Path:
    path = Path(name)
    if "\0" in name or not path.is_absolute() or not path.is_dir():
        raise SessionError("invalid", f"The folder of a session must be an absolute path of a folder that there is; {name!r} is none")
    return path.resolve()

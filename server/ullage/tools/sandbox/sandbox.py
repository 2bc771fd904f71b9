"""The sandbox of one session's commands: whether there is one, and a command made ready to run in it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from platformdirs import user_cache_path

from ullage.tools.sandbox.bubblewrap import find_bubblewrap
from ullage.tools.sandbox.confinement import ConfinedView, Confinement, Confiner, NoSandbox, OwnFolders, view
from ullage.tools.sandbox.guarded import Guarded, MovedAway, guarded, not_looked_through, seen_before, take_back
from ullage.tools.sandbox.known_places import LINUX, MACOS, OWN_CACHES, Machine
from ullage.tools.sandbox.network.hosts import Host
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.sandbox.network.proxy import Proxy, upstreams_of
from ullage.tools.sandbox.seatbelt import find_seatbelt
from ullage.tools.steering import StartingFiles
from ullage.workspace.folders import Folders

SandboxWanted: TypeAlias = Literal["auto", "required", "off"]
"""The setting `ullage.bash.sandbox`. In this order: commands run in a sandbox where one works; none runs without; all run without."""

TURNED_OFF = NoSandbox('the setting "Ullage › Bash: Sandbox" is off', "Set it to auto.")
NOT_ON_THIS_SYSTEM = NoSandbox("this system has none that Ullage knows", "Use Linux or macOS, or WSL on Windows.")


@dataclass(frozen=True, slots=True)
class SystemSandbox:
    """The sandbox of one system, and the places that are known of it."""

    find: Callable[[Sequence[Path]], Awaitable[Confiner | NoSandbox]]
    machine: Machine


SYSTEMS: Mapping[str, SystemSandbox] = {"linux": SystemSandbox(find_bubblewrap, LINUX), "darwin": SystemSandbox(find_seatbelt, MACOS)}
"""The sandboxes by `sys.platform`. Other systems have none."""


class SandboxFinder:
    """Looks once for the sandbox of this machine. One finder serves all sessions of a server."""

    def __init__(self) -> None:
        self.found: Confiner | NoSandbox | None = None
        """What was found; None before `find`."""
        self.starting = StartingFiles()
        """The files in the workspace folders that start by themselves, as far as they are known."""

    async def find(self, not_in: Sequence[Path]) -> Confiner | NoSandbox:
        """The sandbox that works here, or why there is none. Programs in the folders `not_in` are passed over."""
        if self.found is None:
            self.found = NOT_ON_THIS_SYSTEM if (system := SYSTEMS.get(sys.platform)) is None else await system.find(not_in)
        return self.found


@dataclass(frozen=True, slots=True)
class PreparedCommand:
    """A command that is ready to be started in the sandbox."""

    command: Sequence[str]
    environment: Mapping[str, str]
    pass_fds: Sequence[int]
    blocked: Sequence[str]
    """The messages of programs that may not write."""
    refused: Sequence[str] = ()
    """The hosts that it could not connect to; grows while it runs."""
    taken_back: Sequence[MovedAway] = ()
    """The files that it made and that were taken back; filled after it has ended."""
    not_compared: Sequence[str] = ()
    """Remarks about the folders where nobody looked for what it made; filled after it has ended."""
    over_limit: Sequence[str] = ()
    """Why it was ended, if it took too much; grows while it runs."""


MOST_OURS = 200
"""The most files and folders in a folder that the agent was let make. One with more is looked at no further, and counts as made by a
command."""


class Sandbox:
    """Confines the commands of one session."""

    def __init__(
        self, finder: SandboxFinder, wanted: SandboxWanted, folders: Folders, is_ours: Callable[[Path], bool] = lambda path: False
    ) -> None:
        """`is_ours` says whether a file is one that the user let the agent write, as it was written: no command made it."""
        self._is_ours = is_ours
        self._finder = finder
        self._folders = folders
        self.wanted: SandboxWanted = wanted
        self._temporary: Path | None = None

    @property
    def missing(self) -> NoSandbox | None:
        """Why commands run without a sandbox, as far as that is known; None if they run in one, or nobody has looked yet."""
        if self.wanted == "off":
            return TURNED_OFF
        return self._finder.found if isinstance(self._finder.found, NoSandbox) else None

    @property
    def works(self) -> bool:
        """Whether commands run in a sandbox, as far as that is known."""
        return self.wanted != "off" and self._finder.found is not None and not isinstance(self._finder.found, NoSandbox)

    async def find(self) -> Confiner | NoSandbox:
        """The sandbox in which commands run, or why they run in none."""
        return TURNED_OFF if self.wanted == "off" else await self._finder.find(self._folders.roots)

    @asynccontextmanager
    async def prepare(
        self,
        confiner: Confiner,
        command: Sequence[str],
        environment: Mapping[str, str],
        hosts: Sequence[Host] = (),
        may_steer: Callable[[Path], bool] = lambda path: False,
        place: CommandSpan | None = None,
    ) -> AsyncGenerator[PreparedCommand]:
        """A command as it is to be started. It may write to the workspace folders and reach `hosts`, and its neighbours from its `place`.

        All that it needs is kept until the end of the block. Then files that it made and that start by themselves are taken back, unless it
        `may_steer` them. Raises `OSError`.
        """
        roots, known = self._folders.roots, self._finder.starting
        before = await asyncio.to_thread(seen_before, roots, known)
        taken, not_compared = list[MovedAway](), list[str]()
        confinement = await asyncio.to_thread(self._confinement, may_steer)
        proxy = Proxy(hosts, upstreams_of(os.environ))
        try:
            async with confiner.confine(command, confinement, proxy, place) as confined:
                yield PreparedCommand(
                    confined.command,
                    {**environment, **confined.environment},
                    confined.pass_fds,
                    confiner.blocked,
                    proxy.refused,
                    taken,
                    not_compared,
                    confined.over_limit,
                )
        finally:
            await proxy.close()
            quarantine = _own_folder(roots) / "taken-back"

            def stays(path: Path) -> bool:
                return may_steer(path) or self._is_all_ours(path)

            taken += await asyncio.shield(asyncio.to_thread(take_back, roots, before, stays, quarantine, known))
            not_compared += await asyncio.to_thread(not_looked_through, roots, known)

    def _is_all_ours(self, path: Path) -> bool:
        """Whether a file is ours, or a folder with no other files in it."""
        if path.is_symlink() or not path.is_dir():
            return self._is_ours(path)
        below = (Path(folder, name) for folder, folders, files in os.walk(path) for name in (*files, *folders))
        found = list(islice(below, MOST_OURS + 1))
        files = [each for each in found if each.is_symlink() or not each.is_dir()]
        return len(found) <= MOST_OURS and bool(files) and all(map(self._is_ours, files))

    @asynccontextmanager
    async def prepare_reading(
        self, confiner: Confiner, command: Sequence[str], environment: Mapping[str, str]
    ) -> AsyncGenerator[PreparedCommand]:
        """A command as it is to be started that only reads: it can write nowhere and reach nothing. Raises `OSError`."""
        confinement = await asyncio.to_thread(self._reading)
        async with confiner.confine(command, confinement, None) as confined:
            yield PreparedCommand(confined.command, {**environment, **confined.environment}, confined.pass_fds, confiner.blocked)

    def _confinement(self, may_steer: Callable[[Path], bool]) -> Confinement:
        roots, home = self._folders.roots, Path.home().resolve()
        own = OwnFolders(self._own_temporary(), _own_home(roots))
        is_private = any(root.is_relative_to(folder) for root in roots for folder in self._folders.private)  # it cannot be hidden then
        guard = guarded(roots, (), may_steer, self._finder.starting)
        return Confinement(roots, self._view(home), guard, own, home, writable=not is_private)

    def _reading(self) -> Confinement:
        roots, home = self._folders.roots, Path.home().resolve()
        return Confinement(roots, self._view(home), Guarded(), OwnFolders(), home, writable=False)

    def _view(self, home: Path) -> ConfinedView:
        self._make_private()
        system = SYSTEMS.get(sys.platform)
        machine = LINUX if system is None else system.machine
        return view(home, self._folders.roots, os.environ, self._folders.private, machine, self._folders.lent)

    def _make_private(self) -> None:
        """Makes the server's own folders that lie in the workspace, if they are missing: a folder that is not there cannot be hidden. In a
        home folder that is opened, a command would make it, and forge what the user allowed."""
        for folder in (each for each in self._folders.private if self._folders.contains(each)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _own_temporary(self) -> Path:
        """The session's `/tmp`. It is deleted with the session."""
        if self._temporary is None or not self._temporary.is_dir():
            self._temporary = Path(tempfile.mkdtemp(prefix="ullage-tmp-"))
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary


def _own_home(roots: Sequence[Path]) -> Path:
    """The folder with the caches of this workspace's commands. One workspace does not read what the commands of another have put there."""
    folder = _own_folder(roots) / "home"
    for name in OWN_CACHES:
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _own_folder(roots: Sequence[Path]) -> Path:
    key = hashlib.sha256(os.fsencode(roots[0])).hexdigest()[:16] if roots else "none"
    return user_cache_path("ullage") / "sandbox" / key

"""What one command may see, write and reach, whatever system confines it; `bubblewrap.py` makes mounts of it, `seatbelt.py` rules.

The system is there read-only. Of the home folder only what tools need is there: an allow list, since nobody can list all that is
secret in a home folder. What is known to be secret is masked all the same, for a workspace that holds the home folder.
Folders with sockets, logs and other users' files are empty. `/tmp` and the caches are the sandbox's own, so that nothing that runs
outside later reads what a command put there.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ullage.context.redact import redact
from ullage.tools.sandbox.guarded import LONGEST_POINTER, Guarded
from ullage.tools.sandbox.known_places import CONFIGURATION_IN_HOME, LINUX, TOOL_VARIABLES, TOOLS_IN_HOME, Machine
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.sandbox.network.proxy import Proxy
from ullage.workspace.regular_files import open_regular

USER_IN_URL = re.compile(r"://[^/\s\"']+@")
"""A name before the host in an address, which often is a token."""


@dataclass(frozen=True, slots=True)
class ConfinedView:
    """The file system that a command sees, in the order in which it is laid over the read-only system."""

    empty: tuple[Path, ...] = ()
    shown: tuple[tuple[Path, Path], ...] = ()
    """The paths within empty folders that are seen, read-only, each with its place. The two differ if the place is a link."""
    masked: tuple[Path, ...] = ()
    """Files and folders that are empty although what is around them is seen."""


def view(
    home: Path,
    roots: Sequence[Path],
    environment: Mapping[str, str],
    private: Sequence[Path] = (),
    machine: Machine = LINUX,
    lent: Sequence[Path] = (),
) -> ConfinedView:
    """What a command sees beside the workspace folders, with the user's home folder and environment.

    `private` are folders of the server itself, which no command sees, `lent` folders beside those of the workspace that can be read.
    """
    home = home.resolve()
    empty = [Path(name) for name in machine.empty]
    if "microsoft" in platform.release().casefold():
        empty.append(Path("/mnt"))  # the disks of Windows, with the home folder there
    if home != Path("/") and not any(home.is_relative_to(folder) for folder in empty):
        empty.append(home)
    shown = [Path(name) for name in machine.shown_again]
    shown += [home / name for name in machine.tools_in_home]
    shown += [home / name for name in CONFIGURATION_IN_HOME if _holds_no_secret(home / name)]
    shown += _named_folders(empty, environment)
    shown += _repositories(roots)
    shown += [folder for folder in lent if any(_is_below(folder, place) for place in empty)]
    visible = [*_existing(shown), *roots]
    masked = _existing([*private, *(home / name for name in machine.secrets_in_home), *map(Path, machine.secrets)])
    return ConfinedView(
        tuple(folder for folder in _existing(empty) if folder != Path("/")),
        tuple(_with_places(shown)),
        tuple(path for path in masked if _is_seen(path, visible, empty) and not any(root.is_relative_to(path) for root in roots)),
    )


def _is_seen(path: Path, visible: Sequence[Path], empty: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in visible) or not any(path.is_relative_to(folder) for folder in empty)


def _named_folders(hidden: Sequence[Path], environment: Mapping[str, str]) -> Iterator[Path]:
    """Folders of tools in hidden folders that the user's own variables name. The user's environment is nobody else's to write."""
    for name in environment.get("PATH", "").split(os.pathsep):
        folder = Path(name)
        around = next((place for place in hidden if _is_below(folder, place)), None)
        if around is None:
            continue
        yield folder
        yield from _toolchain(folder)
        inside = folder.parent.relative_to(around).parts
        if (
            folder.name in ("bin", "sbin", "Scripts")
            and len(inside) > (around.name == "home")
            and not any(part.startswith(".") for part in inside)
        ):
            yield folder.parent
    for folder in (Path(environment.get(name, "")) for name in TOOL_VARIABLES):
        if any(_is_below(folder, place) for place in hidden):
            yield folder


def _toolchain(folder: Path) -> Iterator[Path]:
    """The toolchains in the home folder that a folder of PATH belongs to; empty if it belongs to none that is known."""
    for place in (folder, *folder.parents):
        if any(place.as_posix().endswith(f"/{name}") for name in TOOLS_IN_HOME):
            yield place


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_absolute() and path != folder and path.is_relative_to(folder) and ".." not in path.parts


def _repositories(roots: Sequence[Path]) -> Iterator[Path]:
    """The folder of the repository that a workspace folder is a worktree of, where that folder itself says so.

    What stands in the workspace alone is not believed: a file `.git` can name any folder.
    """
    for root in roots:
        try:
            said = _beginning(root / ".git")
            own = Path(os.fsdecode(said.removeprefix(b"gitdir:").strip())).resolve(strict=True)
            back = Path(os.fsdecode(_beginning(own / "gitdir").strip()))
            if own.parent.name == "worktrees" and back.is_absolute() and back.resolve(strict=True) == root / ".git":
                yield own.parent.parent
        except (OSError, RuntimeError, ValueError):
            continue


def _beginning(path: Path) -> bytes:
    """The first bytes of a regular file. Any other is refused: a pipe would keep every command waiting. Raises `OSError`."""
    with open_regular(path.resolve(strict=True)) as file:
        return file.read(LONGEST_POINTER)


def _existing(paths: Sequence[Path]) -> list[Path]:
    """Those of the paths that exist, links resolved, outermost first, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        try:
            found[path.resolve(strict=True)] = None
        except (OSError, RuntimeError):
            continue
    return sorted(found, key=lambda path: len(path.parts))


def _with_places(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """The paths that exist, each with its links resolved and as it was given; outermost first, each place once."""
    for place in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        try:
            yield place.resolve(strict=True), place
        except (OSError, RuntimeError):
            continue


def _holds_no_secret(path: Path) -> bool:
    try:
        with open_regular(path.resolve(strict=True)) as file:
            text = file.read().decode("utf-8", errors="replace")
    except (OSError, RuntimeError):
        return False
    return redact(text) == text and "extraheader" not in text.casefold() and not USER_IN_URL.search(text)


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Commands cannot be sandboxed: why, and what the user can do about it, in a sentence each."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}. {self.remedy}"


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """Folders on the disk that only the sandbox uses; None if there is to be one in memory, which is gone after the call."""

    temporary: Path | None = None
    home: Path | None = None


@dataclass(frozen=True, slots=True)
class Confinement:
    """The folders that one command may see and write to."""

    roots: tuple[Path, ...]
    view: ConfinedView
    guard: Guarded
    own: OwnFolders
    home: Path
    writable: bool = True
    """Whether it may write to the workspace folders."""

    @property
    def guarded(self) -> tuple[Path, ...]:
        """The paths in the workspace folders that the command cannot change."""
        return tuple(path for path in self.guard.read_only if any(path.is_relative_to(root) for root in self.roots))

    @property
    def held(self) -> tuple[Path, ...]:
        """Folders within the workspace folders that can be written to but not moved away, outermost first: something guarded or masked lies
        in them, and would be moved out of the way with them."""
        held = dict.fromkeys(path for path in self.guard.held if any(path.is_relative_to(root) for root in self.roots))
        held |= {folder: None for path in self.view.masked for folder in folders_around(path, self.roots)}
        return tuple(sorted(held, key=lambda path: len(path.parts)))


def folders_around(path: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """The folders around a path, up to its workspace folder, which is left out; the innermost first."""
    for root in roots:
        if path.is_relative_to(root):
            yield from (parent for parent in path.parents if parent != root and parent.is_relative_to(root))


@dataclass(frozen=True, slots=True)
class Confined:
    """A command as it is to be started."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that it gets beside its own."""
    pass_fds: Sequence[int] = ()
    over_limit: Sequence[str] = ()
    """Why the command was ended, if it took too much; grows while it runs."""


class Confiner(Protocol):
    """The program that confines commands on this machine."""

    @property
    def blocked(self) -> Sequence[str]:
        """The messages (in lower case) of programs that may not write."""
        ...

    def confine(
        self, command: Sequence[str], confinement: Confinement, proxy: Proxy | None, place: CommandSpan | None = None
    ) -> AbstractAsyncContextManager[Confined]:
        """The command as it is to be started within the block, so that it is confined like this.

        It reaches the hosts that the proxy lets through; without a proxy none. With a place it reaches its neighbours and is reached by
        them, on systems that can have that. Raises `OSError`.
        """
        ...

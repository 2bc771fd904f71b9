"""Where the folders of all workspaces lie: outside of them, so that no repository can bring a log along and no `git clean` takes it away.

It is what `ullage.store.location` says, else `ULLAGE_STORE_LOCATION` in the environment, else the system's place for the state of programs:
the same for every editor and for the command line.

What lies in a container goes with it. Whether that would happen is found out here too, so that the user can be told.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from platformdirs import user_state_path

from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreFailed
from ullage.store.shared_files import write_whole

VARIABLE = "ULLAGE_STORE_LOCATION"

_WORKSPACES = "workspaces"
_NAMED_BY = "workspace.json"
_NAME_CHARACTERS = 40
_HASH_CHARACTERS = 16


_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


_VARIABLES = ("REMOTE_CONTAINERS", "CODESPACES")


_MOUNTS = Path("/proc/self/mountinfo")


_POINT = 4
"""The field of a line that says where something is mounted."""


class BadLocation(StoreFailed):
    """Nothing can be kept there; `str()` says why, and what to do."""


def store_location(setting: str = "", environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that holds those of all workspaces; links in it are resolved. Raises `BadLocation`."""
    for name, value in (('The setting "Ullage › Store: Location"', setting), (VARIABLE, environment.get(VARIABLE, ""))):
        if value:
            return _absolute(name, value)
    return systems_own()


def systems_own() -> Path:
    """The system's place for the state of programs: what is taken where nobody chose one."""
    return user_state_path("ullage").resolve()


def _absolute(name: str, value: str) -> Path:
    try:
        path = Path(value).expanduser()
        if path.is_absolute():
            return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise BadLocation(f"{name} is no path that can be used ({value!r}: {error}). Give the absolute path of a folder.") from error
    raise BadLocation(f"{name} is {value!r}, which is no absolute path. Give the absolute path of a folder.")


def folder_of(workspace: Path, location: Path) -> Path:
    """The folder of that workspace: a name to read, and a hash of the path with its links resolved. It need not exist."""
    resolved = workspace.resolve()
    digest = hashlib.sha256(os.fsencode(os.path.normcase(resolved))).hexdigest()[:_HASH_CHARACTERS]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", resolved.name)[:_NAME_CHARACTERS].strip(".")
    return location / _WORKSPACES / f"{name or 'workspace'}-{digest}"


def prepare_for(workspace: Path, location: Path, roots: Sequence[Path]) -> Path:
    """Makes the folder of that workspace; gives its path. `roots` are all folders that are open. Raises `StoreFailed`."""
    refuse_within(location, roots)
    folder = folder_of(workspace, location)
    try:
        ullage_folder.make_private(folder.parent)
    except OSError as error:
        raise BadLocation(
            f"Cannot write to {location}: {error.strerror or error}. Make it writable, or choose another folder in the setting"
            ' "Ullage › Store: Location".'
        ) from error
    ullage_folder.prepare(folder)
    named_by = folder / _NAMED_BY
    if not named_by.exists():
        write_whole(named_by, json.dumps({"workspace": str(workspace.resolve())}) + "\n")
    return folder


def private_folders(setting: str, user_state: Path) -> tuple[Path, ...]:
    """The folders that nobody but the server writes to: the one with what is kept of all workspaces, and the one with what the user
    allowed. Either may lie in a workspace folder where that is the home folder."""
    try:
        return store_location(setting), user_state
    except BadLocation:
        return (user_state,)


def workspaces_in(location: Path) -> dict[Path, Path]:
    """The folder that is kept for each workspace, by the workspace's path as it was resolved."""
    found: dict[Path, Path] = {}
    try:
        kept = sorted((location / _WORKSPACES).iterdir())
    except OSError:
        return {}
    for folder in kept:
        workspace = workspace_of(folder)
        if workspace is not None and folder_of(workspace, location) == folder:
            found[workspace] = folder
    return found


def workspace_of(folder: Path) -> Path | None:
    """The workspace that a folder is kept for; None where the folder does not say it."""
    try:
        value = json.loads((folder / _NAMED_BY).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    match value:
        case {"workspace": str(path)}:
            return Path(path)
        case _:
            return None


def refuse_within(location: Path, roots: Sequence[Path]) -> None:
    """Raises `BadLocation` where a workspace folder holds the location: who writes the workspace would write the log. The home folder, or
    one around it, holds every place that the user has; where it is opened the location is guarded instead (`Folders.private`)."""
    home = Path.home().resolve()
    around = next((root for root in roots if location.is_relative_to(root) and not home.is_relative_to(root)), None)
    if around is not None:
        raise BadLocation(
            f"{location} lies in the workspace folder {around}, so whoever writes the workspace could write your sessions. "
            'Choose a folder outside of it in the setting "Ullage › Store: Location".'
        )


def goes_with_the_container(
    location: Path, environment: Mapping[str, str] = os.environ, marks: Sequence[Path] = _MARKS, mounts: Path = _MOUNTS
) -> bool:
    """Whether this is a container and the location lies on its own file system, which goes when it is made anew. Not where that is not
    known."""
    if not any(environment.get(name) for name in _VARIABLES) and not any(mark.exists() for mark in marks):
        return False
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    points = [_unescaped(fields[_POINT]) for line in lines if len(fields := line.split(" ")) > _POINT]
    around = [point for point in points if location.is_relative_to(point)]
    return bool(around) and max(around, key=len) == "/"


def advice(location: Path) -> str:
    """What the user is told."""
    mount = f'"mounts": ["source=ullage,target={location},type=volume"]'
    return (
        f"This is a container, and {location} is not on a volume: your sessions are gone when the container is made anew. "
        f"Mount a volume there (devcontainer.json: {mount}), or choose a folder on one in the setting "
        '"Ullage › Store: Location"'
    )


def _unescaped(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), name)

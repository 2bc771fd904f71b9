"""The folder in which everything about a workspace is kept: where it lies, where each thing in it lies, and that only its user can read it.

The folders of all workspaces lie outside of them, so that no repository can bring a log along and no `git clean` takes it away. The
setting `ullage.store.location` says where, else `ULLAGE_STORE_LOCATION` in the environment. Else it is the system's place for the state of
programs: the same for every editor and for the command line. What lies in a container goes with it; whether that would happen is found out
here too, so that the user can be told.

No link is followed: by a link, somebody else could say where things are written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from platformdirs import user_state_path

from ullage.store.errors import StoreFailed, UnknownSession
from ullage.store.origins import is_id

RESULTS, MEDIA, TRANSCRIPTS = "tool-results", "media", "transcripts"

READABLE = frozenset({RESULTS, MEDIA, TRANSCRIPTS})
"""The folders in it that the agent may read: plain copies of what it was told. It reaches the database with `recall` only."""

_LOCKS, _UNFINISHED, _NEWS, _PLANS, _PROPOSALS = "locks", "unfinished", "news", "plans", "proposals"

_OWNER_ONLY = 0o700


def prepare(folder: Path) -> Path:
    """Makes the folder and what lies around it, for its user alone; gives its path. Raises `StoreFailed`."""
    try:
        make_private(folder)
        for name in (*sorted(READABLE), _LOCKS, _UNFINISHED, _NEWS, _PLANS, _PROPOSALS):
            _refuse_link(folder / name)
    except OSError as error:
        raise StoreFailed(f"Cannot write to {folder}: {error.strerror or error}. Make the folder writable, or open another one.") from error
    return folder


def make_private(folder: Path) -> None:
    """Makes a folder that only its user can use, and those around it that are missing. Raises `StoreFailed` for a link, and `OSError`."""
    for missing in reversed([parent for parent in folder.parents if not parent.exists()]):
        missing.mkdir(_OWNER_ONLY, exist_ok=True)
    _refuse_link(folder)
    folder.mkdir(_OWNER_ONLY, exist_ok=True)
    mode = stat.S_IMODE(folder.lstat().st_mode)
    if os.name == "posix" and mode & 0o077:
        folder.chmod(_OWNER_ONLY)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise StoreFailed(
            f"{path} is a link, and nothing is kept behind links. Remove it, or choose another folder in the setting"
            ' "Ullage › Store: Location".'
        )


def database(folder: Path) -> Path:
    """The path of the log."""
    return folder / "ullage.db"


def search_index(folder: Path) -> Path:
    """The path of the full-text index, which can be thrown away: it is made again from the log."""
    return folder / "search.db"


def session_lock(folder: Path, session_id: str) -> Path:
    """The path of the lock that the process holds that writes the session. Raises `UnknownSession` for what is no id."""
    return folder / _LOCKS / f"{_checked(session_id)}.lock"


def unfinished(folder: Path, session_id: str) -> Path:
    """The path of the reply that streams in, or did when the process was killed. Raises `UnknownSession` for what is no id."""
    return folder / _UNFINISHED / f"{_checked(session_id)}.jsonl"


def results(folder: Path) -> Path:
    """The folder with the whole outputs of clipped tool results."""
    return folder / RESULTS


def media(folder: Path) -> Path:
    """The folder with the images and documents that the model was shown, by their hash."""
    return folder / MEDIA


def transcripts(folder: Path) -> Path:
    """The folder with the messages as they were before each summary."""
    return folder / TRANSCRIPTS


def transcript(folder: Path, session_id: str, number: int) -> Path:
    """The path of the messages as they were before one summary of a session. Raises `UnknownSession` for what is no id."""
    return transcripts(folder) / f"{_checked(session_id)}-{number}.jsonl"


def plan(folder: Path, session_id: str, name: str) -> Path:
    """The path of the document of a plan. Raises `UnknownSession` for what is no id."""
    return folder / _PLANS / f"{_checked(session_id)}-{name}" / "plan.md"


def plans_of(folder: Path, session_id: str) -> list[Path]:
    """The paths of all documents of a session's plans. Raises `UnknownSession` for what is no id."""
    return sorted((folder / _PLANS).glob(f"{_checked(session_id)}-*/plan.md"))


def proposal(folder: Path, session_id: str, name: str, file: str) -> Path:
    """The path of the proposed text of a file. Raises `UnknownSession` for what is no id."""
    return folder / _PROPOSALS / f"{_checked(session_id)}-{name}" / file


def proposals_of(folder: Path, session_id: str) -> list[Path]:
    """The paths of all proposed texts of a session. Raises `UnknownSession` for what is no id."""
    return sorted((folder / _PROPOSALS).glob(f"{_checked(session_id)}-*/*"))


def _checked(session_id: str) -> str:
    if not is_id(session_id):
        raise UnknownSession(session_id)
    return session_id


def last_rows(folder: Path) -> Path:
    """The path of the file that says, outside of the log, how far each session has come."""
    return folder / "last-rows"


def news(folder: Path) -> Path:
    """The folder in which processes tell each other that the list of sessions changed."""
    return folder / _NEWS


def versions(folder: Path) -> Path:
    """The path for the bytes of files before and after the agent changed them."""
    return folder / "versions.db"


def waiting(folder: Path) -> Path:
    """The folder of what was written while another program had the log locked."""
    return folder / "waiting"


# Where the folders of workspaces lie

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
    """Nothing can be kept at that location; `str()` says why, and what to do."""


def store_location(setting: str = "", environment: Mapping[str, str] = os.environ) -> Path:
    """The folder that holds the folders of all workspaces; links in it are resolved. Raises `BadLocation`."""
    for name, value in (('The setting "Ullage › Store: Location"', setting), (VARIABLE, environment.get(VARIABLE, ""))):
        if value:
            return _absolute(name, value)
    return systems_own()


def systems_own() -> Path:
    """The system's place for the state of programs, which is used unless somebody chose another one."""
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
        make_private(folder.parent)
    except OSError as error:
        raise BadLocation(
            f"Cannot write to {location}: {error.strerror or error}. Make it writable, or choose another folder in the setting"
            ' "Ullage › Store: Location".'
        ) from error
    prepare(folder)
    named_by = folder / _NAMED_BY
    if not named_by.exists():
        from ullage.store.shared_files import write_whole  # which itself asks this file where things lie

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
    """The workspace that a folder is kept for; None if the folder does not say it."""
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
    """Raises `BadLocation` if a workspace folder holds the location: who writes the workspace would write the log. The home folder, or
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
    """Whether this is a container and the location lies on its own file system, which goes when the container is made anew. False where
    that is not known."""
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
    """What the user is told where the location goes with the container."""
    mount = f'"mounts": ["source=ullage,target={location},type=volume"]'
    return (
        f"This is a container, and {location} is not on a volume: your sessions are gone when the container is made anew. "
        f"Mount a volume there (devcontainer.json: {mount}), or choose a folder on one in the setting "
        '"Ullage › Store: Location"'
    )


def _unescaped(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), name)

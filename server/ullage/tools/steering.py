"""Files that run by themselves or steer a tool: their names, and where such files lie in a workspace folder.

A harmless-looking edit of one can have any effect later. There is one list for all who need it: edits of these ask each time (`steers`),
and what a command in the sandbox makes new of those that run without anybody starting them is taken back (`starts_by_itself`). A build
makes files of the other kind all the time (`Makefile`, `package.json`), so these are not taken back. The lists are in `steering_names.py`.
Only names are looked at, the way the most forgiving file system reads them (`compared`). What a link leads to is the caller's business.

`StartingFiles` looks for them before and after each command, however deep, so what was listed is remembered. A folder is listed again only
where it has changed: adding, removing and renaming in it sets its ctime, which no program can set to a time of its choice. Asking for that
takes some 10 µs a folder.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePath

from ullage.tools.steering_names import FILES_THAT_START, FILES_THAT_STEER, FOLDERS_THAT_START, FOLDERS_THAT_STEER, GIT
from ullage.workspace.folders import compared

BARE_REPOSITORY = ".git"
"""How the folder of a repository without a working tree ends; its hooks and its config run programs as those of `.git` do."""

SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..*)?")
"""What Windows may take for another name (`GIT~1`)."""

_STARTING_FOLDERS = {name: reason for reason, names in FOLDERS_THAT_START.items() for name in names}

_STEERING_FOLDERS = {name: reason for reason, names in FOLDERS_THAT_STEER.items() for name in names}

MOST_FOLDERS = 20_000
"""How many folders of a workspace folder are looked into, the upper ones first: so a command waits for it half a second at most, the
first one some seconds."""

PASSED_OVER = frozenset(
    {"node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages", "bower_components", "target", ".gradle"}
)
"""Folders full of other people's packages, which have such files and are no workspace of anybody."""

SETTLED_NANOSECONDS = 2_000_000_000
"""How old the last change has to be for a listing to be believed later: file systems have coarse clocks, and a further change within one
tick would not show."""


def starts_by_itself(path: PurePath) -> str | None:
    """Why the file is read or run without anybody starting it: in words that follow "because"; None where it is not."""
    names = [compared(part) for part in path.parts]
    for name in names:
        if name in _STARTING_FOLDERS:
            return _STARTING_FOLDERS[name]
        if name.endswith(BARE_REPOSITORY):
            return GIT
        if SHORT_NAME.fullmatch(name):
            return "Windows may take it for another name"
    return _first(names, _STARTING_FILES)


def steers(path: PurePath) -> str | None:
    """Why an edit of that file can run something later or steer a tool: in words that follow "because"; None where it cannot.

    The path is one within a workspace folder, or absolute; a workspace that itself lies below such a folder steers, too.
    """
    names = [compared(part) for part in path.parts]
    below = next((_STEERING_FOLDERS[name] for name in names if name in _STEERING_FOLDERS), None)
    return starts_by_itself(path) or below or _first(names, _STEERING_FILES)


def _first(names: Sequence[str], table: Sequence[tuple[re.Pattern[str], str]]) -> str | None:
    if not names:
        return None
    return next((reason for pattern, reason in table if pattern.match(names[-1])), None)


def _compiled(table: Mapping[str, Sequence[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile("|".join(map(translate, names))), reason) for reason, names in table.items())


_STARTING_FILES = _compiled(FILES_THAT_START)


_STEERING_FILES = _compiled(FILES_THAT_STEER)


@dataclass(frozen=True, slots=True)
class _Listing:
    """A folder as it was."""

    stamp: tuple[int, int, int, int]
    is_settled: bool
    folders: tuple[str, ...]
    starting: tuple[str, ...]


class StartingFiles:
    """Looks through workspace folders, and remembers what it saw. For any thread. Links are not followed."""

    def __init__(self) -> None:
        self._known: dict[Path, dict[str, _Listing]] = {}
        self._in_part: set[Path] = set()

    def below(self, root: Path) -> Sequence[Path]:
        """What is there now, the outermost of each, upper folders first."""
        before, seen = self._known.get(root, {}), dict[str, _Listing]()
        folders = deque([str(root)])
        found: list[Path] = []
        while folders and len(seen) < MOST_FOLDERS:
            folder = folders.popleft()
            listing = _listing(folder, before.get(folder))
            if listing is None:
                continue
            seen[folder] = listing
            found += [Path(folder, name) for name in listing.starting]
            folders += [os.path.join(folder, name) for name in listing.folders]  # noqa: PTH118 - a path object takes ten times as long
        self._known[root] = seen
        (self._in_part.add if folders else self._in_part.discard)(root)
        return found

    def saw_all(self, root: Path) -> bool:
        """Whether `below` looked into all folders when it was last asked."""
        return root not in self._in_part


def _listing(folder: str, known: _Listing | None) -> _Listing | None:
    """The folder as it is; None where it cannot be read."""
    try:
        state = os.lstat(folder)
        stamp = state.st_dev, state.st_ino, state.st_ctime_ns, state.st_mtime_ns
        if known is not None and known.is_settled and known.stamp == stamp:
            return known
        if not stat.S_ISDIR(state.st_mode):
            return None
        is_settled = time.time_ns() - state.st_ctime_ns > SETTLED_NANOSECONDS
        with os.scandir(folder) as inside:
            entries = sorted(inside, key=lambda entry: entry.name)
        starting = tuple(entry.name for entry in entries if _starts(entry.name))
        folders = tuple(
            entry.name
            for entry in entries
            if entry.name not in starting and entry.name not in PASSED_OVER and entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return None
    return _Listing(stamp, is_settled, folders, starting)


@lru_cache(maxsize=20_000)
def _starts(name: str) -> bool:
    return starts_by_itself(PurePath(name)) is not None

"""Where the things lie in a workspace folder that start by themselves (`steering.py`): all folders are looked through, however deep.

It is done before and after each command, so what was listed is remembered. A folder is listed again only where it has changed: adding,
removing and renaming in it sets its ctime, which no program can set to a time of its choice. Asking for that takes some 10 µs a folder.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from ullage.tools.steering import starts_by_itself

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

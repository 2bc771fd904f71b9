"""What a command made new although it starts by itself later (`steering.py`): it is moved out of the workspace after the command.

So is what git would obey in the folder of a repository that was there (`.git/commondir`, hooks where none were).

What was there before is read-only meanwhile (`guarded.py`); a thing that was only moved within the workspace is no new one.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePath

from ullage.tools.sandbox.guarded import missing_in_git
from ullage.tools.steering import MOST_FOLDERS, StartingFiles, starts_by_itself

MOST_TAKEN = 100
"""After one command; more than that is no accident, and the rest is taken after the next."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """One thing that was moved away."""

    path: Path
    to: Path
    reason: str


NOT_ALL = f"{{}} has more than {MOST_FOLDERS:,} folders. Only the upper ones were searched for what it made that starts by itself later"
"""What is said of a workspace folder that is too large."""

SLACK_SECONDS = 2.0
"""How much coarser a file system's times may be than the clock."""


@dataclass(frozen=True, slots=True)
class Before:
    """What there was before a command, and when that was (seconds since 1970)."""

    files: frozenset[tuple[int, int]]
    is_all: bool
    """Whether every folder was looked into."""
    time: float
    missing: frozenset[Path] = frozenset()
    """What git would obey in the folders of the repositories, and was not there."""


def seen_before(roots: Sequence[Path], known: StartingFiles) -> Before:
    """To be called just before the command starts."""
    files = frozenset(_identities(roots, known))
    return Before(files, not not_looked_through(roots, known), time.time(), frozenset(missing_in_git(roots, known)))


def _identities(roots: Sequence[Path], known: StartingFiles) -> Mapping[tuple[int, int], tuple[Path, float]]:
    """What starts by itself in the workspace folders, by the file that it is; each with the time of its last change."""
    found: dict[tuple[int, int], tuple[Path, float]] = {}
    for root in roots:
        for path in known.below(root):
            try:
                seen = path.lstat()
            except OSError:
                continue
            found[seen.st_dev, seen.st_ino] = (path, seen.st_ctime)
    return found


def not_looked_through(roots: Sequence[Path], known: StartingFiles) -> list[str]:
    """What is to be said of workspace folders that are too large to be looked through."""
    return [NOT_ALL.format(root.name) for root in roots if not known.saw_all(root)]


def take_back(
    roots: Sequence[Path], before: Before, allowed: Callable[[Path], bool], quarantine: Path, known: StartingFiles
) -> tuple[TakenBack, ...]:
    """Moves what is new since `before` and not allowed into a folder of its own below `quarantine`.

    Where not every folder was looked at before, what has an older time is not new either.
    """
    new = [
        path
        for identity, (path, changed) in _identities(roots, known).items()
        if identity not in before.files and (before.is_all or changed >= before.time - SLACK_SECONDS) and not allowed(path)
    ]
    new += [path for path in sorted(before.missing) if _is_there_now(path) and not allowed(path)]
    taken: list[TakenBack] = []
    folder = _unused(quarantine) if new else quarantine
    for path in new[:MOST_TAKEN]:
        place = folder / path.relative_to(next(root for root in roots if path.is_relative_to(root)))
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(path, place)
        except (OSError, shutil.Error):
            continue
        taken.append(TakenBack(path, place, starts_by_itself(PurePath(path.name)) or starts_by_itself(path) or ""))
    return tuple(taken)


def _is_there_now(path: Path) -> bool:
    """Whether it is, and is not reached by a link that was put into its way."""
    try:
        return os.path.lexists(path) and path.parent.resolve(strict=True) == path.parent
    except (OSError, RuntimeError):
        return False


def _unused(quarantine: Path) -> Path:
    return next(folder for number in count(1) if not (folder := quarantine / str(number)).exists())

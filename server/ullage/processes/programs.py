"""Finding programs. A folder that somebody else may have filled is never looked in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path


def find_program(name: str, not_in: Sequence[Path]) -> str | None:
    """The absolute path of a program on PATH; None where there is none.

    Passed over are relative entries of PATH (`.`, an empty one), and whatever lies in one of the folders `not_in`, or is a link into them.
    """
    forbidden = [*not_in, *(folder.resolve() for folder in not_in)]
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(entry)
        if not folder.is_absolute():
            continue
        for candidate in _candidates(folder, name):
            if _can_run(candidate) and not _lies_in(candidate, forbidden):
                return str(candidate)
    return None


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    if sys.platform != "win32":
        yield folder / name
        return
    for extension in os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";"):
        yield folder / f"{name}{extension.lower()}"


def _can_run(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def _lies_in(path: Path, folders: Sequence[Path]) -> bool:
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):
        return True
    return any(each.is_relative_to(folder) for each in (path, resolved) for folder in folders)

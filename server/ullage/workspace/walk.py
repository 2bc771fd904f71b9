"""Walking through folders without what is ignored. Symbolic links are shown, never followed: they may lead anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.workspace.ignore import IgnoreRules

Kind: TypeAlias = Literal["file", "folder", "link", "special"]
"""`special` is a pipe, a socket or a device: shown, and never opened."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing in a folder."""

    path: Path
    kind: Kind


def children(folder: Path, rules: IgnoreRules) -> list[Found]:
    """What is in a folder, sorted by name, without what is ignored; empty where it cannot be read (any more)."""
    here = rules.inside(folder)
    try:
        with os.scandir(folder) as entries:
            named: list[tuple[str, Kind]] = [(entry.name, _kind(entry)) for entry in entries]
    except OSError:
        return []
    named.sort()
    return [Found(folder / name, kind) for name, kind in named if not here.ignores(name, is_folder=kind == "folder")]


def walk_files(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """All files under a folder, depth first in order of their names; however deep folders lie in each other."""
    waiting = [Found(start, "folder")]
    while waiting:
        found = waiting.pop()
        if found.kind == "file":
            yield found.path
        elif found.kind == "folder":
            waiting += reversed(children(found.path, rules))


def walk_folders(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """A folder and all folders under it."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        yield folder
        here = rules.inside(folder)
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        waiting += [folder / name for name in names if not here.ignores(name, is_folder=True)]


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"

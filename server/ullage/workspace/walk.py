"""Walking through folders without what is ignored. Symbolic links are shown, never followed: they may lead anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ullage.workspace.ignore import IgnoreRules


@dataclass(frozen=True, slots=True)
class Found:
    """One thing in a folder."""

    path: Path
    kind: Literal["file", "folder", "link"]


def children(folder: Path, rules: IgnoreRules) -> list[Found]:
    """What is in a folder, sorted by name, without what is ignored; empty where it cannot be read (any more)."""
    try:
        with os.scandir(folder) as entries:
            found = [Found(Path(entry.path), _kind(entry)) for entry in entries]
    except OSError:
        return []
    kept = [each for each in found if not rules.ignores_child(each.path, is_folder=each.kind == "folder")]
    return sorted(kept, key=lambda each: each.path.name)


def walk_files(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """All files under a folder, depth first in order of their names."""
    for child in children(start, rules):
        if child.kind == "file":
            yield child.path
        elif child.kind == "folder":
            yield from walk_files(child.path, rules)


def walk_folders(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """A folder and all folders under it."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        yield folder
        waiting += [child.path for child in children(folder, rules) if child.kind == "folder"]


def _kind(entry: os.DirEntry[str]) -> Literal["file", "folder", "link"]:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir(follow_symlinks=False) else "file"

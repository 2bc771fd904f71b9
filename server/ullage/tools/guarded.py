"""What stays as it is in the sandbox although it lies in a folder that commands may write to: what would be run later, outside of it.

- `.git/hooks` and `.git/config` (it names programs: `core.fsmonitor`, `core.hooksPath`, `diff.*.textconv`, aliases) run with the
  user's next git command, and VS Code gives some by itself. `git add`, `commit`, `stash`, `checkout` or `merge` write neither;
  `git config`, `remote add` and setting an upstream do, and say that they could not.
- `.vscode` and `*.code-workspace`: tasks run when a folder is opened, settings name interpreters. No build writes there.
- `.ullage`: the log of what was said is never rewritten.

The edit tools can write to the first two, and ask each time. Only what exists can be bound, and nothing is made in the user's
folders for it: a command can still make a `.vscode` where there is none, a repository in a subfolder, or a `.git/commondir`.
A link in place of a guarded file can be exchanged; where it leads is guarded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.workspace.folders import OWN_FOLDER

GUARDED_NAMES = (OWN_FOLDER, ".vscode")
GUARDED_ENDING = "*.code-workspace"

IN_GIT_FOLDER = ("hooks", "config", "config.worktree", "commondir")
"""What runs programs, or says where the files that do are read (`commondir` of a worktree)."""

POINTER = re.compile(rb"gitdir:[ \t]*([^\n]+?)\s*$")
"""What a file `.git` says in a worktree or a submodule."""

LONGEST_POINTER = 4096
"""Bytes; a path on Linux is no longer."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Paths with their links resolved, each once."""

    read_only: tuple[Path, ...] = ()
    held: tuple[Path, ...] = ()
    """Folders around them, outermost first, that can be written to but not moved away: what is bound cannot be renamed, and moving
    the folder that it lies in would take it out of the way."""


def guarded(roots: Sequence[Path]) -> Guarded:
    """What is guarded in these workspace folders, as they are now."""
    read_only: dict[Path, None] = {}
    held: dict[Path, None] = {}
    for root in roots:
        for path in (*(root / name for name in GUARDED_NAMES), *sorted(root.glob(GUARDED_ENDING))):
            _add(read_only, path)
        if (root / ".git").is_file():
            _add(read_only, root / ".git")
        for top, folder in _git_folders(root / ".git"):
            present = [path for path in (folder / name for name in IN_GIT_FOLDER) if _add(read_only, path)]
            if present:
                held.update(dict.fromkeys(_between(top, folder)))
    return Guarded(tuple(read_only), tuple(sorted(held, key=lambda path: len(path.parts))))


def _add(paths: dict[Path, None], path: Path) -> bool:
    """Whether it exists."""
    try:
        paths[path.resolve(strict=True)] = None
    except (OSError, RuntimeError):  # a link that leads to itself is a RuntimeError before Python 3.13
        return False
    return True


def _git_folders(git: Path) -> Iterator[tuple[Path, Path]]:
    """The repository's own folder, that of all its worktrees if it is another, and those of its submodules.

    Each after the outermost folder that holds it and belongs to git.
    """
    folder = _follow(git)
    if folder is None:
        return
    common = _common(folder)
    for top in dict.fromkeys((common, folder)):
        yield top, top
        for module in _modules(top / "modules"):
            yield top, module


def _follow(git: Path) -> Path | None:
    """The folder itself, or the one that a file in its place names; None where there is none."""
    try:
        if git.is_file():
            with git.open("rb") as file:
                found = POINTER.match(file.read(LONGEST_POINTER))
            if found is None:
                return None
            git = git.parent / os.fsdecode(found.group(1))
        folder = git.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder if folder.is_dir() else None


def _common(folder: Path) -> Path:
    """The folder that a worktree shares with the others; the folder itself where it is no worktree's."""
    try:
        with (folder / "commondir").open("rb") as file:
            named = os.fsdecode(file.read(LONGEST_POINTER).strip())
        common = (folder / named).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return folder
    return common if common.is_dir() else folder


def _modules(folder: Path) -> Iterator[Path]:
    """The folders of submodules below, whose names may have several parts (`libs/tank`); those of their submodules, too."""
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return
    for path in inside:
        if (path / "HEAD").is_file():
            yield path
            yield from _modules(path / "modules")
        else:
            yield from _modules(path)


def _between(top: Path, folder: Path) -> Iterator[Path]:
    """The folders from `top` down to `folder`, both included."""
    yield top
    if folder != top and folder.is_relative_to(top):
        yield from (parent for parent in reversed(folder.parents) if parent != top and parent.is_relative_to(top))
        yield folder

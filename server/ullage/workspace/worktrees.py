"""Worktrees of git: a second folder of the same repository, in which an agent works beside the user.

They stand where VS Code puts its own: in `NAME.worktrees` beside the folder of the repository. A process of its own makes and removes them
(`git_worktrees.py`).
"""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, start
from ullage.workspace.git_status import repository_of

SECONDS = 300
"""How long the process may take: to make the worktree of a very large repository takes minutes."""


class NoWorktree(Exception):
    """Something cannot be done with a worktree; `str()` says why, for the user."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree that was made for a session."""

    top: Path
    """The folder of the repository."""
    folder: Path
    """The folder of the worktree."""
    name: str
    """Its name in git."""
    branch: str
    base: str
    """The commit that it began from."""
    within: str
    """The place of the workspace folder in the repository: a relative path, `.` for the repository itself."""

    @property
    def root(self) -> Path:
        """The folder in the worktree that stands for the workspace folder."""
        return self.folder / self.within

    @property
    def home(self) -> Path:
        """The workspace folder itself, in the main folder of the repository."""
        return self.top / self.within


@dataclass(frozen=True, slots=True)
class WorktreeChange:
    """A file that is different in a worktree from the commit that it began from. `path` is relative to the repository."""

    path: str
    status: Literal["created", "modified", "deleted"]
    changed_at_home: bool
    """Whether it is different from that commit in the main folder, too."""
    base: bytes | None = None
    """The bytes that the commit has, if both sides changed the file and it is not too large; else None."""


@dataclass(frozen=True, slots=True)
class ComparedWorktree:
    """The result of comparing a worktree with the commit that it began from."""

    files: tuple[WorktreeChange, ...]
    more: bool
    """Whether there are more files than are given."""
    commits: int
    """How many commits its branch has by now beyond the one that it began from."""


async def add_worktree(folder: Path, name: str) -> Worktree:
    """Makes a worktree for a workspace folder, on a branch of its own from the last commit. Raises `NoWorktree`."""
    top = await asyncio.to_thread(_repository, folder)
    place = top.parent / f"{top.name}.worktrees" / name
    if os.path.lexists(place):
        raise NoWorktree(f"There is something at {place} already")
    branch = f"ullage/{name}"
    answer = await _ask({"do": "add", "top": str(top), "name": name, "path": str(place), "branch": branch})
    return Worktree(top, place, name, branch, str(answer["base"]), folder.relative_to(top).as_posix())


async def compare_worktree(worktree: Worktree) -> ComparedWorktree:
    """Compares a worktree with the commit that it began from. Raises `NoWorktree`."""
    await asyncio.to_thread(_standing, worktree)
    asked = {"do": "compare", "top": str(worktree.top), "path": str(worktree.folder), "branch": worktree.branch, "base": worktree.base}
    answer = await _ask(asked)
    return ComparedWorktree(tuple(_change(each) for each in answer["files"]), bool(answer["more"]), int(answer["commits"]))


async def remove_worktree(worktree: Worktree) -> bool:
    """Removes a worktree with all that is in it. Gives whether its branch stays, since it has commits. Raises `NoWorktree`."""
    await asyncio.to_thread(_checked, worktree)
    asked = {"do": "remove", "top": str(worktree.top), "name": worktree.name, "path": str(worktree.folder)}
    answer = await _ask({**asked, "branch": worktree.branch, "base": worktree.base})
    return bool(answer["branchStays"])


def _repository(folder: Path) -> Path:
    top, reason = repository_of(folder)
    if top is None:
        raise NoWorktree("This folder is in no git repository, and a worktree is made of one")
    if reason:
        raise NoWorktree(f"No worktree is made of this repository: {reason}")
    return top


def _checked(worktree: Worktree) -> None:
    """Raises `NoWorktree` unless this is a worktree that Ullage made, in a repository that may be opened. The record of it is ours, but the
    repository may have changed since."""
    _repository(worktree.home)
    if worktree.folder.parent != worktree.top.parent / f"{worktree.top.name}.worktrees" or worktree.folder.name != worktree.name:
        raise NoWorktree("This is no worktree that Ullage made")


def _standing(worktree: Worktree) -> None:
    _checked(worktree)
    if not worktree.folder.is_dir() or worktree.folder.is_symlink():
        raise NoWorktree(f"The worktree is gone: {worktree.folder}")


def _change(found: Mapping[str, Any]) -> WorktreeChange:
    base = found.get("base")
    return WorktreeChange(found["path"], found["status"], found["changedHere"], None if base is None else base64.b64decode(base))


async def _ask(asked: Mapping[str, str]) -> Mapping[str, Any]:
    if importlib.util.find_spec("pygit2") is None:
        raise NoWorktree("Worktrees need libgit2, which is not there for this machine")
    process = await start(Asker.WORKTREES, own_python("ullage.workspace.git_worktrees", needs=("pygit2", "_cffi_backend")), feeds=True)
    try:
        async with asyncio.timeout(SECONDS):
            await process.feed(json.dumps(asked).encode())
            answer = json.loads(await process.output.read() or b"{}")
    except (TimeoutError, ValueError) as error:
        raise NoWorktree("libgit2 gave no answer") from error
    finally:
        await process.end()
    if "refused" in answer or not answer:
        raise NoWorktree(str(answer.get("refused", "libgit2 gave no answer")))
    return answer

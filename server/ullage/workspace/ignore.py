"""Walking through folders, and what is left alone when they are walked or watched: what git ignores, and folders that never hold the user's
own text.

Symbolic links are shown, never followed: they may lead anywhere. The user's global git ignore file is not read: it is about tools, not
about the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pathspec import GitIgnoreSpec

from ullage.workspace.folders import OWN_FOLDER
from ullage.workspace.regular_files import TEMPORARY_PREFIX, open_regular

ALWAYS_IGNORED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        OWN_FOLDER,
        "node_modules",
        ".venv",
        "__pycache__",
        ".hypothesis",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
    }
)
"""Names of folders that are ignored wherever they are, with or without git."""

RULES_FILE = ".gitignore"

RULES_BYTES = 1_000_000
"""The most bytes of a rules file; a larger one is left alone."""

PATTERNS = 1_000
"""How many patterns of one rules file count; each takes about 2 µs for every name that is looked at."""

WILDCARDS = 3
"""How many runs of `*` one pattern may have. Each more multiplies the time that a long name can take, by its length: with three it
is some 10 ms, with four almost a second, in which nothing else runs."""

Kind: TypeAlias = Literal["file", "folder", "link", "special"]
"""`special` is a pipe, a socket or a device: shown, and never opened."""


@dataclass(frozen=True, slots=True)
class FolderRules:
    """The rules for the names in one folder that is itself not ignored."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...]
    """The specs, innermost first, since git lets the nearest rule decide. Each comes with the path that leads here from its own folder."""

    def ignores(self, name: str, *, is_folder: bool) -> bool:
        """Whether a file or folder of that name is ignored."""
        if name in ALWAYS_IGNORED if is_folder else name.startswith(TEMPORARY_PREFIX):
            return True
        for before, spec in self.specs:
            ignored = spec.check_file(f"{before}{name}/" if is_folder else f"{before}{name}").include
            if ignored is not None:
                return ignored
        return False


NAMES_ONLY = FolderRules(())


class IgnoreRules:
    """The rules of the folders `roots` and of the git repository around each; without roots, only `ALWAYS_IGNORED`.

    Rules files are read when first needed and kept until `forget`.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)
        self._tops = {root: _git_top(root) or root for root in roots}
        self._folders: dict[Path, FolderRules] = {}

    def inside(self, folder: Path) -> FolderRules:
        """The rules for what is in a folder that is known not to be ignored, as when walking from the top."""
        root = self._root_of(folder)
        return NAMES_ONLY if root is None else self._inside(folder, self._tops[root])

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether an absolute path, or a folder on the way to it from its root, is ignored."""
        root = self._root_of(path)
        if root is None:
            return NAMES_ONLY.ignores(path.name, is_folder=is_folder)
        folder = root
        *way, name = path.relative_to(root).parts or ("",)
        for step in way:
            if self.inside(folder).ignores(step, is_folder=True):
                return True
            folder = folder / step
        return bool(name) and self.inside(folder).ignores(name, is_folder=is_folder)

    def below(self, start: Path) -> IgnoreRules:
        """The rules for a walk from `start`. If that is itself ignored and was named all the same, git's rules do not count."""
        return IgnoreRules(()) if self.ignores(start, is_folder=True) else self

    def forget(self) -> None:
        """Has rules files read anew when they are next needed; to be called when one changed."""
        self._folders.clear()

    def _root_of(self, path: Path) -> Path | None:
        return next((root for root in self._roots if path.is_relative_to(root)), None)

    def _inside(self, folder: Path, top: Path) -> FolderRules:
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = FolderRules(tuple(self._specs(folder, top)))
        return known

    def _specs(self, folder: Path, top: Path) -> Iterator[tuple[str, GitIgnoreSpec]]:
        own = _parse(folder / RULES_FILE)
        if own is not None:
            yield "", own
        if folder != top:
            for before, spec in self._inside(folder.parent, top).specs:
                yield f"{before}{folder.name}/", spec
            return
        exclude = _parse(top / ".git" / "info" / "exclude")
        if exclude is not None:
            yield "", exclude


def _parse(file: Path) -> GitIgnoreSpec | None:
    if not os.path.lexists(file):  # as in most folders: that is one question, and to open it is one for each folder on the way
        return None
    try:
        with open_regular(file) as opened:  # git follows no links here either
            data = opened.read(RULES_BYTES + 1)
    except OSError:
        return None
    if len(data) > RULES_BYTES:
        return None
    lines = [line for line in data.decode("utf-8", errors="replace").splitlines() if line and not line.startswith("#")]
    lines = [line for line in lines if is_cheap(line)][:PATTERNS]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # one line that git would pass over must not turn the others off
        return GitIgnoreSpec.from_lines([line for line in lines if _is_valid(line)])


def is_cheap(pattern: str) -> bool:
    """Whether matching a pattern is quick, whatever it is matched with. Repositories and models bring patterns, too."""
    return len(re.findall(r"\*+", pattern)) <= WILDCARDS


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _git_top(folder: Path) -> Path | None:
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


@dataclass(frozen=True, slots=True)
class FolderItem:
    """One thing in a folder."""

    path: Path
    kind: Kind


def children(folder: Path, rules: IgnoreRules) -> list[FolderItem]:
    """The things in a folder, sorted by name, without what is ignored; empty if it cannot be read (any more)."""
    here = rules.inside(folder)
    try:
        with os.scandir(folder) as entries:
            named: list[tuple[str, Kind]] = [(entry.name, _kind(entry)) for entry in entries]
    except OSError:
        return []
    named.sort()
    return [FolderItem(folder / name, kind) for name, kind in named if not here.ignores(name, is_folder=kind == "folder")]


def walk_files(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """All files under a folder that are not ignored, depth first in order of their names; however deep folders lie in each other."""
    waiting = [FolderItem(start, "folder")]
    while waiting:
        found = waiting.pop()
        if found.kind == "file":
            yield found.path
        elif found.kind == "folder":
            waiting += reversed(children(found.path, rules))


def walk_folders(start: Path, rules: IgnoreRules) -> Iterator[Path]:
    """A folder and all folders under it that are not ignored."""
    return (folder for folder, is_ignored in meet_folders(start, rules) if not is_ignored)


def meet_folders(start: Path, rules: IgnoreRules) -> Iterator[tuple[Path, bool]]:
    """A folder and all folders under it, each with whether it is ignored. Folders in an ignored one are left out."""
    waiting = [(start, False)]
    while waiting:
        folder, is_ignored = waiting.pop()
        yield folder, is_ignored
        if is_ignored:
            continue
        here = rules.inside(folder)
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        waiting += [(folder / name, here.ignores(name, is_folder=True)) for name in names]


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"

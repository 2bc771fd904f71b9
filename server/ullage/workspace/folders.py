"""Which folders the agent may touch, and where a path that it names leads.

`Folders.resolve` gives a path without links. Opening a file at exactly that place is the business of `regular_files.py`, what git ignores
that of `ignore.py`, and what stands in a file that of `files.py`.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ullage.platforms.names import trap_in
from ullage.platforms.system import HERE

OWN_FOLDER = ".ullage"
"""The folder in the workspace in which earlier versions kept what is now kept outside of it. Records of then name files below it."""


@lru_cache(maxsize=10_000)  # each prompt asks about the same few folders dozens of times
def compared(name: str) -> str:
    """A file's name as the most forgiving file system reads it: without case, and without what HFS+ or NTFS take for nothing.

    To find out whether a name may be one of those that are guarded; names that differ may come out the same.
    """
    seen = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return seen.partition(":")[0].rstrip(" .").casefold()


class OutsideWorkspace(Exception):
    """A path that the agent may not touch. The message is for the model and names the path as it was given."""


@dataclass(frozen=True, slots=True)
class RecordsFolder:
    """The folder of Ullage's own records of the workspace, outside of it. In its folders `readable` the agent may read: they hold plain
    copies of what it was told. The rest it gets at with `recall` only."""

    folder: Path
    readable: frozenset[str]


class Folders:
    """The workspace folders. The first one is where relative paths and commands start."""

    def __init__(self, roots: Sequence[Path], kept: RecordsFolder | None = None, private: Sequence[Path] = ()) -> None:
        self.roots: tuple[Path, ...] = tuple(root.resolve() for root in roots)
        self.kept = kept
        self.private: tuple[Path, ...] = tuple(path.resolve() for path in private)
        """Folders of the server's own, with what is kept of all workspaces and what the user allowed. They may lie in a workspace folder
        (where that is the home folder): nobody else writes there, and of them the agent reads no more than `kept` says."""

        self._private_inside = any(self.contains(folder) for folder in self.private)
        self.home: HomeFolder | None = None
        """The user's home folder, with files of theirs for all workspaces; None if these are not read."""
        self.lent: tuple[Path, ...] = ()
        """Folders outside of these that the agent may read, and never write: those of the user's own skills, as they are named and where
        they lie."""

    def follow(self, removed: Sequence[Path], added: Sequence[Path]) -> None:
        """The editor has other workspace folders now. What was removed is out of reach at once.

        Where the first one is removed nothing is in reach any more: relative paths, and what is kept of the workspace, go by it.
        """
        gone = {root.resolve() for root in removed}
        if not self.roots or self.roots[0] in gone:
            self.roots = ()
        else:
            more = (root.resolve() for root in added)
            self.roots = tuple(dict.fromkeys((*(root for root in self.roots if root not in gone), *more)))
        self._private_inside = any(self.contains(folder) for folder in self.private)

    @property
    def first(self) -> Path | None:
        """The first folder; None in a window without one."""
        return self.roots[0] if self.roots else None

    def contains(self, path: Path) -> bool:
        """Whether an absolute path with its links resolved lies in one of the folders (or is one)."""
        return any(path.is_relative_to(root) for root in self.roots)

    def show(self, path: Path) -> str:
        """The path as the model and the user see it: relative to the first folder, else absolute; always with `/`."""
        if self.first is not None and path.is_relative_to(self.first):
            return path.relative_to(self.first).as_posix()
        return path.as_posix()

    def named(self, path: Path) -> str | None:
        """The path, beginning with the name of its workspace folder, as the editor names it (`project/src`). Absolute if another folder has
        that name, too; None if it lies outside of them all."""
        root = next((root for root in self.roots if path.is_relative_to(root)), None)
        if root is None:
            return None
        is_only = [each.name for each in self.roots].count(root.name) == 1 and root.name != ""
        return (Path(root.name) / path.relative_to(root) if is_only else path).as_posix()

    def resolve(self, name: str) -> Path:
        """The path that a name leads to, links resolved; it need not exist. The name is absolute, or relative to the first folder.

        Raises `OutsideWorkspace` for everything that the agent may not read.
        """
        if self.first is None:
            raise OutsideWorkspace("No folder is open, so there are no files to work with. Ask the user to open a folder.")
        trap = trap_in(name, self.roots, HERE)
        if trap is not None:
            raise OutsideWorkspace(f"`{name}` is not a usable path: {trap}")
        try:
            path = self._lexically(self.first, name).resolve()
            leads_nowhere = path.is_symlink()  # from Python 3.13 on, a link that leads to itself comes back as it is
        except (OSError, RuntimeError, ValueError) as error:
            raise OutsideWorkspace(f"`{name!r}` is not a usable path: {error}") from error
        if leads_nowhere:
            raise OutsideWorkspace(f"`{name}` is not a usable path: it is a link that leads nowhere")
        if self._is_readable_record(path) or self._is_lent(path):
            return path
        if self._is_own_record(path):
            raise OutsideWorkspace(f"`{name}` belongs to Ullage itself. Use `recall` for what was said")
        if not self.contains(path):
            raise OutsideWorkspace(f"`{name}` is outside the workspace. Only files in {self._named()} can be used")
        return path

    def resolve_for_writing(self, name: str) -> Path:
        """Like `resolve`, and refuses Ullage's own records too: records are never rewritten."""
        path = self.resolve(name)
        if self._is_own_record(path) or self._is_readable_record(path):
            raise OutsideWorkspace(f"`{name}` belongs to Ullage's own records, which are never changed")
        if not self.contains(path):
            raise OutsideWorkspace(f"`{name}` is outside the workspace. Only files in {self._named()} can be used")
        return path

    def is_private(self, path: Path) -> bool:
        """Whether an absolute path with its links resolved lies in one of the server's own folders (or is one), as one compares names."""
        parts = _compared_parts(path)
        return any(parts[: len(folder.parts)] == _compared_parts(folder) for folder in self.private)

    def hides(self, path: Path) -> bool:
        """Whether a path with its links resolved is left out of listings and searches: it lies in one of the server's own folders, which is
        in a workspace folder here, and it is not one of the plain copies that the agent may read."""
        return self._private_inside and self.is_private(path) and not self._is_readable_record(path)

    def _lexically(self, first: Path, name: str) -> Path:
        """The path that the name stands for, links not resolved. If records of earlier versions name a file in `.ullage`, the kept copy is
        meant."""
        path = first / Path(name).expanduser()
        old = first / OWN_FOLDER
        plain = Path(os.path.normpath(path))
        if self.kept is not None and plain != old and plain.is_relative_to(old):
            return self.kept.folder / plain.relative_to(old)
        return path

    def _is_readable_record(self, path: Path) -> bool:
        if self.kept is None or not path.is_relative_to(self.kept.folder):
            return False
        inside = path.relative_to(self.kept.folder).parts
        return bool(inside) and inside[0] in self.kept.readable

    def _is_lent(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self.lent) and not self.is_private(path)

    def _is_own_record(self, path: Path) -> bool:
        if self.is_private(path) or (self.kept is not None and path.is_relative_to(self.kept.folder)):
            return True
        return OWN_FOLDER in self._parts_below_folders(path)

    def _parts_below_folders(self, path: Path) -> list[str]:
        """The names on the way to the path from its workspace folder (included), as one compares them."""
        below = [path.relative_to(root.parent).parts for root in self.roots if path.is_relative_to(root)]
        return [compared(part) for part in max(below, key=len, default=path.parts)]

    def _named(self) -> str:
        return ", ".join(f"`{root.as_posix()}`" for root in self.roots)


class HomeFolder(Folders):
    """The user's home folder, as a place of files of their own. This does not let the agent reach anything in it."""

    def __init__(self, path: Path, private: Sequence[Path] = ()) -> None:
        super().__init__([path], private=private)
        self.path = self.roots[0]

    def show(self, path: Path) -> str:
        """The path as the model and the user see it: `~/.claude/CLAUDE.md`."""
        return f"~/{path.relative_to(self.path).as_posix()}" if path.is_relative_to(self.path) else path.as_posix()

    def _is_own_record(self, path: Path) -> bool:
        return self.is_private(path)


def home_beside(folders: Folders) -> HomeFolder | None:
    """The user's home folder; None if there is none, or if it lies in the workspace: its files are the workspace's then."""
    try:
        home = HomeFolder(Path.home(), folders.private)
    except (OSError, RuntimeError):
        return None
    return None if folders.contains(home.path) else home


def _compared_parts(path: Path) -> tuple[str, ...]:
    return tuple(map(compared, path.parts))

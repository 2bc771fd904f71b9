"""Walking through the workspace folders: every file with a stamp, which is another one once the file was written.

A stamp is made of what `stat` says of a file. It costs no reading, so a walk is quick (`bench/scans.py` measures it). No link is followed.
What git ignores is met at its top and not walked into, so that a change there can at least be named.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.workspace.folders import Folders
from ullage.workspace.ignore import ALWAYS_IGNORED, RULES_FILE, FolderRules, IgnoreRules
from ullage.workspace.regular_files import Regulars
from ullage.workspace.text_file import FileTooLarge

MOST_FILES = 50_000
"""The most files of a walk. One that meets more is given up: it would take half a second before and after every command."""

SETTLED_NS = 2_000_000_000
"""How long (nanoseconds) after it was written a file may be written again and keep its stamp: file systems count time in steps, of 2 s at
most."""

MetKind: TypeAlias = Literal["file", "ignored", "link"]
"""`ignored` is a file or a folder that git ignores (the folder's path ends with `/`)."""


class TooManyFiles(Exception):
    """The workspace has more than `MOST_FILES` files."""


@dataclass(frozen=True, slots=True)
class Met:
    """One thing in the workspace: its absolute path, and its stamp. The name of a file may hold bytes that are no UTF-8."""

    path: str
    kind: MetKind
    stamp: str


class Walker:
    """Walks through the folders of one workspace again and again. Whether a name is ignored is decided once, until a rules file changes."""

    def __init__(self, folders: Folders, most_files: int = MOST_FILES) -> None:
        self._folders = folders
        self._most_files = most_files
        self._roots: tuple[Path, ...] = ()
        self._rules = IgnoreRules(())
        self._rules_files: dict[str, str] | None = None
        """The stamp of each rules file that counted; None before the first walk, which reads them all."""
        self._decided: dict[str, tuple[FolderRules, dict[str, bool]]] = {}

    def walk(self) -> list[Met]:
        """All things that are in the workspace now. Raises `TooManyFiles`."""
        if self._roots != self._folders.roots:
            self._forget()
        met = list(self._all())
        found = _rules_files(met, self._roots)
        is_first, is_other = self._rules_files is None, found != self._rules_files
        self._rules_files = found
        if is_other and not is_first:
            self._forget()
            met = list(self._all())
        return met

    def _forget(self) -> None:
        self._rules_files = None if self._roots != self._folders.roots else self._rules_files
        self._roots = self._folders.roots
        self._rules = IgnoreRules(self._roots)
        self._decided.clear()

    def _all(self) -> Iterator[Met]:
        waiting = [str(root) for root in self._roots]
        walked = set[str]()
        files = 0
        while waiting:
            folder = waiting.pop()
            if folder in walked or self._folders.hides(Path(folder)):
                continue
            walked.add(folder)
            for met in self._inside(folder, waiting):
                files += 1
                if files > self._most_files:
                    raise TooManyFiles
                yield met

    def _inside(self, folder: str, waiting: list[str]) -> Iterator[Met]:
        if folder not in self._decided:
            self._decided[folder] = (self._rules.inside(Path(folder)), {})
        rules, decided = self._decided[folder]
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    ignored = decided.get(entry.name)
                    if ignored is None:
                        ignored = decided[entry.name] = rules.ignores(entry.name, is_folder=is_folder)
                    if is_folder and not ignored:
                        waiting.append(entry.path)
                    elif not is_folder or entry.name not in ALWAYS_IGNORED:
                        met = _met(entry, ignored=ignored, is_folder=is_folder)
                        if met is not None:
                            yield met
        except OSError:  # it vanished, or may not be read
            return


def _met(entry: os.DirEntry[str], *, ignored: bool, is_folder: bool) -> Met | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    if is_folder:
        return Met(f"{entry.path}/", "ignored", str(status.st_mtime_ns))
    if stat.S_ISLNK(status.st_mode):
        return Met(entry.path, "ignored" if ignored else "link", stamp_of(status))
    if not stat.S_ISREG(status.st_mode):
        return None
    return Met(entry.path, "ignored" if ignored else "file", stamp_of(status))


def _rules_files(met: list[Met], roots: tuple[Path, ...]) -> dict[str, str]:
    found = {each.path: each.stamp for each in met if each.path.endswith(RULES_FILE)}
    for root in roots:
        for parent in (root, *root.parents):
            for path in (parent / RULES_FILE, parent / ".git" / "info" / "exclude"):
                try:
                    found[str(path)] = stamp_of(path.lstat())
                except OSError:
                    continue
            if (parent / ".git").exists():
                break
    return found


def stamp_of(status: os.stat_result) -> str:
    """The stamp of a file: its size, times and file number, and whether its owner may run it."""
    executable = "x" if status.st_mode & 0o100 else "-"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino} {executable}"


def size_in(stamp: str) -> int:
    """The size that a stamp tells (bytes)."""
    return int(stamp.partition(" ")[0])


def is_executable(stamp: str) -> bool:
    """Whether the stamp says that the file's owner could run it."""
    return stamp.endswith("x")


def read_as_stamped(met: Met, most: int, files: Regulars) -> tuple[bytes, bool]:
    """The bytes of a file that was met, and whether the stamp stands for them: if not, they have to be read again next time.

    Raises `FileTooLarge` for more than `most` bytes, and `OSError`, also if a link stands there by now.
    """
    if size_in(met.stamp) > most:
        raise FileTooLarge
    data, status = files.read(met.path, most)
    if len(data) > most:
        raise FileTooLarge
    _, mtime, ctime, *_ = met.stamp.split(" ")
    same = status.st_size == len(data) == size_in(met.stamp) and str(status.st_mtime_ns) == mtime
    return data, same and max(int(mtime), int(ctime)) < time.time_ns() - SETTLED_NS

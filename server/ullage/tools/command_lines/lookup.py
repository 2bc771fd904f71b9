"""Where the words of a command lead on the disk before it runs: which program its name is, and which files its operands are.

A word stays inside where everything in it that could be a path leads to a file or folder below the one workspace folder that the
command runs in, links followed. What has `*` or `?` is expanded here, too: to no less than what a shell could make of it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from pathlib import Path

from ullage.tools.command_lines.parsing import Word

BUILT_IN = frozenset({"cd", "command", "echo", "false", "pwd", "true"})
"""Commands that every shell of POSIX has itself. One without a `false` or `true` of its own looks these up."""

STARTS = {"egrep": "grep", "fgrep": "grep"}
"""Programs that are scripts, and the program that each looks up in turn."""

MOST_LOOKUPS = 400
"""The most paths that are resolved for one line, so that judging it takes a few milliseconds at most."""

MOST_NAMES = 3_000
"""The most names of files that are looked at to expand the globs of one line."""

DEEPEST = 40
"""The most names in one path."""

LONGEST_GLOB = 1_000
"""The most characters of a word with `*` or `?`: Python needs a minute to read one of 40,000 with as many open brackets."""

MOST_FOLDERS = 8
"""The most folders in which a command could run, after several `cd`."""

_INSTALLED = frozenset({"node_modules", "site-packages", "vendor", "third_party"})
"""Folders with code of others, which no rule of the user's was written for."""

_SEPARATORS = re.compile(r"[=:,]")

_ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://[^/].*", re.IGNORECASE)
"""An address of the network. Whether it may be reached is another question."""

_GLOBS = frozenset("*?")


def is_of_the_system(name: str, search_path: str, workspaces: tuple[Path, ...]) -> bool:
    """Whether the first program of that name lies outside of the workspace, by its own place and with links followed.

    True if there is none: then nothing runs. False if a relative place (`.`, or nothing) comes before it in the search path: that is a
    place in the workspace.
    """
    if name in BUILT_IN:
        return True
    if name in STARTS and not is_of_the_system(STARTS[name], search_path, workspaces):
        return False
    for place in search_path.split(os.pathsep):
        folder = Path(place)
        if not folder.is_absolute():
            return False
        program = folder / name
        if not os.path.lexists(program):
            continue
        if any(_is_in(program, workspace) for workspace in workspaces):
            return False
        if program.is_file() and os.access(program, os.X_OK):
            return True
    return True


def _is_in(program: Path, workspace: Path) -> bool:
    folder = Path(os.path.realpath(program.parent))
    return any(each.is_relative_to(workspace) for each in (program, folder, Path(os.path.realpath(program))))


class TooMuchToJudge(Exception):
    """Judging the line would take longer than it is worth."""


class Operands:
    """Resolves the words of one line against a workspace folder."""

    def __init__(self, folder: Path) -> None:
        self._root = os.path.realpath(folder)
        self._lookups = MOST_LOOKUPS
        self._names = MOST_NAMES

    @property
    def start(self) -> frozenset[str]:
        """The one folder in which the first command of the line runs."""
        return frozenset({self._root})

    def enter(self, text: str, folders: AbstractSet[str]) -> frozenset[str] | None:
        """The folders in which the next command could run after `cd` to that place, which may have failed; None if it leads out. Raises
        `TooMuchToJudge`."""
        if not text or not self.is_inside(text, folders):
            return None
        entered = {self._real(folder, text) for folder in folders}
        together = frozenset(folders | {path for path in entered if path is not None})
        if len(together) > MOST_FOLDERS:
            raise TooMuchToJudge
        return together

    def is_inside(self, text: str, folders: AbstractSet[str], *, only_files: bool = False) -> bool:
        """Whether the word, as a path or with paths in it, stays in the workspace folder wherever the command runs.

        Devices and pipes count as outside; with `only_files` so do folders. Raises `TooMuchToJudge`.
        """
        if text == "/dev/null":
            return True
        if text.startswith(("-", "@", "!")) and text != "-":
            return False
        places = [found.end() for found in _SEPARATORS.finditer(text)]
        ends = [place - 1 for place in places]
        pieces = {text, *(text[place:] for place in places), *(text[:end] for end in ends)}
        pieces |= {text[place:end] for place, end in zip(places, ends[1:], strict=False)}
        return all(self._leads_inside(piece, folders, only_files) for piece in pieces)

    def stays(self, word: Word, folders: AbstractSet[str]) -> bool:
        """Whether nothing in a word of any command leads out of the workspace folder: as a path, in a value of an option, or as a file that
        stands behind `@`. Raises `TooMuchToJudge`."""
        texts = self.expanded(word, folders)
        return texts is not None and all(self._stays(text, folders) for text in texts)

    def _stays(self, text: str, folders: AbstractSet[str]) -> bool:
        if text == "/dev/null" or not text or _ADDRESS.fullmatch(text):
            return True
        pieces = {text, *_SEPARATORS.split(text), *(text[found.end() :] for found in _SEPARATORS.finditer(text))}
        if text.startswith("-"):
            pieces |= {text.lstrip("-"), text[2:]}
            absolute = f"/{text.partition('/')[2]}"  # of `-xf/etc/passwd`, but not of `-Isrc/a`
            if "/" in text and (os.path.lexists(absolute) or (len(Path(absolute).parts) > 2 and Path(absolute).parent.exists())):
                pieces.add(absolute)
        pieces |= {piece.lstrip("@!") for piece in pieces}
        return all(self._leads_inside(piece, folders, only_files=False) for piece in pieces if piece)

    def may_name(self, word: Word, folders: AbstractSet[str]) -> bool:
        """Whether a word could be a path, or is the name of something in one of the folders. A value of an option counts, too. Raises
        `TooMuchToJudge`."""
        if word.has_glob:
            return True
        if not word.text or _ADDRESS.fullmatch(word.text):
            return False
        pieces = {word.text, *_SEPARATORS.split(word.text)}
        pieces |= {word.text[2:]} if word.text.startswith("-") else set()
        pieces |= {piece.lstrip("-@!") for piece in pieces}
        return any(self._is_place(piece, folder) for piece in pieces if piece for folder in folders)

    def _is_place(self, piece: str, folder: str) -> bool:
        if "/" in piece or "\\" in piece or piece in (".", ".."):
            return True
        self._lookups -= 1
        if self._lookups < 0:
            raise TooMuchToJudge
        return os.path.lexists(Path(folder, piece))

    def within_project(self, folder: str) -> str:
        """The path of a folder relative to the workspace folder that it lies in; empty if it belongs to something else: a repository of its
        own, installed packages, or a hidden folder."""
        path = Path(folder).relative_to(self._root)
        if any(name.startswith(".") or name in _INSTALLED for name in path.parts):
            return ""
        is_own = all(not os.path.lexists(Path(self._root, *path.parts[: end + 1], ".git")) for end in range(len(path.parts)))
        return path.as_posix() if is_own else ""

    def expanded(self, word: Word, folders: AbstractSet[str]) -> list[str] | None:
        """The words that a shell may put in the place of this one, itself among them; None if the word is not followed."""
        if not word.has_glob:
            return [word.text]
        names = word.text.split("/")
        if (
            len(word.text) > LONGEST_GLOB
            or word.text.startswith("/")
            or any("**" in name or (name.startswith(".") and _has_glob(name)) for name in names)
        ):
            return None
        found = [word.text]
        for folder in folders:
            matches = self._matches(folder, names)
            if matches is None:
                return None
            found += matches
        return found

    def _matches(self, folder: str, names: list[str]) -> list[str] | None:
        begun = [""]
        for name in names:
            if not _has_glob(name):
                begun = [f"{start}{name}/" for start in begun]
                continue
            longer: list[str] = []
            for start in begun:
                if not self._leads_inside(start, frozenset({folder}), only_files=False):
                    return None
                longer += [f"{start}{entry}/" for entry in self._entries(f"{folder}/{start}") if fnmatchcase(entry, name)]
            begun = longer
        return [path.removesuffix("/") for path in begun]

    def _entries(self, folder: str) -> list[str]:
        found: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._names -= 1
                    if self._names < 0:
                        raise TooMuchToJudge
                    found.append(entry.name)
        except OSError:
            return []
        return found

    def _leads_inside(self, piece: str, folders: AbstractSet[str], only_files: bool) -> bool:
        names = piece.split("/")
        if "\\" in piece or "\0" in piece or piece.startswith("~") or any(map(_is_above, names)) or len(names) > DEEPEST:
            return False
        return all(self._is_good(folder, piece, only_files) for folder in folders)

    def _is_good(self, folder: str, piece: str, only_files: bool) -> bool:
        real = self._real(folder, piece)
        if real is None or not _is_below(real, self._root):
            return False
        try:
            mode = os.lstat(real).st_mode
        except OSError as error:
            return isinstance(error, (FileNotFoundError, NotADirectoryError))
        if only_files and stat.S_ISDIR(mode):
            return not piece or piece == "-"
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    def _real(self, folder: str, piece: str) -> str | None:
        self._lookups -= 1
        if self._lookups < 0:
            raise TooMuchToJudge
        try:
            return os.path.realpath(Path(folder, piece))
        except (OSError, ValueError):
            return None


def _is_above(name: str) -> bool:
    """Whether a name leads to the folder above: `..`, and `.. `, which Windows takes for it. A name like `...` means all that is below to
    go, which is fine."""
    return name.rstrip(" ") == ".." or ({" ", "."} <= set(name) and not name.strip(" ."))


def _has_glob(name: str) -> bool:
    return not _GLOBS.isdisjoint(name)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)

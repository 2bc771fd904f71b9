"""What would be run later, outside of the sandbox: it stays as it is where it was there, and is taken back where a command made it new.

Guarded, although it lies in a folder that commands may write to, is:

- What starts by itself (`steering.py`): folders and files of editors, agents, shells, hooks and build servers.
- Of each repository the hooks and the configuration, which names programs (`core.fsmonitor`, `diff.*.textconv`, aliases), and what of
  the workspace its configuration names (`core.hooksPath`). `git add`, `commit`, `stash`, `checkout` or `merge` write none of it;
  `git config`, `remote add` and setting an upstream do, and say that they could not.
- The server's own folders, where the home folder is opened and they lie in it: the log of what was said is never rewritten, and nothing
  is allowed in the user's name. So `.ullage`, where earlier versions kept them.

Only what exists can be bound. A link in place of a guarded file can be exchanged; where it leads is guarded.

What a command made new is moved out of the workspace after it (`take_back`), and so is what git would obey in the folder of a repository
that was there (`.git/commondir`, hooks where none were). A thing that was only moved within the workspace is no new one.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePath

from ullage.tools.steering import MOST_FOLDERS, StartingFiles, starts_by_itself
from ullage.workspace.folders import OWN_FOLDER
from ullage.workspace.regular_files import open_regular

MOST_GUARDED = 400
"""How many things are guarded one by one; each is a mount."""

NAMES_PROGRAM = re.compile(
    rb"^\s*(?:\[[^\]\n]*\])?\s*(?:(?:hookspath|fsmonitor|sshcommand|editor|pager|program|textconv|command|driver|clean|smudge|process|helper"
    rb"|path|askpass|cmd|gitproxy|attributesfile|templatedir|external)\s*=|\w[\w-]*\s*=\s*\"?!)([^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines of git's configuration whose value is a program or a file; aliases that begin with `!`."""

IN_GIT_FOLDER = ("hooks", "config", "config.worktree", "commondir")
"""The names in a folder of git that run programs, or say where such files are read (`commondir` of a worktree)."""

POINTER = re.compile(rb"gitdir:[ \t]*([^\n]+?)\s*$")
"""The text of a file `.git` in a worktree or a submodule."""

LONGEST_CONFIGURATION = 1_000_000
"""How many bytes of a configuration are read."""

LONGEST_POINTER = 4096
"""How many bytes of a file that names a path are read; a path on Linux is no longer."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """The paths that are guarded, with their links resolved, each once."""

    read_only: tuple[Path, ...] = ()
    held: tuple[Path, ...] = ()
    """Folders around them, outermost first, that can be written to but not moved away: what is bound cannot be renamed, and moving
    the folder that it lies in would take it out of the way."""


def guarded(
    roots: Sequence[Path],
    private: Sequence[Path] = (),
    allowed: Callable[[Path], bool] = lambda path: False,
    known: StartingFiles | None = None,
) -> Guarded:
    """The paths that are guarded in these workspace folders, as they are now, without those that are `allowed` to be changed.

    `private` are the server's own folders (`Folders.private`), `known` the files that were seen before.
    """
    known = known or StartingFiles()
    read_only: dict[Path, None] = {}
    held: dict[Path, None] = {}
    for path in private:
        _add(read_only, path)
    for root in roots:
        for path in [root / OWN_FOLDER, *known.below(root)][:MOST_GUARDED]:
            if allowed(path) and path.name != OWN_FOLDER:
                continue
            if path.name != ".git":
                _add(read_only, path)
                continue
            if path.is_file():
                _add(read_only, path)
            for top, folder in _git_folders(path):
                present = [inside for inside in (folder / name for name in IN_GIT_FOLDER) if _add(read_only, inside)]
                if present:
                    held.update(dict.fromkeys(_between(top, folder)))
                for named in _named_by(folder / "config", path.parent):
                    _add(read_only, named)
                    held.update(dict.fromkeys(list(_between(path.parent, named.parent))[1:]))
    return Guarded(tuple(read_only), tuple(sorted(held, key=lambda path: len(path.parts))))


def missing_in_git(roots: Sequence[Path], known: StartingFiles) -> Iterator[Path]:
    """The paths of a repository's hooks and configuration at which nothing is. They cannot be bound, and git would obey what comes there.

    Only in the workspace folders: elsewhere no command can write, and what comes there meanwhile is the user's.
    """
    for root in roots:
        for git in [path for path in known.below(root) if path.name == ".git"][:MOST_GUARDED]:
            for _, folder in _git_folders(git):
                if any(folder.is_relative_to(each) for each in roots):
                    yield from (inside for inside in (folder / name for name in IN_GIT_FOLDER) if not os.path.lexists(inside))


def _named_by(configuration: Path, folder: Path) -> Iterator[Path]:
    """The files and folders in the working tree that a configuration of git names, as far as they exist."""
    try:
        with open_regular(configuration.resolve(strict=True)) as file:
            text = file.read(LONGEST_CONFIGURATION)
    except OSError:
        return
    for value in NAMES_PROGRAM.findall(text):
        for word in os.fsdecode(value).replace('"', " ").replace("'", " ").replace("!", " ").replace("=", " ").split():
            try:
                named = (folder / word).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                continue
            if named != folder and named.is_relative_to(folder) and ".git" not in named.relative_to(folder).parts:
                yield named


def _add(paths: dict[Path, None], path: Path) -> bool:
    """Adds a path, links resolved, if it exists; gives whether it does."""
    try:
        paths[path.resolve(strict=True)] = None
    except (OSError, RuntimeError):  # a link that leads to itself is a RuntimeError before Python 3.13
        return False
    return True


def _git_folders(git: Path) -> Iterator[tuple[Path, Path]]:
    """The repository's own folder, that of all its worktrees if it is another, and those of its submodules and worktrees.

    Each comes after the outermost folder that holds it and belongs to git.
    """
    folder = _follow(git)
    if folder is None:
        return
    common = _common(folder)
    for top in dict.fromkeys((common, folder)):
        yield top, top
        for module in (*_modules(top / "modules"), *_modules(top / "worktrees")):
            yield top, module


def _follow(git: Path) -> Path | None:
    """The folder of a repository: the path itself, or the folder that a file in its place names. None if there is none."""
    try:
        if git.is_file():
            with open_regular(git.resolve()) as file:
                found = POINTER.match(file.read(LONGEST_POINTER))
            if found is None:
                return None
            git = git.parent / os.fsdecode(found.group(1))
        folder = git.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder if folder.is_dir() else None


def _common(folder: Path) -> Path:
    """The folder that a worktree shares with the others; the folder itself if it is no worktree's."""
    try:
        with open_regular((folder / "commondir").resolve()) as file:
            named = os.fsdecode(file.read(LONGEST_POINTER).strip())
        common = (folder / named).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return folder
    return common if common.is_dir() else folder


def _modules(folder: Path) -> Iterator[Path]:
    """The folders of submodules in that folder, whose names may have several parts (`libs/tank`); those of their submodules, too."""
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


# What a command made new

MOST_TAKEN = 100
"""How many files and folders are moved away after one command. More is no accident, and the rest is taken after the next."""


@dataclass(frozen=True, slots=True)
class MovedAway:
    """A file or folder that was moved away, and why. `reason` may be empty."""

    path: Path
    to: Path
    reason: str


NOT_ALL = f"{{}} has more than {MOST_FOLDERS:,} folders. Only the upper ones were searched for what it made that starts by itself later"
"""The remark about a workspace folder that is too large."""

SLACK_SECONDS = 2.0
"""How much coarser a file system's times may be than the clock."""


@dataclass(frozen=True, slots=True)
class Before:
    """The files that start by themselves as they were before a command, and when that was (seconds since 1970)."""

    files: frozenset[tuple[int, int]]
    is_all: bool
    """Whether every folder was looked into."""
    time: float
    missing: frozenset[Path] = frozenset()
    """The paths in the folders of the repositories that git would obey, and at which nothing was."""


def seen_before(roots: Sequence[Path], known: StartingFiles) -> Before:
    """Looks which files start by themselves. To be called just before the command starts."""
    files = frozenset(_identities(roots, known))
    return Before(files, not not_looked_through(roots, known), time.time(), frozenset(missing_in_git(roots, known)))


def _identities(roots: Sequence[Path], known: StartingFiles) -> Mapping[tuple[int, int], tuple[Path, float]]:
    """The files that start by themselves in the workspace folders, by device and inode; each with its path and the time of its last
    change."""
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
    """The remarks about workspace folders that are too large to be looked through."""
    return [NOT_ALL.format(root.name) for root in roots if not known.saw_all(root)]


def take_back(
    roots: Sequence[Path], before: Before, allowed: Callable[[Path], bool], quarantine: Path, known: StartingFiles
) -> tuple[MovedAway, ...]:
    """Moves the files that are new since `before` and not allowed into a folder of its own below `quarantine`; gives what was moved.

    If not every folder was looked at before, a file with an older time is not new either.
    """
    new = [
        path
        for identity, (path, changed) in _identities(roots, known).items()
        if identity not in before.files and (before.is_all or changed >= before.time - SLACK_SECONDS) and not allowed(path)
    ]
    new += [path for path in sorted(before.missing) if _is_there_now(path) and not allowed(path)]
    taken: list[MovedAway] = []
    folder = _unused(quarantine) if new else quarantine
    for path in new[:MOST_TAKEN]:
        place = folder / path.relative_to(next(root for root in roots if path.is_relative_to(root)))
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(path, place)
        except (OSError, shutil.Error):
            continue
        taken.append(MovedAway(path, place, starts_by_itself(PurePath(path.name)) or starts_by_itself(path) or ""))
    return tuple(taken)


def _is_there_now(path: Path) -> bool:
    """Whether something is at that path, and is not reached by a link that was put into its way."""
    try:
        return os.path.lexists(path) and path.parent.resolve(strict=True) == path.parent
    except (OSError, RuntimeError):
        return False


def _unused(quarantine: Path) -> Path:
    return next(folder for number in count(1) if not (folder := quarantine / str(number)).exists())

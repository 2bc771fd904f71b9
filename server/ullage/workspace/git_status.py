"""What git knows of a folder: which files have changed since the last commit, and whether it tracks anything under a name.

git itself is not asked: it runs what a repository's configuration names (filters, `core.fsmonitor`, hooks), and whoever can write to the
workspace can write a configuration. libgit2 runs nothing. It is asked in a process of its own (`git_changes.py`), since it can be kept
waiting, or be fed with what it cannot digest, and a thread cannot be ended. What reaches out of the folder is not opened at all. What is
tracked is told from git's list of files (`.git/index`) alone: nothing is run for it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, Running, start
from ullage.workspace.regular_files import open_regular

logger = logging.getLogger(__name__)

MOST = 200
"""The most changed files. If more have changed, that says nothing of any one of them, and none are given."""

CONFIG_BYTES = 200_000
"""The most bytes of a configuration: git writes no longer one."""

INDEX_BYTES = 200_000_000
"""The most bytes of an index. It has about 100 bytes for each file; the largest repositories known have two million files."""

LEADING_OUT = re.compile(rb"include|worktree|attributesfile|excludesfile|partialclone|objectformat|refstorage", re.IGNORECASE)
"""Words that a configuration must not have: they name files elsewhere, or forms that libgit2 does not know. Keys and names of sections
cannot be escaped, so they are found without reading the configuration as git would. A word that merely looks like one of them has the
repository refused, too: that costs no more than some marks of changed files."""

POINTERS = ("commondir", "gitdir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates")
"""Files of a repository that name places outside of it."""

REAL_FOLDERS = (".", "objects", "objects/pack", "objects/info", "refs", "refs/heads", "info")

REAL_FILES = ("HEAD", "index", "config", "packed-refs", "shallow", "info/attributes", "info/exclude")
"""Files of a repository that must not be links, pipes or devices, if they are there."""

_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

LARGEST_LIST = 500_000_000
"""The most bytes of git's list of files that are read to look for a name."""

_HASHES = (20, 32)
"""How many bytes a hash in that list may have: SHA-1 or SHA-256."""

_HEADER = struct.Struct(">4sII")

_EXTENDED = 0x4000

_PARTIAL = frozenset({b"link", b"sdir"})
"""Extensions of the list which say that not all files stand in it by their names."""


async def uncommitted(folder: Path, seconds: float) -> Sequence[Path]:
    """The files in the folder that have changed since the last commit, deleted ones left out. Empty if there is no repository that can be
    trusted to be one, if more than `MOST` have changed, or if it takes longer than `seconds`."""
    if importlib.util.find_spec("pygit2") is None:  # no wheel for this machine
        return ()
    try:
        async with asyncio.timeout(seconds), _one_at_a_time():
            top = await asyncio.to_thread(_own_repository, folder)
            return () if top is None else await _asked(top, folder)
    except TimeoutError:
        logger.info("what has changed since the last commit was not told in time")
    except OSError as error:
        logger.info("what has changed since the last commit cannot be told: %s", error.strerror or error)
    return ()


def _one_at_a_time() -> asyncio.Semaphore:
    return _gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(1))


async def _asked(top: Path, folder: Path) -> Sequence[Path]:
    process = await start(Asker.CHANGED_FILES, own_python("ullage.workspace.git_changes", needs=("pygit2", "_cffi_backend")), feeds=True)
    try:
        names = await _names(process, top, folder)
    finally:
        await process.end()
    paths = [path for name in names if (path := top / name).is_relative_to(folder) and path.is_file()]
    return paths if len(paths) <= MOST else ()


async def _names(process: Running, top: Path, folder: Path) -> list[str]:
    """The names of changed files, relative to the top of the repository."""
    try:
        await process.feed(json.dumps({"top": os.fspath(top), "below": folder.relative_to(top).as_posix(), "most": MOST}).encode())
        answer = await process.output.readline()
    except ValueError:  # a line that is far too long
        return []
    return [name for name in json.loads(answer) if ".." not in Path(name).parts] if answer else []


def repository_of(folder: Path) -> tuple[Path | None, str]:
    """The top of the repository that the folder is in, and why it must not be opened (empty if it may be). None if there is no
    repository."""
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), None)
    return top, "" if top is None else _why_not(top / ".git")


def _own_repository(folder: Path) -> Path | None:
    """The top of the repository that the folder is in; None if there is none, or one that reaches out of its own folder."""
    top, reason = repository_of(folder)
    if reason:
        logger.info("what has changed since the last commit is not told of %s: %s", top, reason)
        return None
    return top


def _why_not(git: Path) -> str:
    """Why a repository must not be opened; empty if it may be."""
    for name in REAL_FOLDERS:
        if (git / name).is_symlink() or (os.path.lexists(git / name) and not (git / name).is_dir()):
            return f".git/{name} is no folder (a linked work tree or a submodule has none of its own)"
    for name in POINTERS:
        if os.path.lexists(git / name):
            return f".git/{name} names a place outside"
    for name in REAL_FILES:
        if (git / name).is_symlink() or (os.path.lexists(git / name) and not (git / name).is_file()):
            return f".git/{name} is no file"
    try:
        with open_regular(git / "config") as file:
            configuration = file.read(CONFIG_BYTES + 1)
        if len(configuration) > CONFIG_BYTES or LEADING_OUT.search(configuration):
            return "its configuration names other places"
        return "its index is too large" if (git / "index").stat().st_size > INDEX_BYTES else ""
    except OSError as error:
        return error.strerror or str(error)


def may_name(index: Path, name: str) -> bool:
    """Whether a file with `name` in its path may be tracked. True if the list cannot be read whole; False if there is no list: then nothing
    is tracked. Case does not count."""
    try:
        with open_regular(index) as file:
            content = file.read(LARGEST_LIST + 1)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    for size in _HASHES:
        try:
            return any(name.casefold() in part.casefold() for part in _tracked(content, size))
        except (_Unreadable, struct.error, IndexError, ValueError):
            continue
    return True


class _Unreadable(Exception):
    pass


def _tracked(content: bytes, hash_size: int) -> Iterator[str]:
    """The paths in git's list of files. Raises `_Unreadable` or another error if it is no such list, of a version in which paths do not
    stand whole, or a part of one."""
    signature, version, count = _HEADER.unpack_from(content)
    if signature != b"DIRC" or version not in (2, 3) or len(content) > LARGEST_LIST:
        raise _Unreadable
    names: list[str] = []
    place = _HEADER.size
    for _ in range(count):
        flags = place + 40 + hash_size
        start = flags + (4 if struct.unpack_from(">H", content, flags)[0] & _EXTENDED else 2)
        end = content.index(b"\0", start)
        names.append(content[start:end].decode("utf-8", "surrogateescape"))
        place += (end - place) // 8 * 8 + 8
    while place < len(content) - hash_size:
        extension, size = struct.unpack_from(">4sI", content, place)
        if extension in _PARTIAL:
            raise _Unreadable
        place += 8 + size
    if place != len(content) - hash_size:
        raise _Unreadable
    yield from names

"""Opening, replacing and removing files at exactly the place that a path without links names.

Until a file is opened, somebody can put a link in the place of the file or of one of its folders. So each name is opened beneath the folder
before it, and no link is taken: the file that is opened is the one that the path names, or none. Only regular files are opened: a pipe or a
device could wait for ever.

A hard link cannot be told from the file itself when it is read. Writing makes a new file and puts it in the place of the old one, so a
file elsewhere that shares its content stays as it was.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from ullage.platforms import moving
from ullage.platforms.names import openable
from ullage.platforms.system import HERE, System

TEMPORARY_PREFIX = ".ullage-write-"
"""The beginning of the names of files that are about to replace another one; the watcher leaves them out."""

_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED_ON_EXEC
_READ = os.O_RDONLY | _NO_LINK | _CLOSED_ON_EXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _CLOSED_ON_EXEC | getattr(os, "O_BINARY", 0)

_BY_FOLDER = HERE is not System.WINDOWS
"""Whether files can be opened beneath an open folder. Windows cannot; there the whole path is checked before."""


class LedElsewhere(OSError):
    """A link stands on the way to the file, which was not there when the path was resolved. Nothing was read or written."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ELOOP, "a link stands on the way that was not there before", str(path))


class NotRegular(OSError):
    """No regular file: a device, a pipe or a socket. It was not opened."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file (a device, pipe or socket)", str(path))


@contextmanager
def open_regular(path: Path) -> Generator[BinaryIO]:
    """A regular file, for reading.

    Raises `LedElsewhere`, `NotRegular`, `FileNotFoundError`, `IsADirectoryError`, `PermissionError` or another `OSError`.
    """
    with _folder_of(path, make=False) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        _check_regular(status, path)
        descriptor = _opened(name, _READ, folder, path)
    with os.fdopen(descriptor, "rb") as file:
        _check_regular(os.fstat(descriptor), path)  # it may be another file than the one that was looked at
        yield file


class Regulars:
    """Reads regular files of one folder after those of another. The way to a folder is gone once for all of its files. A context manager.

    Paths are absolute, without links. For one thread at a time.
    """

    def __init__(self) -> None:
        self._inside = ""
        self._folder: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def read(self, path: str, most: int) -> tuple[bytes, os.stat_result]:
        """The bytes of a file, one more than `most` of them if there are more, and its status afterwards. Raises what `open_regular`
        raises."""
        inside, _, name = path.rpartition(os.sep)
        if not _BY_FOLDER or not inside:
            with open_regular(Path(path)) as file:
                return file.read(most + 1), os.fstat(file.fileno())
        if inside != self._inside or self._folder is None:
            self._leave()
            self._folder, self._inside = _opened_folder(Path(inside)), inside
        _check_regular(os.stat(name, dir_fd=self._folder, follow_symlinks=False), Path(path))
        descriptor = _opened(name, _READ, self._folder, Path(path))
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            _check_regular(os.fstat(descriptor), Path(path))
            data = _all_of(file, most + 1)
            return data, os.fstat(descriptor)

    def _leave(self) -> None:
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None


def _all_of(file: FileIO, most: int) -> bytes:
    """The bytes of a file, at most so many. Reads again where the file gives less than is asked for at once."""
    size = min(os.fstat(file.fileno()).st_size, most)
    data = file.read(size + 1 if size < most else most) or b""
    while len(data) < most and (more := file.read(most - len(data))):
        data += more
    return data


def replace_regular(path: Path, data: bytes, about_to: Callable[[os.stat_result], None], *, executable: bool | None = None) -> None:
    """Makes `data` the content of the file at once and whole, or leaves it as it was. Missing folders are made, the mode is kept.

    `executable` says whether it can be run afterwards; None leaves that as it is.
    `about_to` gets the status of the new file before it can be seen under its name.
    Raises `LedElsewhere`, `NotRegular`, `IsADirectoryError`, `PermissionError` (also for a file marked read-only) or another `OSError`.
    """
    with _folder_of(path, make=True) as (folder, name):
        mode = _writable_mode(name, folder, path)
        temporary = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        if folder is None:
            temporary = openable(path.parent / temporary, HERE)
        try:
            with os.fdopen(os.open(temporary, _MAKE, 0o666 if mode is None else 0o600, dir_fd=folder), "wb") as file:
                file.write(data)
                file.flush()
                if executable is not None:
                    mode = _mode_of(stat.S_IMODE(os.fstat(file.fileno()).st_mode) if mode is None else mode, executable=executable)
                if mode is not None:
                    _set_mode(file.fileno(), temporary, mode)
                about_to(os.fstat(file.fileno()))
            moving.replace(temporary, name, folder=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def remove_regular(path: Path) -> None:
    """Deletes the file. Raises `LedElsewhere`, `NotRegular`, `FileNotFoundError`, `PermissionError` (also for a file marked read-only) or
    another `OSError`."""
    with _folder_of(path, make=False) as (folder, name):
        if _writable_mode(name, folder, path) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        moving.unlink(name, folder=folder)


@contextmanager
def _folder_of(path: Path, *, make: bool) -> Generator[tuple[int | None, str]]:
    """The open folder that the file is in, and the file's name there. On systems that cannot open beneath a folder, None and the whole
    path."""
    if not _BY_FOLDER:
        _check_way(path, make=make)
        yield None, openable(path, HERE)
        return
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{path} is not a resolved path")
    folder = _opened_folder(path.parent, make=make)
    try:
        yield folder, path.name
    finally:
        os.close(folder)


def _opened_folder(path: Path, *, make: bool = False) -> int:
    folder = os.open(path.anchor, _STEP)
    try:
        for name in path.parts[1:]:
            inner = _step(folder, name, path, make=make)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _step(folder: int, name: str, path: Path, *, make: bool) -> int:
    try:
        return _opened(name, _STEP, folder, path)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return _opened(name, _STEP, folder, path)


def _opened(name: str, flags: int, folder: int | None, path: Path) -> int:
    """Opens one name beneath a folder. Raises `LedElsewhere` for a link, whichever error the system gives for it."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK) and _is_link(name, folder):
            raise LedElsewhere(path) from error
        if error.errno == errno.ENXIO:
            raise NotRegular(path) from error
        raise


def _is_link(name: str, folder: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _check_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise LedElsewhere(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(path)


def _writable_mode(name: str, folder: int | None, path: Path) -> int | None:
    """The mode of the file that is to be replaced; None if there is no file. Raises `PermissionError` if it is read-only, or what
    `open_regular` raises for what is no regular file."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check_regular(status, path)
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o222 or not os.access(name, os.W_OK, dir_fd=folder):
        raise PermissionError(errno.EACCES, "The file is read-only", str(path))
    return mode


def _mode_of(mode: int, *, executable: bool) -> int:
    """The mode with which everybody who may read the file may run it; if it is not `executable`, nobody."""
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


def _set_mode(descriptor: int, temporary: str, mode: int) -> None:
    if _BY_FOLDER:
        os.fchmod(descriptor, mode)
    else:
        Path(temporary).chmod(mode)


def _check_way(path: Path, *, make: bool) -> None:
    """Refuses a path that leads elsewhere at this moment, on systems that cannot hold folders open. Makes missing folders if asked to.
    Raises `LedElsewhere`."""
    if path.resolve() != path:
        raise LedElsewhere(path)
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)

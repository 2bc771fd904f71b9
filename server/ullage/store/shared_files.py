"""Files that several processes use at once: written so that a reader sees all or nothing, and locked.

A lock is one that the operating system lets go when its holder ends, however it ends. SQLite already knows how to lock a file on every
system, so an open exclusive transaction on an empty file is the lock.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from ullage.platforms import moving
from ullage.store.errors import StoreFailed

_LOOKERS_SECONDS = 1.0
"""How long a taker waits for those who only look, which each do for some microseconds."""


def write_whole(path: Path, what: str | bytes) -> None:
    """Writes `what`, a text as UTF-8, in place of what was there; on disk when it returns.

    Raises `StoreFailed` (full disk, read-only folder ...) and then leaves everything as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _failed(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            # Half a surrogate pair cannot be written as UTF-8; it becomes a question mark.
            file.write(what.encode("utf-8", "replace") if isinstance(what, str) else what)
            file.flush()
            os.fsync(file.fileno())
        moving.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _failed(path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class HeldElsewhere(Exception):
    """Raised where another holder has the lock, in this process or in another."""


class SystemLock:
    """A lock that is held from `__init__` to `release`, which may be called in another thread.

    Waits up to `wait` seconds for it; raises `HeldElsewhere` then, and `StoreFailed` where the file cannot be locked.
    """

    def __init__(self, path: Path, wait: float = 0.0) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreFailed(f"Cannot make {path.parent}: {error.strerror or error}") from error
        try:
            self._connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise StoreFailed(f"Cannot open {path}: {error}") from error
        try:
            self._take()
        except sqlite3.Error as error:
            self._connection.close()
            if "locked" in str(error):
                raise HeldElsewhere from error
            raise StoreFailed(f"Cannot lock {path}: {error}") from error

    def _take(self) -> None:
        take = self._connection.execute
        try:
            take("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            # Where somebody holds it, BEGIN IMMEDIATE fails, too. Who only looks (`is_held`) is waited for.
            take("PRAGMA busy_timeout = 0")
            take("BEGIN IMMEDIATE")
            take("ROLLBACK")
            take(f"PRAGMA busy_timeout = {round(_LOOKERS_SECONDS * 1000)}")
            take("BEGIN EXCLUSIVE")

    def release(self) -> None:
        """Lets go of the lock. The empty file stays: removing it could take away a lock just taken on it."""
        self._connection.close()


def is_held(path: Path) -> bool:
    """Whether anybody has the lock now, in this process or in another; False if the file cannot be read.

    Whoever takes it meanwhile gets it all the same.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.0, isolation_level=None)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        return "locked" in str(error)
    return False


def _failed(path: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        f"Cannot write {path}: {error.strerror or error}. Make room on the disk or make the folder writable, then try again."
    )

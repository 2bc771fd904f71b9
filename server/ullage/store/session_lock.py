"""One writer a session: a lock that the operating system lets go when its process ends, however it ends.

SQLite already knows how to lock a file on every system, so an open exclusive transaction on an empty file is the lock.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ullage.store.errors import SessionInUse, StoreFailed


class SessionLock:
    """Held from `__init__` to `release`. Raises `SessionInUse` where another process has it, `StoreFailed`."""

    def __init__(self, path: Path, session_id: str) -> None:
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise StoreFailed(
                f"Cannot make {path.parent}: {error.strerror or error}"
            ) from error
        try:
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreFailed(f"Cannot open {path}: {error}") from error
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._connection.close()
            if "locked" in str(error):
                raise SessionInUse(session_id) from error
            raise StoreFailed(f"Cannot lock {path}: {error}") from error

    def release(self) -> None:
        """Lets another process write. The empty file stays: removing it could take away another's lock."""
        self._connection.close()

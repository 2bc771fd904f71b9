"""Putting a file in the place of another one, and deleting one, while other programs have it open.

On Linux and macOS that always goes. On Windows it fails as long as anybody has the file open without sharing that: an editor, the indexer,
or a scanner of viruses that looks at each new file for some milliseconds. So there it is tried for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeAlias

from ullage.platforms.system import HERE, System

WAITS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""The seconds between the tries; 0.4 in all, since whoever waits may be an event loop. Scanners are done within 100 ms mostly."""

SHARING = frozenset({5, 32, 33})
"""`winerror` of ERROR_ACCESS_DENIED, which replacing a file that is open gives, ERROR_SHARING_VIOLATION and ERROR_LOCK_VIOLATION."""

AnyPath: TypeAlias = "str | os.PathLike[str]"


def replace(
    source: AnyPath, target: AnyPath, *, folder: int | None = None, system: System = HERE, wait: Callable[[float], None] = time.sleep
) -> None:
    """Puts a file in the place of another, as `os.replace` does, trying for a while on Windows. Both names are relative to an open `folder`
    if one is given. Raises `OSError`."""
    _patiently(lambda: os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder), system, wait)


def unlink(path: AnyPath, *, folder: int | None = None, system: System = HERE, wait: Callable[[float], None] = time.sleep) -> None:
    """Deletes a file, as `os.unlink` does, trying for a while on Windows. The name is relative to an open `folder` if one is given. Raises
    `OSError`."""
    _patiently(lambda: os.unlink(path, dir_fd=folder), system, wait)


def _patiently(move: Callable[[], None], system: System, wait: Callable[[float], None]) -> None:
    for seconds in WAITS if system is System.WINDOWS else ():
        try:
            return move()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in SHARING:
                raise
        wait(seconds)
    return move()

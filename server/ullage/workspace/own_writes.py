"""What we wrote to disk ourselves, so that the watcher does not report our own work to us."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path

REMEMBERED = 1_000
"""Files whose last write is remembered; a watcher reports within seconds, so that far fewer would do."""


class OwnWrites:
    """The state in which we left each file that we wrote. A file is ours as long as it is still in that state."""

    def __init__(self) -> None:
        self._left: OrderedDict[Path, tuple[int, int, int]] = OrderedDict()

    def about_to_replace(self, path: Path, replacement: os.stat_result) -> None:
        """Notes that a file of that status is about to become `path`: it keeps its identity, size and time when it is moved."""
        self._left[path] = _identity(replacement)
        self._left.move_to_end(path)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)

    def is_ours(self, path: Path) -> bool:
        """Whether the file is as we left it; False where someone changed or removed it since."""
        left = self._left.get(path)
        return left is not None and left == _state(path)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        return _identity(path.stat())
    except OSError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size

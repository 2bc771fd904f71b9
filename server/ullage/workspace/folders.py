"""Which folders the agent may touch, and where a path that it names leads, symbolic links resolved.

What git ignores is a question of `ignore.py`; what stands in a file one of `files.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

OWN_FOLDER = ".ullage"
"""Ullage's own folder in a workspace: the log's database, transcripts and whole tool results."""

READABLE_IN_OWN_FOLDER = frozenset({"tool-results", "media", "transcripts"})
"""What the agent may read there: plain copies of what it was told. The database it gets at with `recall` only."""


def compared(name: str) -> str:
    """A file's name as the most forgiving file system reads it: without case, and without what HFS+ or NTFS take for nothing.

    To find out whether a name may be one of those that are guarded; names that differ may come out the same.
    """
    seen = "".join(character for character in name if unicodedata.category(character) != "Cf")
    return seen.partition(":")[0].rstrip(" .").casefold()


class OutsideWorkspace(Exception):
    """A path that the agent may not touch. The message is for the model and names the path as it was given."""


class Folders:
    """The workspace folders. The first one is where relative paths and commands start."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots: tuple[Path, ...] = tuple(root.resolve() for root in roots)

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

    def resolve(self, name: str) -> Path:
        """Where `name` (absolute, or relative to the first folder) leads, links resolved; it need not exist.

        Raises `OutsideWorkspace` for everything that the agent may not read.
        """
        if self.first is None:
            raise OutsideWorkspace("No folder is open, so there are no files to work with. Ask the user to open a folder.")
        try:
            path = (self.first / Path(name).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise OutsideWorkspace(f"`{name!r}` is not a usable path: {error}") from error
        if path.is_symlink():  # from Python 3.13 on, a link that leads to itself comes back as it is
            raise OutsideWorkspace(f"`{name}` is not a usable path: it is a link that leads nowhere")
        if not self.contains(path):
            raise OutsideWorkspace(f"`{name}` is outside the workspace. Only files in {self._named()} can be used")
        if self._is_own_record(path):
            raise OutsideWorkspace(
                f"`{name}` belongs to Ullage itself. Of `{OWN_FOLDER}` only tool-results/, media/ and transcripts/ "
                "can be read; use `recall` for everything else that was said"
            )
        return path

    def resolve_for_writing(self, name: str) -> Path:
        """Like `resolve`, and refuses Ullage's own records too: what was said is never rewritten."""
        path = self.resolve(name)
        if OWN_FOLDER in self._parts_below_folders(path):
            raise OutsideWorkspace(f"`{name}` belongs to Ullage's own records, which are never changed")
        return path

    def _is_own_record(self, path: Path) -> bool:
        parts = self._parts_below_folders(path)
        if OWN_FOLDER not in parts:
            return False
        inside = parts[parts.index(OWN_FOLDER) + 1 :]
        return not inside or inside[0] not in READABLE_IN_OWN_FOLDER

    def _parts_below_folders(self, path: Path) -> list[str]:
        """The names on the way to the path from its workspace folder (included), as one compares them."""
        below = [path.relative_to(root.parent).parts for root in self.roots if path.is_relative_to(root)]
        return [compared(part) for part in max(below, key=len, default=path.parts)]

    def _named(self) -> str:
        return ", ".join(f"`{root.as_posix()}`" for root in self.roots)

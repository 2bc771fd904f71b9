"""Which files were edited lately, by whom and where: what is read again first after a compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

EditedBy: TypeAlias = Literal["agent", "user", "disk"]
"""The agent's tools, the user in the editor, or anything else that changed the file on disk (git, a formatter)."""

REMEMBERED = 200
"""Files that are kept; five are restored after a compaction."""


@dataclass(frozen=True, slots=True)
class RecentEdit:
    """The latest edit of one file. `at` is Unix seconds; `line` counts from 1, None where it is not known."""

    path: str
    at: float
    by: EditedBy
    line: int | None = None


class RecentEdits:
    """The latest edit of each file. Paths are as `Folders.show` gives them."""

    def __init__(self) -> None:
        self._edits: dict[str, RecentEdit] = {}

    def record(self, path: str, at: float, by: EditedBy, line: int | None = None) -> None:
        """Notes an edit. A change on disk of a file that the agent or the user edited stays theirs (their formatter)."""
        before = self._edits.pop(path, None)
        if before is not None and by == "disk":
            by = before.by
        if before is not None and line is None:
            line = before.line
        self._edits[path] = RecentEdit(path, at, by, line)
        if len(self._edits) > REMEMBERED:
            del self._edits[self.latest()[-1].path]

    def latest(self) -> tuple[RecentEdit, ...]:
        """Newest first; what the agent or the user edited stands before what only changed on disk.

        Otherwise a switch of branches, which touches hundreds of files, would push out the work at hand.
        """
        return tuple(sorted(self._edits.values(), key=lambda edit: (edit.by == "disk", -edit.at)))

"""The entries of the log that tell which files were changed, and what the user decided about it.

They hold no text: a file at one moment is named by the hash of its bytes, and the bytes lie beside the log (`store/versions.py`). None of
this is shown to the model.

What a call of a tool changed stands in the entry of its result (`ToolReturned.changed`). An entry of its own (`FilesChanged`) is logged
where no result can hold it: a call that was cut off, a call of a sub-agent, or a change that the user made through Ullage. `files_changed`
in `entries.py` gives both in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The content of a file at one moment: the SHA-256 of its bytes (hex), and their number."""

    sha256: str
    size: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file before and after a change. `path` is as in a `FileTouch`."""

    path: str
    before: FileVersion | None
    """The file before the change; None if there was none."""
    after: FileVersion | None
    """The file after the change; None if it is gone."""
    shared: bool = False
    """Whether another command ran at the same time, so that this may be its change."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A file, or a folder (with `/` at its end), that may have changed and of which no earlier version is kept. `why` is for the user."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """What one call changed, or what the user changed through Ullage: an undo, or going back to a checkpoint."""

    files: tuple[ChangedFile, ...]
    tool_use_id: str | None
    """The call that made the changes; None if the user did. Of a call of a sub-agent of this session it begins with the id of that
    sub-agent and a `/`."""
    uncovered: tuple[Uncovered, ...] = ()
    gone_back_to: str = ""
    """The checkpoint that the user went back to (`changes/checkpoints.py`); empty if these are other changes."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The user kept or undid changes of the agent in one file.

    `baseline` is the version that they have accepted by now, `agents` the agent's version by now; None if there is no file.
    """

    path: str
    baseline: FileVersion | None
    agents: FileVersion | None
    verdict: Literal["kept", "undone"]
    hunks: int
    """The number of hunks that were kept or undone."""
    turn_id: str = ""
    """The id of the prompt of the one turn whose changes this was about; empty if it was about those of any turn."""


@dataclass(frozen=True, slots=True)
class ReviewedTogether:
    """Several files in which the user kept or undid changes at once. One entry for each file would make a log of thousands of them."""

    files: tuple[Reviewed, ...]

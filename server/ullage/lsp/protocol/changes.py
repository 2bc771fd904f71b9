"""The wire types of what the agent changed in files, and of the message for a commit. See PROTOCOL.md, "Changed files"."""

from __future__ import annotations

from typing import Literal

import attrs

from ullage.lsp.protocol.items import Id


@attrs.frozen
class Hunk:
    """One open change: lines of the text before and of the text now, counted from 1."""

    id: str
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    edited: bool | None = None


@attrs.frozen
class ChangedFile:
    """A file that the agent changed. `added` and `removed` are lines."""

    path: str
    uri: str
    status: Literal["created", "modified", "deleted"]
    added: int
    removed: int
    binary: bool | None = None
    note: str | None = None
    hunks: list[Hunk] | None = None


@attrs.frozen
class Uncovered:
    """A file that may have changed and cannot be gone back to, and why."""

    path: str
    why: str


@attrs.frozen
class OpenTurn:
    """A turn with open changes, and in how many files."""

    turn_id: str
    title: str
    files: int


@attrs.frozen
class OpenChanges:
    """All open changes: the first files without their hunks, how many there are, and the turns that they are of."""

    files: list[ChangedFile]
    count: int
    added: int
    removed: int
    turns: list[OpenTurn] | None = None


@attrs.frozen
class TurnChanges:
    """The files that one turn changed; `turn_id` is the id of its prompt."""

    turn_id: str
    title: str
    at: float
    files: list[ChangedFile]
    uncovered: list[Uncovered]


@attrs.frozen
class ChangesParams:
    """Params of `changes`: of one file, of one turn, or of the session."""

    session_id: Id
    path: str | None = None
    turn_id: Id | None = None


@attrs.frozen
class ChangesResult:
    """Result of `changes`: the turns that were asked for, and the files with open changes."""

    turns: list[TurnChanges]
    open: list[ChangedFile]


@attrs.frozen
class VersionTextParams:
    """Params of `versionText`; without a turn the text that is shown beside the text now."""

    session_id: Id
    path: str
    turn_id: Id | None = None


@attrs.frozen
class VersionTextResult:
    """Result of `versionText`; without `text` there was no file."""

    text: str | None = None


@attrs.frozen
class DecideParams:
    """Params of `keepChanges` and `undoChanges`: of all files, of one file, one hunk of it, or of one turn."""

    session_id: Id
    path: str | None = None
    hunk_id: Id | None = None
    turn_id: Id | None = None


@attrs.frozen
class DecidedFile:
    """The outcome of a decision about one file; `why` says what stands in the way, or what stays."""

    path: str
    outcome: Literal["done", "conflict"]
    why: str | None = None


@attrs.frozen
class DecidedResult:
    """Result of `keepChanges` and `undoChanges`."""

    files: list[DecidedFile]


@attrs.frozen
class Checkpoint:
    """A moment that can be gone back to; `turn_id` is the id of the prompt that it lies before, or one that leads `forward` again."""

    turn_id: str
    title: str
    at: float
    files: int
    forward: bool | None = None


@attrs.frozen
class CheckpointsParams:
    """Params of `checkpoints`."""

    session_id: Id


@attrs.frozen
class CheckpointsResult:
    """Result of `checkpoints`, the oldest first."""

    checkpoints: list[Checkpoint]


@attrs.frozen
class PreviewRestoreParams:
    """Params of `previewRestore`."""

    session_id: Id
    turn_id: Id


@attrs.frozen
class FileBack:
    """A file, and what going back would do to it. With a `conflict` it stays as it is unless it is in `overwrite`; if it `stays`, even
    then."""

    path: str
    uri: str
    action: Literal["write", "create", "delete"]
    conflict: str | None = None
    stays: bool | None = None


@attrs.frozen
class PreviewRestoreResult:
    """Result of `previewRestore`: files that are as they were then are left out."""

    files: list[FileBack]
    uncovered: list[Uncovered]


@attrs.frozen
class RestoreParams:
    """Params of `restore`; `overwrite` are the paths of files in conflict."""

    session_id: Id
    turn_id: Id
    what: Literal["files", "conversation", "both"]
    overwrite: list[str] | None = None


@attrs.frozen
class CommitMessageParams:
    """Params of `commitMessage`: a diff as git writes it, the URIs of new files, and messages of earlier commits, the newest first."""

    session_id: Id
    diff: str
    new_files: list[str] | None = None
    recent: list[str] | None = None


@attrs.frozen
class CommitMessageResult:
    """Result of `commitMessage`."""

    text: str

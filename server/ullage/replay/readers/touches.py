"""Which files a recorded call read or changed, as far as its input says."""

from __future__ import annotations

import re

from ullage.context.blocks import ToolUse
from ullage.context.entries import FileTouch, TouchKind
from ullage.replay.readers.claude_line import FileOnDisk
from ullage.replay.readers.values import as_list, as_text

_CLAUDE_TOOLS: dict[str, TouchKind] = {
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edited",
    "MultiEdit": "edited",
    "NotebookEdit": "edited",
    "Write": "edited",
}
_PATCH_HEADS: dict[str, TouchKind] = {"Add": "created", "Update": "edited", "Delete": "deleted"}
PATCH_START = "*** Begin Patch"
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""A file in a patch of Codex (`apply_patch`): what is done to it, and its path."""
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)


def touched_by_call(call: ToolUse, found: FileOnDisk | None, folder: str) -> tuple[FileTouch, ...]:
    """The file that a call of Claude Code's file tools was about. `found` is what was noted beside its result.

    `sha256` is empty where the transcript does not hold the file's whole text.
    """
    kind = _CLAUDE_TOOLS.get(call.name)
    path = as_text(call.input.get("file_path")) or as_text(call.input.get("notebook_path"))
    if kind is None or not path:
        return ()
    if found is None:
        is_part = kind == "read" and bool(call.input.get("offset") or call.input.get("limit"))
        return (FileTouch(relative(path, folder), kind, "", is_part),)
    return (FileTouch(relative(path, folder), found.kind, found.sha256, found.partial),)


def touched_by_patch(patch: str, folder: str) -> tuple[FileTouch, ...]:
    """The files that a patch in the form of `apply_patch` changes; a renamed one under its new name too."""
    changed = [FileTouch(relative(path.strip(), folder), _PATCH_HEADS[head], "") for head, path in PATCHED.findall(patch)]
    moved = [FileTouch(relative(path.strip(), folder), "created", "") for path in _MOVED.findall(patch)]
    return (*changed, *moved)


def patches_in(call: ToolUse) -> str:
    """The patch that a call of Codex applies, also by way of a shell; empty where there is none."""
    command = call.input.get("command")
    texts = (call.input.get("input"), call.input.get("cmd"), command, *as_list(command))
    return next((as_text(text) for text in texts if PATCH_START in as_text(text)), "")


def relative(path: str, folder: str) -> str:
    """The path relative to `folder` where it lies in it, with `/`."""
    shown = path.replace("\\", "/")
    root = folder.replace("\\", "/").rstrip("/") + "/"
    return shown.removeprefix(root) if folder else shown

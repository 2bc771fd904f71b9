"""What `write_file` and `edit_file` have in common: nothing is written over text that the agent has not seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ullage.context.entries import FileTouch
from ullage.tools.excerpt import excerpt, file_diff, first_difference, split_lines
from ullage.tools.permission import edit_need
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolOutcome
from ullage.workspace.files import CurrentText, WorkspaceFiles
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.reads import FileReads
from ullage.workspace.text_file import text_sha256


def permission_to_edit(name: str, files: WorkspaceFiles) -> PermissionNeed:
    """What must be allowed. Raises `BadToolInput` for a path that may not be written.

    It is refused here and not only by the call: a path that leads elsewhere by then must not have become free of asking.
    """
    try:
        target = files.folders.resolve_for_writing(name)
    except OutsideWorkspace as error:
        raise BadToolInput(str(error)) from error
    need = edit_need(files.folders.show(target), at_top=target.parent in files.folders.roots)
    words = need.description if target.exists() else need.description.replace("Edit ", "Create ", 1)
    return replace(need, target=target, description=words)


def allowed_target(call: ToolCall, name: str, files: WorkspaceFiles) -> Path:
    """The file that was allowed, wherever its name leads by now; where nothing was asked, the one that it names."""
    if call.allowed is not None and call.allowed.target is not None:
        return call.allowed.target
    return files.folders.resolve_for_writing(name)


def refuse_unseen(reason: str, current: CurrentText, files: WorkspaceFiles, reads: FileReads) -> ToolOutcome:
    """Refuses with the text as it is now, which the agent has then seen."""
    lines = split_lines(current.text)
    shown = excerpt(lines, 1, len(lines) or 1)
    touch = FileTouch(files.folders.show(current.path), "read", current.sha256, partial=not shown.is_whole(lines))
    reads.saw(touch)
    rest = ""
    if shown.last < len(lines):
        rest = f"\n(Lines 1 to {shown.last} of {len(lines)}. Read on with read_file, offset={shown.last + 1}.)"
    return ToolOutcome(f"{reason} Its text now:\n{shown.text or '(The file is empty.)'}{rest}", is_error=True, touched=(touch,))


def edited(what_was_done: str, old: str, written: CurrentText, intended: str, files: WorkspaceFiles, reads: FileReads) -> ToolOutcome:
    """The outcome of an edit that was made.

    `intended` is the text that was asked for, and what the agent has seen. Where something else came of it (the editor
    formats when saving), the agent is told, and its next edit is refused as stale.
    """
    shown = files.folders.show(written.path)
    touch = FileTouch(shown, "edited", text_sha256(intended))
    reads.saw(touch)
    remarks = [what_was_done]
    if written.text != intended:
        remarks.append("It was changed further in the editor (by formatting or by the user); read it again before the next edit.")
    if written.unsaved:
        remarks.append(
            "The file had unsaved changes of the user, so it stays unsaved in the editor: commands still see the old text on disk."
        )
    return ToolOutcome(
        " ".join(remarks),
        touched=(touch,),
        diff=file_diff(shown, old, written.text),
        line=first_difference(old, written.text),
    )

"""What the tools that work with files have in common: how a text is shown, what went wrong with a file, and when it may be written.

A text is shown with line numbers, within bounds, or as differences. What went wrong is told in words for the model. Nothing is written over
text that the agent has not seen.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches, unified_diff
from pathlib import Path

from ullage.context.entries import FileDiff, FileTouch
from ullage.tools.media import NotShown
from ullage.tools.permission import edit_need
from ullage.tools.tool import BadToolInput, Foreseen, PermissionNeed, ToolCall, ToolOutcome
from ullage.workspace.files import ChangedMeanwhile, CurrentText, EditorChanged, EditorRefused, WorkspaceFiles
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.media_file import DamagedMedia
from ullage.workspace.regular_files import LedElsewhere
from ullage.workspace.text_file import FileTooLarge, NotEncodable, NotText, text_sha256
from ullage.workspace.touched import FileReads

EXCERPT_CHARACTERS = 24_000
"""The most characters of a file that are shown at once: below the 30,000 from which a result would be clipped in the middle, where line
numbers could no longer be followed."""

LINE_CHARACTERS = 2_000
"""The most characters of a line. A longer one is cut: it is generated code or data, and would push out everything else."""

DIFF_CONTEXT_LINES = 3

DIFF_CHARACTERS = 20_000
"""The most characters of each side of a difference that are kept for the user to see."""

PROPOSED_CHARACTERS = 400_000
"""The most characters of each side while the user is asked, who has to see all of it: three times what a model writes in one reply."""

DIFFERENCE_LINES, DIFFERENCE_CHARACTERS = 20_000, 12_000
"""How many lines of both texts are compared, and how many characters told, of what the user made of a proposal."""

USER_CHANGED = (
    "The user changed your proposal for `{name}` before they accepted it. Theirs was written, so build on it. "
    "What they changed:\n{difference}"
)
TAKEN_BACK = "The user took your whole change back before they accepted it, so nothing was written. Ask them what they want."
EMPTIED = "The user emptied the proposed text before they accepted it, so nothing was written. Ask them what they want."

FILE_ERRORS = (
    OSError,
    OutsideWorkspace,
    NotText,
    DamagedMedia,
    NotShown,
    FileTooLarge,
    NotEncodable,
    ChangedMeanwhile,
    EditorChanged,
    EditorRefused,
)
"""Everything that reading or writing a file can meet and the model can mend."""

NOT_FOUND = re.compile(r"`[^`\n]*` does not exist\b")
"""The beginning of the outcome that says that a file is not there."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Numbered lines. `last` is the number of the last one shown; `cut_lines` says that some were too long."""

    text: str
    first: int
    last: int
    cut_lines: bool

    def is_whole(self, lines: Sequence[str]) -> bool:
        """Whether nothing of these lines is missing."""
        return self.first <= 1 and self.last >= len(lines) and not self.cut_lines


def split_lines(text: str) -> list[str]:
    """The lines as an editor counts them, without their ends; what follows the last line end counts only if not empty."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def excerpt(lines: Sequence[str], first: int, limit: int) -> Excerpt:
    """Up to `limit` lines with their numbers, from line `first` on (counted from 1), within `EXCERPT_CHARACTERS`."""
    shown: list[str] = []
    characters = 0
    cut_lines = False
    for number, line in enumerate(lines[first - 1 : first - 1 + limit], start=first):
        if len(line) > LINE_CHARACTERS:
            line = f"{line[:LINE_CHARACTERS]} ... [{len(line) - LINE_CHARACTERS:,} more characters]"
            cut_lines = True
        numbered = f"{number:>6}\t{line}"
        characters += len(numbered) + 1
        if shown and characters > EXCERPT_CHARACTERS:
            break
        shown.append(numbered)
    return Excerpt("\n".join(shown), first, first + len(shown) - 1, cut_lines)


def _first_difference(old: str, new: str) -> int:
    """The number of the line (counted from 1) where two texts begin to differ."""
    return _common_start(old.split("\n"), new.split("\n")) + 1


def file_diff(path: str, old: str, new: str) -> FileDiff:
    """The whole lines that differ with a few around them, each side at most `DIFF_CHARACTERS`."""
    return _diff(path, old, new, DIFF_CHARACTERS)


def proposed_diff(path: str, old: str, new: str) -> FileDiff:
    """The lines that differ, as `file_diff` gives them, for a change that is still to be allowed: each side at most
    `PROPOSED_CHARACTERS`."""
    return _diff(path, old, new, PROPOSED_CHARACTERS)


def foreseen(path: str, before: str | None, after: str) -> Foreseen:
    """An edit that is still to be allowed, with the lines that differ."""
    return Foreseen(before, after, proposed_diff(path, before or "", after))


def _diff(path: str, old: str, new: str, most: int) -> FileDiff:
    old_lines, new_lines = old.split("\n"), new.split("\n")
    start = _common_start(old_lines, new_lines)
    end = _common_start(old_lines[start:][::-1], new_lines[start:][::-1])
    first = max(0, start - DIFF_CONTEXT_LINES)
    after = max(0, end - DIFF_CONTEXT_LINES)
    last_old, last_new = len(old_lines) - after, len(new_lines) - after
    return FileDiff(path, _bounded(old_lines[first:last_old], most), _bounded(new_lines[first:last_new], most))


def _common_start(first: Sequence[str], second: Sequence[str]) -> int:
    common = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        common += 1
    return common


def _bounded(lines: Sequence[str], most: int) -> str:
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return f"{kept}\n[{len(text) - len(kept):,} more characters]"


def file_failure(error: Exception, name: str, folders: Folders) -> ToolOutcome:
    """An outcome that says why `name` could not be used and what can be done instead."""
    return ToolOutcome(_message(error, name, folders), is_error=True)


def _message(error: Exception, name: str, folders: Folders) -> str:
    match error:
        case OutsideWorkspace():
            return str(error)
        case LedElsewhere():
            return f"`{name}` leads elsewhere than a moment ago: somebody put a link on its way. Nothing was read or written."
        case FileNotFoundError():
            return f"`{name}` does not exist{_similar(name, folders)}"
        case IsADirectoryError():
            return f"`{name}` is a folder. Use list_files to see what is in it."
        case NotADirectoryError():
            return f"`{name}` cannot be there: a part of its path is a file"
        case PermissionError():
            return f"`{name}` may not be accessed: {error.strerror or 'permission denied'}"
        case DamagedMedia():
            return f"`{name}` is {error}. Use bash to look into it."
        case NotShown():
            return f"`{name}`, {error}"
        case NotText():
            return f"`{name}` is {error}, not text. Use bash to look into it."
        case FileTooLarge():
            return f"`{name}` is too large ({error}). Use bash to find and read a part of it; search leaves such files out."
        case NotEncodable():
            return f"`{name}` was not changed: {error}"
        case ChangedMeanwhile() | EditorChanged():
            return f"`{name}` was changed by someone else in this very moment, so nothing was written. Read it again."
        case EditorRefused():
            return f"`{name}` has unsaved changes in the editor, and the editor did not take the edit. Ask the user to save it."
        case _:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            return f"`{name}` cannot be used: {reason}"


def _similar(name: str, folders: Folders) -> str:
    try:
        path = folders.resolve(name)
        siblings = {sibling.name: sibling for sibling in path.parent.iterdir()}
    except (OSError, OutsideWorkspace):
        return ""
    close = get_close_matches(Path(name).name, siblings, n=3, cutoff=0.6)
    if not close:
        return ""
    return f". Similar names there: {', '.join(f'`{folders.show(siblings[each])}`' for each in close)}"


def permission_to_edit(name: str, files: WorkspaceFiles) -> PermissionNeed:
    """What writing a file needs. Raises `BadToolInput` for a path that may not be written.

    It is refused here and not only by the call: a path that leads elsewhere by then must not have become free of asking.
    """
    try:
        target = files.folders.resolve_for_writing(name)
    except OutsideWorkspace as error:
        raise BadToolInput(str(error)) from error
    need = edit_need(files.folders.show(target), at_top=target.parent in files.folders.roots, is_new=not target.exists())
    return replace(need, target=target)


def allowed_target(call: ToolCall, name: str, files: WorkspaceFiles) -> Path:
    """The file that was allowed, wherever its name leads by now. If nothing was asked, the file that the name leads to."""
    if call.allowed is not None and call.allowed.target is not None:
        return call.allowed.target
    return files.folders.resolve_for_writing(name)


def refuse_unseen(reason: str, current: CurrentText, files: WorkspaceFiles, reads: FileReads) -> ToolOutcome:
    """A refusal with the text as it is now, which the agent has seen by that."""
    lines = split_lines(current.text)
    shown = excerpt(lines, 1, len(lines) or 1)
    touch = FileTouch(files.folders.show(current.path), "read", current.sha256, partial=not shown.is_whole(lines))
    reads.saw(touch)
    rest = ""
    if shown.last < len(lines):
        rest = f"\n(Lines 1 to {shown.last} of {len(lines)}. Read on with read_file, offset={shown.last + 1}.)"
    return ToolOutcome(f"{reason} Its text now:\n{shown.text or '(The file is empty.)'}{rest}", is_error=True, touched=(touch,))


async def write_changed(call: ToolCall, files: WorkspaceFiles, reads: FileReads) -> ToolOutcome | None:
    """Writes what the user made of the proposed text before they accepted it, and tells the difference; None if they left it as it was.

    Raises what `WorkspaceFiles.write` raises: also where the text is no longer the one that the user saw on the other side.
    """
    need = call.allowed
    if need is None or need.text is None or need.foreseen is None or need.target is None:
        return None
    before, proposed, text = need.foreseen.before, need.foreseen.after, need.text
    name = files.folders.show(need.target)
    if text == (before or "") or not text.strip():
        return ToolOutcome(TAKEN_BACK if text == (before or "") else EMPTIED, is_error=True, refusal="")
    written = await files.write(need.target, text, None if before is None else text_sha256(before))
    told = await asyncio.to_thread(difference, proposed, text)
    return edited(USER_CHANGED.format(name=name, difference=told), before or "", written, text, files, reads, created=before is None)


def difference(proposed: str, text: str) -> str:
    """The difference between a proposed text and what the user made of it, for the model."""
    ours, theirs = proposed.splitlines(keepends=True), text.splitlines(keepends=True)
    if len(ours) + len(theirs) > DIFFERENCE_LINES:
        return "(The text is too long to show the difference. Read it before the next edit.)"
    lines = unified_diff(ours, theirs, "proposed", "accepted", n=2)
    shown = "\n".join(line.rstrip("\r\n") if line.endswith("\n") else f"{line}\n\\ No newline at end of file" for line in lines)
    cut = (
        shown
        if len(shown) <= DIFFERENCE_CHARACTERS
        else f"{shown[:DIFFERENCE_CHARACTERS]}\n(It goes on. Read the file before the next edit.)"
    )
    return f"```diff\n{cut}\n```"


def edited(
    what_was_done: str, old: str, written: CurrentText, intended: str, files: WorkspaceFiles, reads: FileReads, *, created: bool = False
) -> ToolOutcome:
    """The outcome of an edit that was made.

    `intended` is the text that was asked for, and what the agent has seen. Where something else came of it (the editor
    formats when saving), the agent is told, and its next edit is refused as stale.
    """
    shown = files.folders.show(written.path)
    touch = FileTouch(shown, "created" if created else "edited", text_sha256(intended))
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
        line=_first_difference(old, written.text),
    )

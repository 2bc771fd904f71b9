"""What the agent gets back after a summary: which files are read again, how much of each, and how to go on.

Reading the files is the business of `session/`; here their texts are values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import DELETED, NO_ROOM, ONLY_NAME, RestoredFile
from ullage.context.outline import outline, parts
from ullage.context.policy import RestoreNumbers
from ullage.context.quoting import in_a_line

DISK_HANDICAP = 120.0
"""Seconds by which a change on disk counts as older: a formatter or a checkout must not push out what somebody edited."""
FRAME_TOKENS = 60
"""For the tags around a file and the words between its parts, which together take a little more than one by one."""
OUTLINE_SHARE = 0.4
"""Of the room of a file that is not shown whole; the rest is for the parts near the edits."""
SMALLEST_ROOM = 200
"""Tokens. With less than that nothing of a long file is worth showing."""

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*file\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of a file: where, when (Unix seconds) and by whom. `disk` is whatever is no editor and no tool of the agent."""

    path: str
    at: float
    by: Literal["agent", "user", "disk"]


def choose(edits: Sequence[FileEdit], numbers: RestoreNumbers) -> tuple[str, ...]:
    """The paths to read again: last edited first, each once, at most `numbers.files`."""
    ranked = sorted(edits, key=lambda edit: (-_when(edit), edit.by == "disk", edit.path))
    return tuple(dict.fromkeys(edit.path for edit in ranked))[: numbers.files]


def in_room(numbers: RestoreNumbers, free: int) -> RestoreNumbers:
    """The numbers where so many tokens are free below the line before any file is read again."""
    if numbers.room_share is None:
        return numbers
    return replace(numbers, total_tokens=min(numbers.total_tokens, max(0, int(numbers.room_share * free))))


def take(path: str, text: str | None, near_lines: Sequence[int], numbers: RestoreNumbers, budget: int, sha256: str = "") -> RestoredFile:
    """What the model gets of one file, in about `budget` tokens and never more than `numbers.file_tokens`.

    The whole text where it fits; else an outline and the parts around `near_lines` (where it was edited, counted from 1; its beginning
    where there are none); else only its name.
    `text` is None where the file is gone. `sha256` is of the whole text.
    """
    if text is None:
        return RestoredFile(path, _empty(path, "deleted or renamed since"), DELETED, sha256, whole=False)
    room = min(numbers.file_tokens, budget) - FRAME_TOKENS
    if estimate_text(text) <= room:
        return RestoredFile(path, _framed(path, "read again now, whole", text), "whole", sha256)
    if room < SMALLEST_ROOM:
        return RestoredFile(
            path, _empty(path, "not read again, there is no room; read it where it is needed"), NO_ROOM, sha256, whole=False
        )
    found = outline(path, text, int(room * OUTLINE_SHARE))
    near = parts(text, near_lines, room - estimate_text(found))
    shown = "\n\n".join(part for part in (f"outline, with line numbers:\n{found}" if found else "", near) if part)
    lines = text.count("\n") + 1
    what = _shown_of_it(bool(found), bool(near), edited=bool(near_lines))
    note = f"read again now, {lines:,} lines: {what}; read the rest where it is needed"
    return RestoredFile(path, _framed(path, note, shown), what, sha256, whole=False)


def resume_text(todo: str, rules_changed: bool, at_work: bool) -> str:
    """How to go on after a compaction. `todo` is the task list as Markdown, empty where there is none."""
    lines: list[str] = []
    if todo.strip():
        lines += ["The task list as it stands:", todo.strip(), ""]
    if rules_changed:
        lines.append("The rules files have changed; the system prompt has them as they are now.")
    lines.append("The messages before this point gave way to the record above, to make room.")
    if at_work:
        lines.append("You were at work: go on from where the record and the messages after it end, without commenting on this.")
    else:
        lines.append("Nothing is to be done because of this: the user speaks next.")
    return "\n".join(lines)


def _shown_of_it(outlined: bool, in_part: bool, *, edited: bool) -> str:
    """What is shown of a file that is too long to be shown whole."""
    part = "parts near the edits" if edited else "the beginning"
    return " and ".join(each for each in (outlined and "outline", in_part and part) if each) or ONLY_NAME


def _when(edit: FileEdit) -> float:
    return edit.at - DISK_HANDICAP if edit.by == "disk" else edit.at


def _framed(path: str, note: str, text: str) -> str:
    """The text between tags that nothing inside it can close."""
    inside = _CLOSING_TAG.sub("&lt;", text)
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}">\n{inside}\n</file>'


def _empty(path: str, note: str) -> str:
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}" />'

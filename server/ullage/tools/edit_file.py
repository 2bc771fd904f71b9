"""The `edit_file` tool: replaces one exact piece of a file's text by another. Where the piece is not there, it says what stands there
instead.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.file_tools import (
    FILE_ERRORS,
    allowed_target,
    edited,
    excerpt,
    file_failure,
    foreseen,
    permission_to_edit,
    refuse_unseen,
    split_lines,
    write_changed,
)
from ullage.tools.tool import Foreseen, PermissionNeed, ToolCall, ToolKind, ToolOutcome, boolean, check_input, description, text
from ullage.workspace.files import CurrentText, WorkspaceFiles
from ullage.workspace.touched import FileReads

PLACES_NAMED = 10
"""How many places of a piece that is not unique are named."""

SEARCHED_LINES = 10_000
"""How many lines of a file, the first ones, are looked through for something similar."""

SIMILAR = 0.6
"""How alike two lines have to be (0 to 1) so that one is told for the other."""

COMPARED_CHARACTERS = 300
"""How many characters of each line are compared; the time that it takes grows with the square of them."""

CONTEXT_LINES = 2

LINE_END = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class _Planned:
    """An edit that can be made: the text before and after, and the lines where the piece stands (counted from 1)."""

    current: CurrentText
    text: str
    places: list[int]


class EditFile:
    """Edits a file by replacing an exact piece of its text."""

    kind: ToolKind = "edit"

    def __init__(self, files: WorkspaceFiles, reads: FileReads) -> None:
        self._files = files
        self._reads = reads
        self.spec = ToolSpec(
            "edit_file",
            description("edit_file"),
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace folder, or absolute."},
                    "old_text": {"type": "string", "description": "The exact text to replace, without line numbers."},
                    "new_text": {"type": "string", "description": "What stands there afterwards."},
                    "replace_all": {"type": "boolean", "description": "Replace every occurrence; otherwise there must be exactly one."},
                },
                "required": ["path", "old_text", "new_text"],
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `Edit src/tank.py`."""
        return f"Edit {text(input, 'path')}".rstrip()

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What editing the file needs: it is asked about unless a rule allows it. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        return permission_to_edit(text(input, "path"), self._files)

    async def foresee(self, input: Mapping[str, Json], target: Path) -> Foreseen | ToolOutcome:
        """The text before and after the edit, with all places that it would change; or why it cannot be made."""
        try:
            planned = await self._plan(input, target)
        except FILE_ERRORS as error:
            return file_failure(error, text(input, "path"), self._files.folders)
        if isinstance(planned, ToolOutcome):
            return planned
        return await asyncio.to_thread(foreseen, self._files.folders.show(target), planned.current.text, planned.text)

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Edits the file, or says why it cannot and what would help."""
        check_input(self.spec.input_schema, call.input)
        name = text(call.input, "path")
        try:
            if (changed := await write_changed(call, self._files, self._reads)) is not None:
                return changed
            planned = await self._plan(call.input, allowed_target(call, name, self._files))
            if isinstance(planned, ToolOutcome):
                return planned
            return await self._edit(name, planned)
        except FILE_ERRORS as error:
            return file_failure(error, name, self._files.folders)

    async def _plan(self, input: Mapping[str, Json], path: Path) -> _Planned | ToolOutcome:
        name, old_text, new_text = text(input, "path"), text(input, "old_text"), text(input, "new_text")
        if not old_text:
            return ToolOutcome("`old_text` is empty. To make a new file or to replace a whole one, use write_file.", is_error=True)
        if old_text == new_text:
            return ToolOutcome("`old_text` and `new_text` are the same; nothing was changed", is_error=True)
        current = await self._files.read(path)
        standing = self._reads.standing(self._files.folders.show(path), current.sha256)
        if standing != "current":
            why = "changed since you last saw it" if standing == "stale" else "has not been read yet"
            return refuse_unseen(f"`{name}` {why}, so it was not edited.", current, self._files, self._reads)
        old_text, new_text = _with_line_ends_of(current.text, old_text, new_text)
        places = _line_numbers_of(old_text, current.text)
        if not places:
            why = await asyncio.to_thread(_explain_no_match, old_text, current.text)
            return ToolOutcome(f"`old_text` does not occur in `{name}`. {why}", is_error=True)
        if len(places) > 1 and not boolean(input, "replace_all"):
            return ToolOutcome(
                f"`old_text` occurs {len(places)} times in `{name}` (lines {_listed(places)}). Add lines before or after it "
                "until it is unique, or set replace_all.",
                is_error=True,
            )
        return _Planned(current, current.text.replace(old_text, new_text), places)

    async def _edit(self, name: str, planned: _Planned) -> ToolOutcome:
        current, places = planned.current, planned.places
        written = await self._files.write(current.path, planned.text, current.sha256)
        done = f"Edited `{name}` at line {_listed(places)}." if len(places) == 1 else f"Edited `{name}` in {len(places)} places."
        return edited(done, current.text, written, planned.text, self._files, self._reads)


def _with_line_ends_of(text: str, old_text: str, new_text: str) -> tuple[str, str]:
    """Both pieces with the line ends that stand in `text`: nobody sees which they are."""
    if "\r" not in text:
        return old_text.replace("\r\n", "\n"), new_text.replace("\r\n", "\n")
    returns = old_text.replace("\r\n", "\n").replace("\n", "\r\n")
    if old_text in text or returns not in text:
        return old_text, new_text
    return returns, new_text.replace("\r\n", "\n").replace("\n", "\r\n")


def _listed(places: list[int]) -> str:
    named = ", ".join(str(place) for place in places[:PLACES_NAMED])
    return f"{named} ..." if len(places) > PLACES_NAMED else named


def _line_numbers_of(piece: str, text: str) -> list[int]:
    """The lines (counted from 1) where `piece` begins, occurrences not overlapping."""
    numbers: list[int] = []
    line, counted, found = 1, 0, text.find(piece)
    while found >= 0:
        line += text.count("\n", counted, found)
        numbers.append(line)
        counted, found = found, text.find(piece, found + len(piece))
    return numbers


def _explain_no_match(piece: str, text: str) -> str:
    """Why a piece is not in the text, for the model: a slip that explains the miss, or the lines that come closest."""
    if re.fullmatch(r"(?:\s*\d+\t[^\n]*\n?)+", piece):
        return "It has line numbers in it, which are not part of the file. Leave them out."
    lines = _lines(text)[:SEARCHED_LINES]
    wanted = _lines(piece)
    same_words = _where_same_words(wanted, lines)
    if same_words is not None:
        return f"The same words are there with other spaces, indentation or line ends:\n{_around(lines, same_words, len(wanted))}"
    closest = _closest(wanted, lines)
    if closest is not None:
        return f"The closest lines are:\n{_around(lines, closest, len(wanted))}"
    return "Nothing similar is in it. Read the file again, or search for the place."


def _lines(text: str) -> list[str]:
    """The lines of a text, also of one that mixes its line ends."""
    return split_lines(LINE_END.sub("\n", text))


def _where_same_words(wanted: list[str], lines: list[str]) -> int | None:
    words = [line.split() for line in wanted]
    of_file = [line.split() for line in lines]
    return next((at for at in range(len(lines) - len(words) + 1) if of_file[at : at + len(words)] == words), None)


def _closest(wanted: list[str], lines: list[str]) -> int | None:
    """The number of lines before the place in the file where the piece would stand whose longest line has its closest counterpart there;
    None if no line is alike."""
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[anchor].strip()[:COMPARED_CHARACTERS])
    best, best_at = SIMILAR, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:COMPARED_CHARACTERS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, best_at = matcher.ratio(), at
    return None if best_at is None else max(0, best_at - anchor)


def _around(lines: list[str], at: int, count: int) -> str:
    first = max(0, at - CONTEXT_LINES)
    return excerpt(lines, first + 1, at - first + count + CONTEXT_LINES).text

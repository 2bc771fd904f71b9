"""The texts of files as far as a transcript lets one rebuild them, and the files that a policy reads again after a compaction.

A text is known from what was read and written, with the edits since. Calls are known by their inputs, whichever program made them.
Of commands only those that print one file and patches are followed. What other commands change is not.

Files to read again are chosen as in the agent, by the signs that the log holds. No transcript has the signs of the editor and of git.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Json, ToolUse
from ullage.context.calls import files_printed, strings_of
from ullage.context.compaction.evidence import Sign, candidates, logged_edits, signs_in
from ullage.context.compaction.restore import Choosing, FileNow
from ullage.context.compaction_entries import RestoredFile
from ullage.context.entries import AssistantReply, FileTouch, Logged, ToolReturned
from ullage.context.policy import RestoreOptions
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import files_out
from ullage.recorded.readers.entries import PATCH_START, PATCHED

_OLD_TEXT_KEYS = ("old_string", "old_text", "old_str", "oldString", "oldText")
_NEW_TEXT_KEYS = ("new_string", "new_text", "new_str", "newString", "newText")
_WHOLE_TEXT_KEYS = ("content", "file_text")
"""The names under which inputs hold an old text, a new text and a whole text: in Claude Code's tools; Ullage's; Anthropic's text editor
tool; OpenCode's; pi's."""

_NUMBERED = re.compile(r"^ *(\d+)(?:→|\t|: ?| \| ?)(.*)$")
"""A line with its number, as tools for reading print it."""
_REMINDER = re.compile(r"\n*<system-reminder>.*", re.DOTALL)
"""What Claude Code says below what it read."""
_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Process exited|Original token count|Warning|Total output lines)\b[^\n]*\n)+(?:Output:\n)?\n*"
)
"""What Codex says above what a command printed."""
_IN_A_ROW = 3
"""How many lines in a row have to stand in a text already to be no news to it."""


@dataclass(slots=True)
class KnownFile:
    """What is known of a file. Where `text` is not all of it, parts that were seen apart stand one below the other."""

    text: str
    whole: bool
    near_line: int
    """The line where it was edited last, counted from 1; 0 if it was not."""
    touch: FileTouch | None
    """The newest touch of the file; None if a command printed it."""


class KnownFiles:
    """All files of a session, as they are after the entries so far."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolUse] = {}
        self._files: dict[str, KnownFile | None] = {}

    def take(self, logged: Logged) -> None:
        """Takes in the next entry of the transcript."""
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            self._calls.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            call = self._calls.pop(entry.tool_use_id, None)  # a call has one result, and may hold a whole file
            input: Mapping[str, Json] = call.input if call is not None else {}
            for touch in entry.touched:
                known = self._files.get(touch.path)
                if known is not None and touch.kind == "read" and entry.full_output is not None:
                    known.touch = touch  # what was read is a reference to what is known, or a part of it
                else:
                    self._touch(touch, input, entry.content)
            printed = files_printed(input) if not entry.touched and not entry.is_error else ()
            if len(printed) == 1:
                self._see(printed[0], entry.content, None, whole=False)

    def of(self, path: str) -> KnownFile | None:
        """The file under its name in `FileTouch`; None if nothing of it is known (it may be gone, too)."""
        return self._files.get(path)

    def is_gone(self, path: str) -> bool:
        """Whether the file was deleted."""
        return path in self._files and self._files[path] is None

    def _touch(self, touch: FileTouch, input: Mapping[str, Json], shown: str) -> None:
        known = self._files.get(touch.path)
        if touch.kind == "deleted":
            self._files[touch.path] = None
        elif touch.kind == "read":
            self._see(touch.path, shown, touch, whole=not touch.partial)
        else:
            self._files[touch.path] = _written(touch, input, known)

    def _see(self, path: str, shown: str, touch: FileTouch | None, *, whole: bool) -> None:
        """Takes in that a file was shown to the model. Parts of one that is not known whole are put together."""
        text, known = without_numbers(shown), self._files.get(path)
        if known is None or whole:
            self._files[path] = KnownFile(text, whole, known.near_line if known is not None else 0, touch)
        elif not known.whole and (new := _new_to(known.text, text)):
            self._files[path] = KnownFile(f"{known.text}\n{new}", False, 0, touch)


def _written(touch: FileTouch, input: Mapping[str, Json], known: KnownFile | None) -> KnownFile | None:
    whole = next((text for key in _WHOLE_TEXT_KEYS if isinstance(text := input.get(key), str)), None)
    if whole is not None:
        return KnownFile(whole, True, 0, touch)
    file = known
    for old, new, everywhere in (*_edits(input), *_patched(touch.path, input)):
        if old is None:
            file = KnownFile(new, True, 0, touch)
        elif file is None:
            file = KnownFile(new, False, 1, touch)
        elif old and old in file.text:
            line = file.text.count("\n", 0, file.text.index(old)) + 1
            file = KnownFile(file.text.replace(old, new, -1 if everywhere else 1), file.whole, line, touch)
        else:
            line = file.text.count("\n") + 2
            file = KnownFile(f"{file.text}\n{new}", False, line, touch)
    if file is not None and file is known:
        file = KnownFile(file.text, file.whole, file.near_line, touch)
    return file


def _edits(input: Mapping[str, Json]) -> Iterator[tuple[str, str, bool]]:
    """The edits of a call: old text, new text, and whether it is replaced wherever it stands."""
    several = input.get("edits")
    for edit in several if isinstance(several, list) else [input]:
        if not isinstance(edit, Mapping):
            continue
        old, new = _first_text(edit, _OLD_TEXT_KEYS), _first_text(edit, _NEW_TEXT_KEYS)
        if old or new:
            yield old, new, edit.get("replace_all") is True


def _patched(path: str, input: Mapping[str, Json]) -> Iterator[tuple[str | None, str, bool]]:
    """The edits of a file by a patch, in the same form; an old text of None stands for the whole file."""
    for text in strings_of(input):
        for change in _changes_in(text) if PATCH_START in text else ():
            if change.path == path or change.path.endswith(f"/{path}"):
                yield change.old, change.new, False


def _first_text(edit: Mapping[str, Json], keys: Sequence[str]) -> str:
    return next((text for key in keys if isinstance(text := edit.get(key), str)), "")


def _new_to(known: str, text: str) -> str:
    """The lines of `text` without those that stand in `known`, several in a row."""
    had, lines = known.split("\n"), text.split("\n")
    if len(lines) < _IN_A_ROW:
        return "" if text in known else text
    rows = {tuple(had[at : at + _IN_A_ROW]) for at in range(len(had) - _IN_A_ROW + 1)}
    old = set[int]()
    for at in range(len(lines) - _IN_A_ROW + 1):
        if tuple(lines[at : at + _IN_A_ROW]) in rows:
            old.update(range(at, at + _IN_A_ROW))
    return "\n".join(line for at, line in enumerate(lines) if at not in old)


def without_numbers(shown: str) -> str:
    """The text that a tool for reading showed, without the numbers of its lines and what the program said above and below it."""
    lines = _REMINDER.sub("", _HEAD.sub("", shown)).split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    numbered = [match.group(2) for match in found if match is not None]
    return "\n".join(numbered) if len(numbered) * 2 > len(lines) else "\n".join(lines)


@dataclass(frozen=True, slots=True)
class KnownFileEdit:
    """A change at one place of a file. With `old` of None, `new` is the whole file."""

    path: str
    old: str | None
    new: str


def _changes_in(patch: str) -> Iterator[KnownFileEdit]:
    """The changes that a patch makes, in their order; deleted files are not among them."""
    kind, path = "", ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End Patch"]:
        if line.startswith(("@@", "*** ")):
            if new or old:
                yield KnownFileEdit(path, None if kind == "Add" else "\n".join(old), "\n".join(new))
            old, new = [], []
            head = PATCHED.match(line)
            if head is not None:
                kind, path = head.group(1), head.group(2).strip()
        elif kind == "Add" and line.startswith("+"):
            new.append(line[1:])
        elif kind == "Update" and line[:1] in (" ", "-", "+"):
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])


def put_back(seen: Iterable[tuple[int, str]], after: Projection, files: KnownFiles, options: RestoreOptions) -> tuple[RestoredFile, ...]:
    """The files that `after` does not show whole, as many as `options` say. Files of whose text nothing is known are left out. `seen` as in
    `Choosing`."""
    entries, made = after.entries[:-1], after.entries[-1:]  # as the agent looks, before the compaction is logged
    edits = logged_edits(entries, by_seq=True)  # a transcript may tell no times
    signs = () if options.by == "last edited" else _by_one_name([*signs_in(entries), *signs_in(made)])
    likely = candidates(signs, edits, options, after.pins.paths, files_out(after))
    choosing = Choosing(seen, after, likely, {edit.path for edit in edits}, options)
    lines = {edit.path: edit.line for edit in edits}
    while (path := choosing.wants()) is not None:
        choosing.give(_now(path, files, lines.get(path)))
    return choosing.files


def _now(path: str, files: KnownFiles, line: int | None) -> FileNow | None:
    """The file as it is now, without a text if it was deleted; None if nothing of it is known. `line`: where the log says that it was
    edited last; None if it does not say."""
    known = files.of(path)
    if known is None:
        return FileNow(None) if files.is_gone(path) else None
    return FileNow(known.text, known.touch.sha256 if known.touch is not None else None, line or known.near_line)


def _by_one_name(signs: Sequence[Sign]) -> Iterator[Sign]:
    """The signs with each file under one name: a command may name by its whole path, or as `./a.py`, what a tool calls `a.py`."""
    named = {sign.path for sign in signs}
    shorter = {path: _shorter(path, named) for path in named}
    return (replace(sign, path=shorter[sign.path]) for sign in signs)


def _shorter(path: str, named: Collection[str]) -> str:
    """The shortest end of a path that is one of the names by itself."""
    parts = path.removeprefix("./").split("/")
    if len(parts) > 1 and not parts[0]:
        ends = ("/".join(parts[first:]) for first in range(len(parts) - 1, 0, -1))
        return next((end for end in ends if "/" in end and end in named), path)
    return "/".join(parts)

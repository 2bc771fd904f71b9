"""The texts of files as far as a log shows them: read, written and edited by tools of several programs.

Patches as Codex writes them (`*** Update File: …`) are applied too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ullage.context.blocks import Json
from ullage.context.calls import PATH_KEYS, Call, answered_calls, strings_of
from ullage.context.entries import Logged

WRITTEN_KEYS = ("content", "file_text")
"""How tools call the whole text that they write: Ullage's, Claude Code's and most others'; Anthropic's text editor."""
EDIT_KEYS = (("old_text", "new_text"), ("old_string", "new_string"), ("old_str", "new_str"))
"""How tools call what they replace, and by what: Ullage's, Claude Code's, Anthropic's text editor."""
MOST_LINES = 50_000
"""No line number beyond that is believed."""

_NUMBERED = re.compile(r"^ *(\d{1,6})[\t→](.*)$", re.MULTILINE)
"""A line of a file as read tools show it."""

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_END = re.compile(r"^\*\*\* End Patch", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)


def known_texts(entries: Sequence[Logged]) -> dict[str, str]:
    """By path, in the order in which the files were first seen. Of a file of which only a part was read, the other lines are empty."""
    texts: dict[str, str] = {}
    for call in answered_calls(entries):
        path = next((path for key in PATH_KEYS if isinstance(path := call.input.get(key), str)), "")
        if call.returned.is_error:
            continue
        if path:
            texts[path] = _after(call, texts.get(path, ""))
        else:
            texts.update((path, text) for said in strings_of(call.input) for path, text in patched(said, texts).items())
    return {path: text for path, text in texts.items() if text}


def _after(call: Call, before: str) -> str:
    written = next((text for key in WRITTEN_KEYS if isinstance(text := call.input.get(key), str)), None)
    if written is not None:
        return written
    edits = list(_edits(call.input))
    if not edits:
        return _with_lines(before, call.returned.content)
    for old, new in edits:
        if old and old in before:
            before = before.replace(old, new, 1)
    return before or "\n".join(new for _, new in edits)


def _edits(input: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for old_key, new_key in EDIT_KEYS:
        old, new = input.get(old_key), input.get(new_key)
        if isinstance(old, str) and isinstance(new, str):
            yield old, new
    more = input.get("edits")
    for edit in more if isinstance(more, list) else []:
        if isinstance(edit, dict):
            yield from _edits(edit)


def _with_lines(before: str, shown: str) -> str:
    read = {int(number): line for number, line in _NUMBERED.findall(shown)}
    read = {number: line for number, line in read.items() if 0 < number <= MOST_LINES}
    if not read:
        return before
    lines = before.split("\n") if before else []
    lines += [""] * (max(read) - len(lines))
    for number, line in read.items():
        lines[number - 1] = line
    return "\n".join(lines)


def patched(patch: str, before: Mapping[str, str]) -> dict[str, str]:
    """The texts of the files afterwards, empty where one was deleted; nothing where it is no patch.

    Of a file that is known in part only, what was put in stands at the end.
    """
    files = list(_FILE.finditer(patch))
    after: dict[str, str] = {}
    for index, match in enumerate(files):
        end = files[index + 1].start() if index + 1 < len(files) else len(patch)
        body = _END.split(patch[match.end() : end])[0]
        path = match.group(2).strip()
        match match.group(1):
            case "Add":
                after[path] = _side(body, "+")
            case "Update":
                after[path] = _updated(after.get(path, before.get(path, "")), body)
            case _:
                after[path] = ""
    return after


def _updated(text: str, body: str) -> str:
    for hunk in _HUNK.split(body):
        old, new = _side(hunk, "- "), _side(hunk, "+ ")
        if old and old in text:
            text = text.replace(old, new, 1)
        elif new:
            text = f"{text}\n{new}" if text else new
    return text


def _side(hunk: str, marks: str) -> str:
    """The lines that begin with one of the marks, without it."""
    return "\n".join(line[1:] for line in hunk.split("\n") if line[:1] and line[0] in marks)

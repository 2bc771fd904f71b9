"""The texts of files as far as a log shows them: read, written and edited by tools of several programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ullage.context.blocks import Json
from ullage.context.engines.aider.patches import patched
from ullage.context.entries import Logged
from ullage.context.record.calls import PATH_KEYS, Call, answered_calls, strings_of

WRITTEN_KEYS = ("content", "file_text")
"""How tools call the whole text that they write: Ullage's, Claude Code's and most others'; Anthropic's text editor."""
EDIT_KEYS = (("old_text", "new_text"), ("old_string", "new_string"), ("old_str", "new_str"))
"""How tools call what they replace, and by what: Ullage's, Claude Code's, Anthropic's text editor."""
MOST_LINES = 50_000
"""No line number beyond that is believed."""

_NUMBERED = re.compile(r"^ *(\d{1,6})[\t→](.*)$", re.MULTILINE)
"""A line of a file as read tools show it."""


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

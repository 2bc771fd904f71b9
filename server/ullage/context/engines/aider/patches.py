"""Patches as Codex writes them (`*** Update File: …`): what becomes of the files that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_END = re.compile(r"^\*\*\* End Patch", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)


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

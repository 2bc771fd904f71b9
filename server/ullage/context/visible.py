"""Texts of others as the user sees them: what cannot be seen, or changes how the rest is read, stands as an escape.

A name or a command may hold characters that turn the order of what is read around, take no room, or begin a new line. In a title or a
question such a text could look like another one. `client-extension/src/visible.ts` does the same for what comes to the panel as it is;
`tests/protocol/visible.json` holds both to it.
"""

from __future__ import annotations

import re

RETURN_SIGN = "⏎"
"""Stands for the end of a line where everything is shown in one."""

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
"""Characters that count as letters, marks or symbols but are not seen: fillers, joiners, variation selectors."""

_SUSPECT = re.compile(f"[^ -~]|[{_BLANK}]")
_ALWAYS = re.compile(f"[{_BLANK}]")


def visible_line(text: str) -> str:
    """The text in one line: line ends as `⏎`, everything else that is not seen as `\\t`, `\\x1b`, `\\u202e` or `\\U000e0041`."""
    return _SUSPECT.sub(_shown, text.replace("\r\n", "\n"))


def _shown(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\n":
        return RETURN_SIGN
    if character.isprintable() and not _ALWAYS.match(character):
        return character
    return _escape(character)


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\t\r":
        return {"\t": "\\t", "\r": "\\r"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

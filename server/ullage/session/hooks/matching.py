"""Which tools a hook is meant for, and what it is told of a call. Tools go by Claude Code's names for them, or by Ullage's own.

A matcher is names between `|`, in which `*`, `.*` and `.` stand for any characters, and parentheses for a choice: `Edit|Write`,
`mcp__(github|gitlab)__.*`. That is what people write in practice. Nothing more of regular expressions is read: one from a workspace may
take for ever to match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ullage.context.blocks import Json
from ullage.session.instructions.globs import fits_name, without_braces

LONGEST_MATCHER = 500

CLAUDES: Mapping[str, tuple[str, ...]] = {
    "bash": ("Bash",),
    "read_file": ("Read",),
    "edit_file": ("Edit", "MultiEdit"),
    "write_file": ("Write",),
    "search": ("Grep", "Glob"),
    "list_files": ("LS",),
    "todo": ("TodoWrite",),
    "ask_user": ("AskUserQuestion",),
    "propose_plan": ("ExitPlanMode",),
    "task": ("Task", "Agent"),
    "web_fetch": ("WebFetch",),
    "web_search": ("WebSearch",),
}
"""What Claude Code calls the tools that do the same; the first is the one that a hook is told."""

_CLAUDES_INPUT = {"old_text": "old_string", "new_text": "new_string"}

_READABLE = re.compile(r"[\w:*?.|()\s,^$-]*")


def matcher_problem(matcher: object) -> str:
    """Why a matcher cannot be read, in words for the user; empty if it can."""
    if not isinstance(matcher, str) or len(matcher) > LONGEST_MATCHER or _READABLE.fullmatch(matcher) is None:
        return "its matcher is none that Ullage reads: names between |, with .* for any characters"
    return "its matcher has parentheses inside of parentheses" if re.search(r"\([^)]*\(", matcher) else ""


def names_of(tool: str, input: Mapping[str, Json]) -> tuple[str, ...]:
    """The names that the tool of a call can have in a matcher."""
    return (tool, *CLAUDES.get(tool, ()), *_of_server(tool, input))


def _of_server(tool: str, input: Mapping[str, Json]) -> tuple[str, ...]:
    """The name that Claude Code has for the MCP tool that a call is about; none if it is about no such tool."""
    server, named = input.get("server"), input.get("tool")
    is_one = tool == "call_mcp_tool" and isinstance(server, str) and isinstance(named, str)
    return (f"mcp__{server}__{named}",) if is_one else ()


def matches(matcher: str, names: tuple[str, ...]) -> bool:
    """Whether the hook is meant for what has these names."""
    return matcher.strip() in ("", "*", ".*") or any(fits_name(each, name) for each in _read(matcher) for name in names)


@lru_cache(200)
def _read(matcher: str) -> tuple[str, ...]:
    """The patterns that a matcher stands for, each for a whole name. Parentheses with a choice become braces, which the reader of file
    patterns knows."""
    deep, text = 0, ""
    for character in re.sub(r"\s", "", matcher).replace(".*", "*").replace(".+", "*"):
        deep += {"(": 1, ")": -1}.get(character, 0)
        text += {"(": "{", ")": "}", ".": "?", "^": "", "$": ""}.get(character, "," if character == "|" and deep > 0 else character)
    return tuple(each for part in text.split("|") for each in without_braces(part) if each)


def told_name(tool: str, input: Mapping[str, Json], *, as_claude: bool) -> str:
    """The name of a tool as a hook is told it."""
    return (_of_server(tool, input) or CLAUDES.get(tool, (tool,)))[0] if as_claude else tool


def told_input(input: Mapping[str, Json], folder: Path, *, as_claude: bool) -> dict[str, Json]:
    """The input of a call as a hook is told it. Claude Code's scripts look for `file_path`, which is absolute."""
    if not as_claude:
        return dict(input)
    arguments = input.get("arguments")
    if "server" in input and "tool" in input and isinstance(arguments, dict):
        return dict(arguments)
    told: dict[str, Json] = {_CLAUDES_INPUT.get(name, name): value for name, value in input.items()}
    path = input.get("path")
    if isinstance(path, str):
        told["file_path"] = str(folder / path)
    return told

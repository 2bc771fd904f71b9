"""The hooks that files declare: `.claude/settings.json` as Claude Code has it, and `.ullage/hooks.json` of the same shape.

A file says for each event which commands run, and for which tools (`matcher`). Who wrote it is unknown: what does not fit is named and
passed over, and nothing here runs anything. What the user allowed: `allowed.py`. Running them: `running.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from ullage.session.hooks.matching import matcher_problem
from ullage.session.instructions.rules_files import read_instructions
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.folders import OWN_FOLDER, Folders
from ullage.workspace.text_file import FileTooLarge, NotText

Event: TypeAlias = Literal[
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "PostCompact", "Stop"
]
"""The events at which hooks run, by the names that Claude Code has for them."""

EVENTS: tuple[Event, ...] = get_args(Event)

Dialect: TypeAlias = Literal["claude", "ullage"]
"""Whose names of tools and of their inputs a hook is told."""

PLACES: Sequence[tuple[str, Dialect]] = (
    (f"{OWN_FOLDER}/hooks.json", "ullage"),
    (".claude/settings.json", "claude"),
    (".claude/settings.local.json", "claude"),
)
"""The files with hooks in the first workspace folder, in the order in which these run."""

PLACES_AT_HOME: Sequence[tuple[str, Dialect]] = ((f"{OWN_FOLDER}/hooks.json", "ullage"), (".claude/settings.json", "claude"))
"""The files with hooks in the home folder of the user; these hooks come first."""

MOST_HOOKS = 50
"""Most hooks of all files together: each costs a process, and what is beyond is passed over."""

LONGEST_COMMAND = 4_000
"""Characters: the user has to be able to read what they allow."""

SECONDS = 60.0
LONGEST_SECONDS = 600.0
"""How long a hook may take where its file does not say, and at most: the turn waits for it."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One command of one event."""

    event: Event
    matcher: str
    """The tools, or the kind of start or compaction, that it is for; empty for all."""
    command: str
    seconds: float
    """How long the hook may take."""
    source: str
    """The path of its file, as the user knows it."""
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that a file declares and that cannot be run. `why` is in words for the user."""

    event: str
    command: str
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Declared:
    """The hooks that all files declare, and what in them was passed over."""

    hooks: tuple[Hook, ...] = ()
    passed: tuple[Passed, ...] = ()


def declared_hooks(folders: Folders, may_not_be_read: ReadRules) -> Declared:
    """The hooks of the user's home folder and of the first workspace folder, in the order in which they run. For another thread."""
    hooks: list[Hook] = []
    passed: list[Passed] = []
    if folders.first is None:
        return Declared()
    places: list[tuple[Path, Folders, Dialect]] = [(folders.first / place, folders, dialect) for place, dialect in PLACES]
    if folders.home is not None:
        places[:0] = [(folders.home.path / place, folders.home, dialect) for place, dialect in PLACES_AT_HOME]
    for path, within, dialect in places:
        shown, text = within.show(path), _text_of(path, within, may_not_be_read)
        for each in _in_text(text, shown, dialect) if isinstance(text, str) else [Passed("", "", shown, text.why)] if text else []:
            if isinstance(each, Passed):
                passed.append(each)
            elif len(hooks) >= MOST_HOOKS:
                passed.append(Passed(each.event, each.command, shown, f"more than {MOST_HOOKS} hooks are declared"))
            elif each not in hooks:
                hooks.append(each)
    return Declared(tuple(hooks), tuple(passed[:MOST_HOOKS]))


@dataclass(frozen=True, slots=True)
class _NotRead:
    why: str


def _text_of(named: Path, folders: Folders, may_not_be_read: ReadRules) -> str | _NotRead | None:
    """The text of a file with hooks, or why it was not read; None if there is no such file."""
    try:
        path = named.resolve(strict=True)
        if not folders.contains(path) or folders.is_private(path):
            return _NotRead("it is a link to a file outside of the workspace")
        if may_not_be_read.refusing(path, str(named)) is not None:
            return _NotRead("one of your rules refuses to have it read")
        return read_instructions(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RuntimeError, NotText, FileTooLarge) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return _NotRead(f"it cannot be read: {reason}")


def _in_text(text: str, shown: str, dialect: Dialect) -> Iterator[Hook | Passed]:
    try:
        whole: object = json.loads(text)
    except (ValueError, RecursionError):
        yield Passed("", "", shown, "it is no JSON")
        return
    declared = _mapping(whole).get("hooks", {})
    if not isinstance(whole, dict) or not isinstance(declared, dict):
        yield Passed("", "", shown, "its `hooks` are no object")
        return
    is_off = _mapping(cast("object", whole)).get("disableAllHooks") is True
    for event, groups in _mapping(cast("object", declared)).items():
        for each in _of_event(event, groups, shown, dialect):
            if is_off and isinstance(each, Hook):
                yield Passed(each.event, each.command, shown, "the file has `disableAllHooks`")
            else:
                yield each


def _of_event(event: str, groups: object, shown: str, dialect: Dialect) -> Iterator[Hook | Passed]:
    known: Event | None = next((each for each in EVENTS if each == event), None)
    if not isinstance(groups, list):
        yield Passed(event, "", shown, "what stands there is no list")
        return
    for group in cast("list[object]", groups):
        matcher, entries = _mapping(group).get("matcher", ""), _mapping(group).get("hooks")
        for entry in cast("list[object]", entries) if isinstance(entries, list) else [None]:
            command = _mapping(entry).get("command")
            named = _one_line(command) if isinstance(command, str) else ""
            why = _problem(known, matcher, _mapping(entry))
            if why or known is None or not isinstance(command, str):
                yield Passed(event[:100], named, shown, why)
            else:
                yield Hook(known, str(matcher), command, _seconds(_mapping(entry).get("timeout")), shown, dialect)


def _problem(event: Event | None, matcher: object, entry: Mapping[str, object]) -> str:
    """Why a hook cannot be run, in words for the user; empty if it can."""
    command = entry.get("command")
    if event is None:
        return "Ullage has no such event"
    if entry.get("type", "command") != "command":
        return "only hooks of the type command are run"
    if not isinstance(command, str) or not command.strip():
        return "it has no command"
    if len(command) > LONGEST_COMMAND:
        return f"its command has more than {LONGEST_COMMAND:,} characters"
    if not all(character.isprintable() or character in "\n\t" for character in command):
        return "its command has characters that cannot be seen"
    return matcher_problem(matcher)


def _seconds(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        return SECONDS
    return min(float(value), LONGEST_SECONDS)


def _one_line(command: str) -> str:
    plain = " ".join("".join(filter(str.isprintable, word)) for word in command.split())
    return plain if len(plain) <= 200 else f"{plain[:200]} …"


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}

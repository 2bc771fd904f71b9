"""What a call has to be allowed, what is remembered where the user always allows it, and whether that covers a call.

Where it is kept is not known here; never in the workspace, since a repository could bring its own.

What is remembered of a command is a text with its kind before it. A text without a kind was written by an early version, which told
dangerous commands from others by a list of their own; it matches nothing, and the user is asked once more. A version before this one kept
what runs by the will of the folder (`pytest`) as `harmless`, too; there it still covers what has that name, judged as everything is today.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from ullage.tools.command_lines.judge import Named
from ullage.tools.steering import steers
from ullage.tools.tool import PermissionNeed

HARMLESS = "harmless: "
"""Commands of this name that only read, whatever they are given of what is known to do no more."""

RUNS = "runs: "
"""Commands of this name, which run what the folder says, with what is known to make no more of it."""

EXACTLY = "exactly: "

AS_OF = "as of "

SHOWN_CHARACTERS = 100
"""An exact command that is longer is not repeated in the button; the panel shows all of it above."""


def edit_need(path: str, *, at_top: bool = False) -> PermissionNeed:
    """What editing a file needs, `path` as `Folders.show` gives it. Allowing it always allows all files of its folder.

    Not so `at_top` of a workspace folder: it would be all of the workspace, and the first folder's top is known by its empty parent alone.
    """
    pure = PurePosixPath(path)
    reason = steers(pure)
    if reason is not None:
        return PermissionNeed("edit", "", f"Edit {path} (asked each time, because {reason})")
    folder = pure.parent.as_posix()
    pattern = path if at_top or folder == "." else f"{folder}/**"
    return PermissionNeed("edit", f"edits of `{pattern}`", f"Edit {path}", (pattern,))


def patterns_of(need: PermissionNeed) -> tuple[str, ...]:
    """What is to be remembered when the user always allows it; nothing where it is asked each time."""
    if not need.pattern:
        return ()
    parts = need.parts or (need.pattern,)
    return tuple(as_of(part, need.files) for part in parts) if need.files else parts


def shown_approval(action: str, pattern: str) -> str:
    """A remembered pattern as the user reads it in the list of what is always allowed."""
    if action == "command":
        return shown_pattern(pattern)
    if action == "host":
        return f"connections to `{pattern}`"
    return f"edits of `{pattern}`" if action == "edit" else f"`{pattern}`"


def hosts_need(hosts: Sequence[str]) -> PermissionNeed:
    """What connecting to these hosts needs. Allowing it always allows each of them, whatever command connects."""
    named = f"connections to {', '.join(f'`{host}`' for host in hosts)}"
    return PermissionNeed("host", named, f"Make {named}", tuple(hosts))


class Allowed:
    """The patterns that the user always allows for one kind of action in one workspace."""

    def __init__(self, patterns: Collection[str]) -> None:
        self._patterns = frozenset(patterns)

    def covers(self, need: PermissionNeed) -> bool:
        """Whether every part of what is needed is allowed."""
        needed = patterns_of(need)
        return bool(needed) and all(self._covers_one(need, pattern) for pattern in needed)

    def covered_before(self, need: PermissionNeed) -> bool:
        """Whether a command was allowed when the files that it names were others."""
        return need.action == "command" and any(covered_before(self._patterns, pattern) for pattern in patterns_of(need))

    def _covers_one(self, need: PermissionNeed, pattern: str) -> bool:
        if need.action == "command":
            return covers(self._patterns, pattern)
        if pattern in self._patterns:
            return True
        return need.action == "edit" and any(f"{folder}/**" in self._patterns for folder in PurePosixPath(pattern).parents)


def named_patterns(commands: Sequence[Named]) -> tuple[str, ...]:
    """One text for each command."""
    return tuple(f"{RUNS if command.effect == 'runs' else HARMLESS}{command.name}" for command in commands)


def exact_pattern(line: str) -> tuple[str, ...]:
    """The line as it stands; nothing where it holds characters that nobody sees: what is allowed for ever has to be what was read."""
    return (f"{EXACTLY}{line}",) if line.replace("\n", "").replace("\t", "").isprintable() else ()


def as_of(pattern: str, files: str) -> str:
    """The pattern with the digest of the files that its line names: it is allowed as long as these are the same."""
    return f"{AS_OF}{files} {pattern}"


def covered_before(remembered: Collection[str], pattern: str) -> bool:
    """Whether the line of this pattern was allowed, with other files."""
    line = _line_of(pattern)
    return line is not None and any(_line_of(known) == line and known != pattern for known in remembered)


def _line_of(pattern: str) -> str | None:
    return pattern.removeprefix(AS_OF).partition(" ")[2] if pattern.startswith(AS_OF) else None


def covers(remembered: Collection[str], pattern: str) -> bool:
    """Whether what is remembered allows a command of this pattern."""
    return pattern in remembered or (pattern.startswith(RUNS) and HARMLESS + pattern.removeprefix(RUNS) in remembered)


def shown_pattern(pattern: str) -> str:
    """What the user reads on the button, and in the list of what is always allowed."""
    if pattern.startswith(AS_OF):
        return f"{shown_pattern(_line_of(pattern) or '')}, while the files that it names stay the same"
    if pattern.startswith(HARMLESS):
        return f"`{pattern.removeprefix(HARMLESS)} *`"
    if pattern.startswith(RUNS):
        return f"`{pattern.removeprefix(RUNS)} *` (runs code of this folder)"
    command = pattern.removeprefix(EXACTLY)
    can_be_shown = len(command) <= SHOWN_CHARACTERS and not set("\n`") & set(command)
    return f"exactly `{command}`" if can_be_shown else "exactly this command"

"""What is remembered of a command that the user always allows: texts with their kind before them.

A text without a kind was written by an early version, which told dangerous commands from others by a list of their own; it matches
nothing, and the user is asked once more. A version before this one kept what runs by the will of the folder (`pytest`) as `harmless`,
too; there it still covers what has that name, judged as everything is today.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ullage.tools.command_lines.judge import Named

HARMLESS = "harmless: "
"""Commands of this name that only read, whatever they are given of what is known to do no more."""

RUNS = "runs: "
"""Commands of this name, which run what the folder says, with what is known to make no more of it."""

EXACTLY = "exactly: "
AS_OF = "as of "

SHOWN_CHARACTERS = 100
"""An exact command that is longer is not repeated in the button; the panel shows all of it above."""


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

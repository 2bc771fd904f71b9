"""What a user sees of the agent's changes: files with their open hunks, what each turn changed, and what came of keeping and undoing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.change_entries import Uncovered

Status: TypeAlias = Literal["created", "modified", "deleted"]
"""What the agent did to a file."""


@dataclass(frozen=True, slots=True)
class ShownHunk:
    """One open change. Lines count from 1; of no lines, the start is that of the line before which they would stand."""

    id: str
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    edited: bool = False
    """The user typed in it: it is theirs, and is not undone."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A changed file. `added` and `removed` are lines."""

    path: str
    """The path, written as in a `FileTouch`."""
    where: Path
    status: Status
    added: int
    removed: int
    binary: bool = False
    note: str = ""
    """What is particular about it, for the user: it was moved meanwhile, only its line ends changed, ..."""
    hunks: tuple[ShownHunk, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn with open changes: the id and the text of its prompt, and in how many files."""

    turn_id: str
    title: str
    files: int


@dataclass(frozen=True, slots=True)
class OpenChanges:
    """All open changes together. `files` are the first of them, without hunks; `count` says how many there are."""

    files: tuple[ShownFile, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0
    turns: tuple[OpenTurn, ...] = ()
    """The newest turns that still have open changes, the oldest first."""


NOTHING_OPEN = OpenChanges()


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """What the calls of one turn changed, whatever became of it since. `turn_id` is that of its prompt, `at` Unix seconds."""

    turn_id: str
    title: str
    at: float
    files: tuple[ShownFile, ...]
    uncovered: tuple[Uncovered, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedFile:
    """What came of keeping or undoing changes of a file; `why` says what stands in the way, or what stays."""

    path: str
    outcome: Literal["done", "conflict"]
    why: str = ""

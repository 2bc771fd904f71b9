"""What the agent gets back after a summary: which files are read again, how much of each, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.context.entries import RestoredFile
from ullage.context.policy import RestoreNumbers


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of a file: where, when (Unix seconds) and by whom. `disk` is everything that is no editor or agent."""

    path: str
    at: float
    by: Literal["agent", "user", "disk"]


def choose(edits: Sequence[FileEdit], numbers: RestoreNumbers) -> tuple[str, ...]:
    """The paths to read again, most wanted first."""
    raise NotImplementedError


def take(
    path: str,
    text: str | None,
    near_lines: Sequence[int],
    numbers: RestoreNumbers,
    budget: int,
    sha256: str = "",
) -> RestoredFile:
    """What the model gets of one file, in at most `budget` tokens; `text` is None where the file is gone."""
    raise NotImplementedError


def resume_text(todo: str, rules_changed: bool, at_work: bool) -> str:
    """How to go on after a compaction."""
    raise NotImplementedError

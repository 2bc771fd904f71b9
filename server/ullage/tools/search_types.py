"""What is searched for and what was found, the same whichever program searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MATCHES = 200
"""Matching lines at most."""

LINE_CHARACTERS = 300
"""A longer line is shown cut."""

SECONDS = 20.0
"""A search that takes longer gives back what it has found."""


class BadPattern(Exception):
    """The regular expression is not valid; the message says where."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search. `skipped` are files that are searched elsewhere (open documents)."""

    pattern: str
    case_sensitive: bool
    places: tuple[Path, ...]
    wanted: Callable[[Path], bool]
    skipped: frozenset[Path]


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line; `line` counts from 1, `text` is without its indentation and cut at `LINE_CHARACTERS`."""

    path: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What was found; `cut_short` says that there may be more."""

    matches: tuple[Match, ...]
    cut_short: bool


def shown_line(line: str) -> str:
    """A line as a match shows it."""
    line = line.strip()
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]} ..."

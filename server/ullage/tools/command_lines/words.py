"""The values that a reader of command lines gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["word", "operator", "redirection"]

Span: TypeAlias = tuple[Kind, int, int]
"""A piece of the line: what it is, where it begins and where it ends, in characters. Between two pieces there are only blanks."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program gets it, but for `*` and `?`, which the shell expands to names of files."""

    text: str
    bare: bool
    """Nothing of it was quoted."""
    has_glob: bool
    """Any number of words may stand in its place."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The words of each command of a line, in order, and the pieces that the line consists of."""

    commands: tuple[tuple[Word, ...], ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """The line may do anything; `reason` says what in it is not followed."""

    reason: str

"""Where the context counts as full, how full it is, and how much a turn usually adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ullage.context.entries import Logged
from ullage.context.policy import LineNumbers

Level: TypeAlias = Literal["normal", "warning", "error"]


def line(window: int, numbers: LineNumbers, cap: int) -> int:
    """Tokens at which the context counts as full: where it compacts."""
    raise NotImplementedError


def level(used: int, line: int, numbers: LineNumbers) -> Level:
    """How the gauge is coloured."""
    raise NotImplementedError


def growth(entries: Sequence[Logged]) -> int:
    """Tokens that a turn of this session usually adds."""
    raise NotImplementedError

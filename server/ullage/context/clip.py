"""Clip: a tool result that is too long gives way to its head and tail, before it is first sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.context.policy import ClipNumbers


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result as the tool gave it."""

    tool_use_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Clip:
    """A result as the model gets it. `characters` is the length before."""

    content: str
    clipped: bool
    characters: int


def clip(arrivals: Sequence[Arrival], numbers: ClipNumbers, path_of: Callable[[str], str]) -> tuple[Clip, ...]:
    """What the model gets of each result of one message; `path_of` names the file that holds the whole of one."""
    raise NotImplementedError

"""Where in the workspace a call is at work, so that an editor can follow along: as the Agent Client Protocol's `locations`."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ullage.context.blocks import Json
from ullage.context.entries import ToolReturned
from ullage.tools.tool import ToolKind
from ullage.workspace.folders import Folders

MOST_LOCATIONS = 50
"""Of one call: a search touches files by the hundred, and nobody follows there."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, and a line in it (from 1) where one is known."""

    path: str
    """Absolute."""
    line: int | None = None


Locate: TypeAlias = Callable[[ToolKind, Mapping[str, Json], ToolReturned | None], tuple[Location, ...]]
"""Where a call of that kind is at work, by its input, and once it is done by its result."""


def nowhere(kind: ToolKind, input: Mapping[str, Json], result: ToolReturned | None) -> tuple[Location, ...]:
    """Where nobody follows."""
    return ()


def locating(folders: Folders) -> Locate:
    """In these folders. What lies outside of them is no location: the path may be anybody's, and an editor would open it."""

    def locate(kind: ToolKind, input: Mapping[str, Json], result: ToolReturned | None) -> tuple[Location, ...]:
        named, line = (_text(input.get("path")), _line(input.get("offset"))) if kind in ("read", "edit", "search") else ("", None)
        if result is None or not result.touched:
            found = [(named, line)] if named else []
        else:
            found = [(path, result.line) for path in dict.fromkeys(touch.path for touch in result.touched)][:MOST_LOCATIONS]
        return tuple(Location(path, at) for name, at in found if (path := _absolute(name, folders)) is not None)

    return locate


def _absolute(name: str, folders: Folders) -> str | None:
    """Without a look at the disk: a long log has thousands."""
    if folders.first is None or "\0" in name:
        return None
    path = os.path.normpath(folders.first / name)
    return path if folders.contains(Path(path)) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _line(value: Json) -> int | None:
    return value if type(value) is int and value > 0 else None

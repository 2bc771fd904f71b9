"""What was brought from a worktree into the workspace folder, as it is kept to be taken back: what each file held before and after.

It is kept of the last time that something was brought, beside the log, and before any file is written. So a kill in between loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.blocks import Json
from ullage.store.errors import StoreFailed
from ullage.store.versions import Versions
from ullage.workspace.files import Content

CHANGED_SINCE = "It was changed since, in the same lines. It stays as it is"
NOT_KEPT = "What it held before is no longer kept. It stays as it is"

Held: TypeAlias = tuple[str, bool] | None
"""The SHA-256 of what a file held, and whether it could be run; None where there was none."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file that was brought. `path` is relative to the repository."""

    path: str
    here: Path
    before: Held
    after: Held


def keep(versions: Versions, content: Content | None) -> Held:
    """Keeps what a file holds. Raises `StoreFailed`. For another thread."""
    if content is None:
        return None
    return versions.keep(content.data, executable=content.executable).sha256, content.executable


class NotKept(Exception):
    """What a file held is not there any more."""


def kept(versions: Versions, held: Held) -> Content | None:
    """What it held. Raises `NotKept`. For another thread."""
    if held is None:
        return None
    try:
        data = versions.read(held[0])
    except StoreFailed as error:
        raise NotKept from error
    if data is None:
        raise NotKept
    return Content(data, held[1])


def to_json(files: Sequence[Brought]) -> Json:
    """As a row keeps it."""
    return [{"path": each.path, "here": str(each.here), "before": _written(each.before), "after": _written(each.after)} for each in files]


def from_json(value: Json) -> list[Brought]:
    """As a row has it. What cannot be read is left out."""
    rows = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return [brought for brought in map(_read, rows) if brought is not None]


def _written(held: Held) -> Json:
    return None if held is None else list(held)


def _read(row: Mapping[str, Json]) -> Brought | None:
    path, here = row.get("path"), row.get("here")
    before, after = _held(row.get("before")), _held(row.get("after"))
    if not isinstance(path, str) or not isinstance(here, str) or before == "damaged" or after == "damaged":
        return None
    return Brought(path, Path(here), before, after)


def _held(value: Json) -> Held | Literal["damaged"]:
    match value:
        case None:
            return None
        case [str() as sha256, bool() as executable]:
            return sha256, executable
        case _:
            return "damaged"

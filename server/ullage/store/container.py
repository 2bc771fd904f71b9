"""Whether what is kept goes with the container that the server runs in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_VARIABLES = ("REMOTE_CONTAINERS", "CODESPACES")
_MOUNTS = Path("/proc/self/mountinfo")
_POINT = 4
"""The field of a line that says where something is mounted."""


def goes_with_the_container(
    location: Path, environment: Mapping[str, str] = os.environ, marks: Sequence[Path] = _MARKS, mounts: Path = _MOUNTS
) -> bool:
    """Whether this is a container and the location lies on its own file system, which goes when it is made anew. Not where that is not
    known."""
    if not any(environment.get(name) for name in _VARIABLES) and not any(mark.exists() for mark in marks):
        return False
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    points = [_unescaped(fields[_POINT]) for line in lines if len(fields := line.split(" ")) > _POINT]
    around = [point for point in points if location.is_relative_to(point)]
    return bool(around) and max(around, key=len) == "/"


def advice(location: Path) -> str:
    """What the user is told."""
    mount = f'"mounts": ["source=ullage,target={location},type=volume"]'
    return (
        f"This is a container, and {location} is not on a volume: your sessions are gone when the container is made anew. "
        f"Mount a volume there (devcontainer.json: {mount}), or set ullage.store.location to a folder on one"
    )


def _unescaped(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), name)

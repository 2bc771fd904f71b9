"""The kinds of systems that differ, and the one that this process runs on."""

from __future__ import annotations

import sys
from enum import StrEnum


class System(StrEnum):
    """A kind of system. WSL is Linux, as it is for every program in it."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


def system_of(platform: str) -> System:
    """The kind that a value of `sys.platform` stands for. Any other system (FreeBSD) is treated as Linux is where it can be."""
    return {"win32": System.WINDOWS, "darwin": System.MACOS}.get(platform, System.LINUX)


HERE = system_of(sys.platform)
"""The system that this process runs on."""

"""What the process does before anything else: secrets leave its environment, and what it needs is imported quickly."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager


def take_secret(name: str) -> str | None:
    """The value of an environment variable, which is then gone: for child processes, and for who looks at this process from
    outside. None where it is not set."""
    value = os.environ.get(name)
    if value is None:
        return None
    _overwrite(name)
    del os.environ[name]
    return value


def _overwrite(name: str) -> None:
    # Unsetting a variable leaves the memory that the process was started with as it is, and every process of the same user
    # can read that: `cat /proc/$PPID/environ`, `ps eww`.
    try:
        import ctypes

        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    except (ImportError, OSError, TypeError, ValueError):  # Windows, which has no such thing
        return
    prefix = name.encode() + b"="
    index = 0
    while address := entries[index]:
        entry = ctypes.string_at(address)
        if entry.startswith(prefix):
            ctypes.memset(address + len(prefix), 0, len(entry) - len(prefix))
        index += 1


@contextmanager
def quick_imports() -> Generator[None]:
    """The collector rests meanwhile, and never looks at what was imported, which lives as long as the process.

    Nothing of it is garbage, and looking for some takes an eighth of the time of these imports.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.freeze()
            gc.enable()

"""Ends what a command left behind outside of a sandbox: processes that left its group carry its mark in their environment.

Only Linux shows the environment of processes. It is the second net there: what empties its environment as well is found by who its parent
is (`processes/reaper.py`); in the sandbox nothing stays anyway.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "ULLAGE_CALL"
"""The variable; its value is another one for each command."""

MOST_ROUNDS = 50
"""How often it is looked again, since a process may start others meanwhile."""


def new_mark() -> str:
    """A value that no other command has."""
    return secrets.token_hex(16)


def end_marked(mark: str) -> int:
    """Kills all processes with that mark, and says how many there were."""
    ended: set[int] = set()
    for _ in range(MOST_ROUNDS):
        found = [process for process in _marked(mark) if process not in ended]
        if not found:
            break
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
            ended.add(process)
    return len(ended)


def _marked(mark: str) -> Iterator[int]:
    if sys.platform != "linux":
        return
    line = f"{MARK}={mark}".encode()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if line in Path(f"/proc/{entry.name}/environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue

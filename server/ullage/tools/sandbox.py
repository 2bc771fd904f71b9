"""Keeps what a command writes within the workspace, where the system offers it: bubblewrap on Linux.

Elsewhere commands run plainly; the user was asked before, either way. Reading and the network are not restricted.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ullage.workspace.folders import OWN_FOLDER

PROBE_SECONDS = 5.0

BLOCKED = "read-only file system"
"""What programs say (in any case) when they may not write."""

BLOCKED_NOTE = (
    "(The sandbox blocked a write. Commands can write to the workspace folders, the temporary folder and ~/.cache only. If it has to "
    "be elsewhere, ask the user to run it, or to turn off the setting ullage.bash.sandbox.)"
)

_ISOLATION = ("--unshare-pid", "--die-with-parent", "--dev", "/dev", "--proc", "/proc")
"""With their own process numbers, all processes of a command end when it ends, whatever they do."""


def sandboxed(bubblewrap: str, command: Sequence[str], roots: Sequence[Path]) -> list[str]:
    """The command line that runs `command` with everything read-only but the workspace folders, temp and ~/.cache."""
    writable = [*roots, Path(tempfile.gettempdir()), Path.home() / ".cache"]
    arguments = [bubblewrap, "--ro-bind", "/", "/", *_ISOLATION]
    for folder in writable:
        arguments += ["--bind-try", str(folder), str(folder)]
    for root in roots:
        arguments += ["--ro-bind-try", str(root / OWN_FOLDER), str(root / OWN_FOLDER)]
    return [*arguments, "--", *command]


async def find_bubblewrap() -> str | None:
    """Where a bubblewrap is that works here; None where there is none (containers often forbid it)."""
    program = shutil.which("bwrap") if sys.platform == "linux" else None
    if program is None:
        return None
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "--ro-bind",
            "/",
            "/",
            *_ISOLATION,
            "--",
            "true",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        return program if await asyncio.wait_for(process.wait(), PROBE_SECONDS) == 0 else None
    except TimeoutError:
        process.kill()
        await process.wait()
        return None

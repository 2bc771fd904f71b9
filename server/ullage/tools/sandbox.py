"""Keeps what a command writes within the workspace, where the system offers it: bubblewrap on Linux.

Elsewhere commands run plainly; the user was asked before, either way. Reading and the network are not restricted. What is guarded
within the workspace says `guarded.py`.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ullage.tools.guarded import Guarded

PROBE_SECONDS = 5.0

BLOCKED = ("read-only file system", "device or resource busy")
"""What programs say (in any case) when they may not write, or not put another file in the place of one that is guarded."""

BLOCKED_NOTE = (
    "(The sandbox blocked a write. Commands can write to the workspace folders, the temporary folder and ~/.cache only, and not to "
    "what runs programs later (the config and hooks of git, .vscode). If it has to be, ask the user to run it, or to turn off the "
    "setting ullage.bash.sandbox.)"
)

_ISOLATION = ("--unshare-pid", "--die-with-parent", "--dev", "/dev", "--proc", "/proc")
"""With their own process numbers, all processes of a command end when it ends, whatever they do."""


def sandboxed(bubblewrap: str, command: Sequence[str], roots: Sequence[Path], guard: Guarded) -> list[str]:
    """The command line that runs `command` with everything read-only but the workspace folders, temp and ~/.cache.

    A later bind lies over an earlier one, so folders come before those inside of them, and what is guarded comes last. What is
    guarded outside of the writable folders is read-only already.
    """
    writable = [*_everybodys(), *sorted(roots, key=lambda root: len(root.parts))]
    arguments = [bubblewrap, "--ro-bind", "/", "/", *_ISOLATION]
    for folder in (*writable, *_inside(guard.held, writable)):
        arguments += ["--bind-try", str(folder), str(folder)]
    for path in _inside(guard.read_only, writable):
        arguments += ["--ro-bind-try", str(path), str(path)]
    return [*arguments, "--", *command]


def _everybodys() -> list[Path]:
    """Links are resolved: nothing can be bound over one."""
    return [Path(tempfile.gettempdir()).resolve(), (Path.home() / ".cache").resolve()]


def _inside(paths: Sequence[Path], folders: Sequence[Path]) -> list[Path]:
    return [path for path in paths if any(path.is_relative_to(folder) for folder in folders)]


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

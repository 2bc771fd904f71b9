"""Which files of a folder have changed since the last commit, as git says."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path

logger = logging.getLogger(__name__)

MOST = 200
"""Files; where more have changed, that says nothing of any one of them, and none are given."""

# Nothing that the repository's own configuration may name is run, and nothing is written (no refreshed index).
_COMMAND = ("git", "-c", "core.fsmonitor=false", "--no-optional-locks", "status", "--porcelain=v1", "-z", "--untracked-files=no", "--", ".")


async def uncommitted(folder: Path, seconds: float) -> Sequence[Path]:
    """The changed files, deleted ones left out. Empty without git, outside a repository, and where it takes longer than `seconds`."""
    top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if top is None:
        return ()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        logger.info("git cannot be run: %s", error.strerror)
        return ()
    try:
        output, _ = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return ()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    names = _names(output.decode("utf-8", "surrogateescape")) if process.returncode == 0 else []
    paths = [path for name in names if (path := top / name).is_file()]
    return paths if len(paths) <= MOST else ()


def _names(output: str) -> list[str]:
    """`XY name` each, and after a renamed one the name that it had, all ended by NUL."""
    fields = iter(output.split("\0"))
    names: list[str] = []
    for field in fields:
        if len(field) < 4:
            continue
        names.append(field[3:])
        if field[0] in "RC":
            next(fields, None)
    return names

"""A home folder with sessions of other programs, and a workspace beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from tests.unit.recorded.readers.recorded import Claude
from tests.unit.session.harness import Stage
from ullage.context.blocks import Json
from ullage.recorded.places import Home, folder_of_claude
from ullage.session.session import Session


def home_of(folder: Path) -> Path:
    """The made-up home beside that workspace."""
    return folder.parent / "home"


def at_home(here: Stage) -> None:
    """The list looks there, and not in the home of whoever runs the tests."""
    own = home_of(here.folder)
    here.sessions.coming_over.home = lambda: Home(own, {})


def claude_file(folder: Path, lines: Iterable[Json], *, of: Path | None = None, name: str = "s1") -> Path:
    """Lines of Claude Code in its place for the folder, in which its agent worked."""
    worked = of or folder
    path = home_of(folder) / ".claude" / "projects" / folder_of_claude(worked) / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    told = [{**line, "cwd": str(worked), "version": "2.1.0"} if isinstance(line, dict) and "cwd" in line else line for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in told), encoding="utf-8")
    return path


async def come_over(here: Stage, *, everywhere: bool = False) -> Session:
    """The newest session in the list is gone on with."""
    at_home(here)
    listed = await here.sessions.coming_over.listed(everywhere=everywhere)
    session = await here.sessions.coming_over.go_on(listed.sessions[0].id)
    await here.idle(session)
    return session


def touched_at(path: Path, seconds: float) -> None:
    """As if it had been changed then."""
    os.utime(path, (seconds, seconds))


def claude() -> Claude:
    """Lines to be made."""
    return Claude()

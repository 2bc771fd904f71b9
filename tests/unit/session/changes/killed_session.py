"""A process with a session that changes files and goes back, until it kills itself at a chosen point."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from tests.fake_api import Call
from tests.unit.session.changes.changing import edit, run, turn, write
from tests.unit.session.harness import stage
from ullage.store.session_writer import SessionWriter
from ullage.store.versions import Versions
from ullage.workspace import files, text_file

P = ParamSpec("P")
T = TypeVar("T")


def live(folder: Path, kill_at: int) -> None:
    """Dies at the point of that number: before and after each write of content, a note, an entry, a file. Ends where there is none."""
    left = kill_at

    def pointed(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
            point()
            result = function(*args, **kwargs)
            point()
            return result

        return wrapped

    def point() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, names in {
        Versions: ("keep_packed", "begin", "ended", "name"),
        SessionWriter: ("append",),
        files: ("replace_regular", "remove_regular"),
        text_file: ("replace_regular",),
    }.items():
        for name in names:
            setattr(owner, name, pointed(getattr(owner, name)))
    asyncio.run(_work(folder))


async def _work(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        read = Call("read_file", {"path": "tank.py"})
        await turn(here, session, read, edit("tank.py", "100", "200"), write("a/new.py", "x = 1\n"))
        await turn(here, session, run("rm readings.csv; echo y >> a/new.py; printf '\\0\\1' > a.bin; echo z > tank.py"))
        for _ in range(2):
            points = await session.going_back.checkpoints()
            await session.restore(points[0].id)
            await session.restore(next(each.id for each in reversed(await session.going_back.checkpoints()) if each.forward))
        turns = await session.reviewing.turns()
        await session.reviewing.undo(turn_id=turns[-1].turn_id)
        await session.reviewing.keep("tank.py")
        await session.reviewing.undo()
        await turn(here, session, run("mkdir -p a; echo 1 > a/new.py; mv a b; echo end > tank.py"))

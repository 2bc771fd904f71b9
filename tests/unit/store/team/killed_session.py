"""A process with a session over the team's database, which is killed while the model answers."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fake_api import Call, Hang, Say
from tests.unit.session.harness import stage
from ullage.session.settings import Settings


def run(folder: Path, url: str, workspace: str, told: Connection) -> None:
    """Asks, reads a file, and asks again. Tells the id of the session when the second answer does not come. Never ends by itself."""
    asyncio.run(_run(folder, url, workspace, told))


async def _run(folder: Path, url: str, workspace: str, told: Connection) -> None:
    async with stage(folder, settings=Settings(store_url=url, store_workspace=workspace)) as here:
        here.fake.enqueue([Say("I look."), Call("read_file", {"path": "tank.py"})], Hang())
        session = await here.new()
        await session.prompt("How much does the tank hold?")
        await here.fake.until_held()
        told.send(session.id)
        await asyncio.Event().wait()

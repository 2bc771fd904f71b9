"""A database that takes its time: a server on the loopback that hands on to a real one what comes, each message so many seconds later."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path


@asynccontextmanager
async def slowly(folder: Path, seconds: float, came: Callable[[], None] = lambda: None) -> AsyncGenerator[int]:
    """Gives the port at which the PostgreSQL with a socket in that folder is reached. What it answers comes at once. `came` is called with
    each message to it."""
    running: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        there, to_it = await asyncio.open_unix_connection(str(folder / ".s.PGSQL.5432"))
        with suppress(ConnectionError):
            await asyncio.gather(_pass(reader, to_it, seconds, came), _pass(there, writer, 0.0, lambda: None))
        running.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, family=socket.AF_INET)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _pass(source: asyncio.StreamReader, target: asyncio.StreamWriter, seconds: float, came: Callable[[], None]) -> None:
    try:
        while data := await source.read(1 << 16):
            came()
            await asyncio.sleep(seconds)
            target.write(data)
            await target.drain()
    finally:
        target.close()

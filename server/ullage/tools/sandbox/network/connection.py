"""Connects one command's sandbox with the server's own proxy.

bubblewrap says which process it made, and waits until the proxy is there. The proxy gets a socket that listens within the sandbox's network
(`doorway.py`). So nothing has to run in there.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from ullage.tools.sandbox.network.doorway import Doorway
from ullage.tools.sandbox.network.enter import PORT
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.sandbox.network.proxy import Proxy

LONGEST_INFO = 4096
"""How many bytes of bubblewrap's message are read."""

NO_PROXY = "localhost,127.0.0.1,::1"


def proxy_variables(port: int) -> dict[str, str]:
    """The variables that name a proxy at that port for npm, pip, git, curl, cargo, go and most others; the last is for `fetch` of Node 24.
    Java reads none of them."""
    address = f"http://127.0.0.1:{port}"
    upper = {"HTTP_PROXY": address, "HTTPS_PROXY": address, "ALL_PROXY": address, "NO_PROXY": NO_PROXY}
    return upper | {name.lower(): value for name, value in upper.items()} | {"NODE_USE_ENV_PROXY": "1"}


@dataclass(frozen=True, slots=True)
class SandboxConnection:
    """The arguments that bubblewrap gets for the connection of one sandbox, and the open files that it takes over."""

    arguments: Sequence[str]
    pass_fds: Sequence[int]
    started: asyncio.Future[int]
    """The number of the sandbox's first process, once it is there."""


@asynccontextmanager
async def connected(proxy: Proxy, place: CommandSpan | None = None) -> AsyncGenerator[SandboxConnection]:
    """Has the proxy serve the command that is started within the block, and lets it reach its neighbours from its place among them. If that
    fails, the command runs without any network."""
    info_reader, info_writer = os.pipe()
    wait_reader, wait_writer = os.pipe()
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    connecting = asyncio.ensure_future(_connect(info_reader, wait_writer, proxy, started, place))
    try:
        arguments = ["--info-fd", str(info_writer), "--block-fd", str(wait_reader)]
        yield SandboxConnection(arguments, (info_writer, wait_reader), started)
    finally:
        connecting.cancel()
        started.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await connecting
        if place is not None:
            await place.leave()
        for descriptor in (info_reader, info_writer, wait_reader, wait_writer):
            os.close(descriptor)


async def _connect(info: int, go_on: int, proxy: Proxy, started: asyncio.Future[int], place: CommandSpan | None) -> None:
    try:
        process = await _child(info)
        started.set_result(process)
        doorway = await Doorway.to(process)
        try:
            await proxy.serve(await doorway.listener("127.0.0.1", PORT))
            if place is not None:
                await place.take(process, doorway)
        finally:
            await doorway.close()
    finally:
        with suppress(OSError):
            os.write(go_on, b"x")


async def _child(info: int) -> int:
    """Waits for the number of the process that bubblewrap made, as bubblewrap writes it."""
    loop = asyncio.get_running_loop()
    said = b""
    os.set_blocking(info, False)
    while b"}" not in said and len(said) < LONGEST_INFO:
        ready = asyncio.Event()
        loop.add_reader(info, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(info)
        with suppress(BlockingIOError):
            said += os.read(info, LONGEST_INFO)
    try:
        return int(json.loads(said)["child-pid"])
    except (ValueError, KeyError, TypeError) as error:
        raise OSError("bubblewrap did not say which process it made") from error

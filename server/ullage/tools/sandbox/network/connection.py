"""Connects one command's sandbox with the server's own proxy.

bubblewrap says which process it made, and waits until the proxy is there. The proxy gets a socket that listens within the sandbox's network
(`enter.py` makes it). So nothing has to run in there.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, start
from ullage.tools.sandbox.network.proxy import Proxy

LONGEST_INFO = 4096
"""Bytes of what bubblewrap says."""

NO_PROXY = "localhost,127.0.0.1,::1"


def proxy_variables(port: int) -> dict[str, str]:
    """What npm, pip, git, curl, cargo, go and most others read; the last is for `fetch` of Node 24. Java reads none of them."""
    address = f"http://127.0.0.1:{port}"
    upper = {"HTTP_PROXY": address, "HTTPS_PROXY": address, "ALL_PROXY": address, "NO_PROXY": NO_PROXY}
    return upper | {name.lower(): value for name, value in upper.items()} | {"NODE_USE_ENV_PROXY": "1"}


@dataclass(frozen=True, slots=True)
class Connection:
    """What bubblewrap gets for it."""

    arguments: Sequence[str]
    pass_fds: Sequence[int]
    started: asyncio.Future[int]
    """The number of the sandbox's first process, once it is there."""


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncGenerator[Connection]:
    """Has the proxy serve the command that is started within the block. Where it cannot be had the command runs without any network."""
    info_reader, info_writer = os.pipe()
    wait_reader, wait_writer = os.pipe()
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    connecting = asyncio.ensure_future(_connect(info_reader, wait_writer, proxy, started))
    try:
        arguments = ["--info-fd", str(info_writer), "--block-fd", str(wait_reader)]
        yield Connection(arguments, (info_writer, wait_reader), started)
    finally:
        connecting.cancel()
        started.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await connecting
        for descriptor in (info_reader, info_writer, wait_reader, wait_writer):
            os.close(descriptor)


async def _connect(info: int, go_on: int, proxy: Proxy, started: asyncio.Future[int]) -> None:
    try:
        process = await _child(info)
        started.set_result(process)
        await proxy.serve(await _listen_inside(process))
    finally:
        with suppress(OSError):
            os.write(go_on, b"x")


async def _child(info: int) -> int:
    """The number of the process that bubblewrap made, as it writes it."""
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


ENTER_SECONDS = 10.0


async def _listen_inside(process: int) -> socket.socket:
    """A socket that listens on `enter.PORT` of the loopback device in the network of that process.

    A process of our own enters that network and hands the socket over, since one with several threads cannot. Raises `OSError`.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            command = [*own_python("ullage.tools.sandbox.network.enter"), str(process), str(theirs.fileno())]
            entering = await start(Asker.SANDBOX_NETWORK, command, pass_fds=(theirs.fileno(),))
        try:
            code = await asyncio.wait_for(entering.wait(), ENTER_SECONDS)
            if code != 0:
                raise OSError(f"The network of the sandbox could not be entered ({code})")
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        except TimeoutError as error:
            raise OSError("The network of the sandbox could not be entered in time") from error
        finally:
            await entering.end()
    if not descriptors:
        raise OSError("The network of the sandbox gave no socket")
    listener = socket.socket(fileno=descriptors[0])
    listener.setblocking(False)
    return listener

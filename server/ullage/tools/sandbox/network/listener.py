"""Gets a socket that listens within a sandbox's network, so that the server's own proxy can serve it and nothing has to run in there."""

from __future__ import annotations

import asyncio
import socket

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, start

ENTER_SECONDS = 10.0


async def listen_inside(process: int) -> socket.socket:
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

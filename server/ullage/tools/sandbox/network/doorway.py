"""Sockets of the server's own that belong to the network of a sandbox, so that nothing of Ullage has to run in there."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress
from pathlib import Path

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, Running, start
from ullage.tools.sandbox.network.enter import IPV4, IPV6

SECONDS = 10.0
"""How long the helper may take for one socket; the first one takes some 40 ms."""


class Doorway:
    """A way into the network of one process. A helper of ours has entered it (`enter.py`), since a process with several threads cannot.

    It is open until it is closed, or the server ends.
    """

    def __init__(self, helper: Running, channel: socket.socket) -> None:
        self._helper = helper
        self._channel = channel
        self._one_asks = asyncio.Lock()

    @classmethod
    async def to(cls, process: int) -> Doorway:
        """Opens a doorway to the network that this process is in. Raises `OSError`."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [*own_python("ullage.tools.sandbox.network.enter"), str(process), str(theirs.fileno())]
            try:
                helper = await start(Asker.SANDBOX_NETWORK, command, pass_fds=(theirs.fileno(),))
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return cls(helper, ours)

    async def make(self, family: socket.AddressFamily) -> socket.socket:
        """A new TCP socket in that network. Raises `OSError`."""
        async with self._one_asks:
            try:
                self._channel.send(IPV6 if family == socket.AF_INET6 else IPV4)
                descriptors = await asyncio.wait_for(self._handed_out(), SECONDS)
            except TimeoutError as error:
                self._channel.close()  # what comes late would be taken for the next one
                raise OSError("The network of the sandbox could not be entered in time") from error
            except BaseException:
                self._channel.close()
                raise
        if not descriptors:
            raise OSError("The network of the sandbox gave no socket")
        made = socket.socket(fileno=descriptors[0])
        made.setblocking(False)
        return made

    async def _handed_out(self) -> list[int]:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._channel, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._channel)
        _, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
        return descriptors

    async def listener(self, address: str, port: int) -> socket.socket:
        """A socket that listens at that address in the network. Raises `OSError`, such as if the port is taken."""
        made = await self.make(_family(address))
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if made.family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind((address, port))
            made.listen(128)
        except OSError:
            made.close()
            raise
        return made

    async def connection(self, address: str, port: int) -> socket.socket:
        """A socket that is connected to that address in the network. Raises `OSError`."""
        made = await self.make(_family(address))
        try:
            await asyncio.wait_for(asyncio.get_running_loop().sock_connect(made, (address, port)), SECONDS)
        except BaseException:
            made.close()
            raise
        return made

    @property
    def is_closed(self) -> bool:
        """Whether the doorway leads nowhere any more."""
        return self._channel.fileno() < 0

    async def close(self) -> None:
        """Closes the doorway. Sockets that were handed out stay as they are."""
        self._channel.close()
        with suppress(OSError):
            await self._helper.end()


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listening(process: int) -> dict[int, str]:
    """The TCP ports on which something listens for connections from the machine itself, in the network of that process, each with the
    address to connect to. Empty if the process is gone."""
    found: dict[int, str] = {}
    for name, here, everywhere, target in _TABLES:
        try:
            with Path(f"/proc/{process}/net/{name}").open("rb") as file:
                lines = file.read(LONGEST_TABLE).splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 3 and fields[3] == _LISTENS and (address := fields[1].partition(b":"))[0] in (here, everywhere):
                found.setdefault(int(address[2], 16), target)
    return found


LONGEST_TABLE = 1 << 20
"""How many bytes of the kernel's table are read: some thousand connections."""

_LISTENS = b"0A"
"""`TCP_LISTEN` of the kernel's `tcp_states.h`."""


def _as_in_table(address: str) -> bytes:
    """The address as the kernel writes it in its table: in words of the machine's own order."""
    packed = socket.inet_pton(_family(address), address)
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return b"".join(f"{int.from_bytes(word, sys.byteorder):08X}".encode() for word in words)


_TABLES = (
    ("tcp", _as_in_table("127.0.0.1"), _as_in_table("0.0.0.0"), "127.0.0.1"),  # noqa: S104 - it is compared
    ("tcp6", _as_in_table("::1"), _as_in_table("::"), "::1"),
)

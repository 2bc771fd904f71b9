"""An endpoint that answers byte for byte as a test says, and else as the strict fake behind it does.

So one and the same model client, over a real socket, meets the fault and after it an API that refuses what the real one refuses.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from socket import SO_LINGER, SOL_SOCKET, socket
from types import TracebackType
from typing import Literal, Self, cast
from urllib.parse import urlsplit

After = Literal["close", "reset", "hold", "pings", "drip"]


@dataclass(frozen=True, slots=True)
class Raw:
    """What goes over the wire, status line included, and what becomes of the connection then.

    `hold` says nothing more, `pings` sends pings for ever, `drip` single bytes; all until the client goes away.
    """

    wire: bytes
    after: After = "close"


class FaultyEndpoint:
    """`async with FaultyEndpoint(fake.base_url) as endpoint:`; posts of messages are answered by `faults` first, all else is passed on."""

    def __init__(self, behind: str) -> None:
        parts = urlsplit(behind)
        self._behind = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0
        self.faults: deque[Raw] = deque()
        self.listing: bytes | None = None
        """What every GET is answered with; None: what the fake says."""
        self.posts = 0
        """How many requests for a reply came."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b"0")
            body = await reader.readexactly(int(length))
            if head.startswith(b"GET") and self.listing is not None:
                writer.write(self.listing)
                await writer.drain()
                return
            asks_for_a_reply = head.startswith(b"POST") and b"/count_tokens" not in head.split(b"\r\n", 1)[0]
            if asks_for_a_reply:
                self.posts += 1
            if asks_for_a_reply and self.faults:
                await _fail(self.faults.popleft(), reader, writer)
            else:
                await self._pass_on(head, body, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _pass_on(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        theirs, to_them = await asyncio.open_connection(*self._behind)
        try:
            lines = [line for line in head.split(b"\r\n") if line and not line.lower().startswith(b"connection:")]
            to_them.write(b"\r\n".join([*lines, b"connection: close", b"", b""]) + body)
            while piece := await theirs.read(65_536):
                writer.write(piece)
                await writer.drain()
        finally:
            to_them.close()


async def _fail(fault: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(fault.wire)
    await writer.drain()
    match fault.after:
        case "close":
            pass
        case "reset":
            own = cast(socket, writer.get_extra_info("socket"))
            own.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case "hold":
            await reader.read()
        case "pings" | "drip":
            more = b'event: ping\ndata: {"type": "ping"}\n\n' if fault.after == "pings" else b"x"
            while not reader.at_eof():
                writer.write(more)
                await writer.drain()
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await reader.read(1)

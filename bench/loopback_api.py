"""A Messages API on a loopback port that takes requests whole and answers each in its own way: what the benches have in common."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class LoopbackApi:
    """Serves `POST /v1/messages`; whatever else is asked for is not found. `port` is known once it serves."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None

    async def reply(self, writer: asyncio.StreamWriter) -> None:
        """Answers a request, which has just come in whole."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 26)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")), 0)
                await reader.readexactly(length)
                if head.split(" ", 2)[1].partition("?")[0] == "/v1/messages":  # and not `count_tokens` below it
                    await self.reply(writer)
                else:
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}")
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

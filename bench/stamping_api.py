"""A Messages API that only measures: it notes when a request is in, and says in each chunk of its reply when that was sent."""

from __future__ import annotations

import asyncio
import json
import time
from types import TracebackType
from typing import Self

CHUNKS = 40
"""Text deltas of a reply."""

PAUSE = 0.004
"""Seconds between two deltas, so that none waits for the one before it."""


class StampingApi:
    """Serves `POST /v1/messages` on a loopback port; `arrivals` are `time.perf_counter_ns()` of whole requests."""

    def __init__(self) -> None:
        self.arrivals: list[int] = []
        self.port = 0
        self._server: asyncio.Server | None = None

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
                arrived = time.perf_counter_ns()
                if head.startswith("post /v1/messages"):
                    self.arrivals.append(arrived)
                    await self._reply(writer)
                else:
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}")
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _reply(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        message: dict[str, object] = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "bench",
            "content": [],
            "usage": {"input_tokens": 50_000},
        }
        self._event(writer, {"type": "message_start", "message": message})
        self._event(writer, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for _ in range(CHUNKS):
            await writer.drain()
            await asyncio.sleep(PAUSE)
            text = f"@{time.perf_counter_ns()}\n"
            self._event(writer, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        self._event(writer, {"type": "content_block_stop", "index": 0})
        self._event(writer, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 500}})
        self._event(writer, {"type": "message_stop"})
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _event(self, writer: asyncio.StreamWriter, data: dict[str, object]) -> None:
        body = f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
        writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")

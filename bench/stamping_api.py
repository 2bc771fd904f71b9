"""A Messages API that only measures: it notes when a request is in, and says in each chunk of its reply when that was sent."""

from __future__ import annotations

import asyncio
import json
import time

from bench.loopback_api import LoopbackApi

CHUNKS = 40
"""Text deltas of a reply."""

PAUSE = 0.004
"""Seconds between two deltas, so that none waits for the one before it."""


class StampingApi(LoopbackApi):
    """Serves `POST /v1/messages` on a loopback port; `arrivals` are `time.perf_counter_ns()` of whole requests."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[int] = []

    async def reply(self, writer: asyncio.StreamWriter) -> None:
        """Notes when the request was in, and answers."""
        self.arrivals.append(time.perf_counter_ns())
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

"""A Messages API that sends whatever it is told to, as fast as the socket takes it: floods, bombs and floods of calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.loopback_api import LoopbackApi

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its header lines, its body in pieces, and whether it stays open after them."""

    pieces: Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    stays_open: bool = False


def events(blocks: Iterable[Event], stop_reason: str = "end_turn", *, whole: bool = True) -> Answer:
    """A streamed reply of the events in `blocks` (everything between the first event and the last). Without `whole` it never ends."""
    message: Event = {"id": "m", "type": "message", "role": "assistant", "model": "bench", "content": [], "usage": {"input_tokens": 5_000}}
    sent: list[Event] = [{"type": "message_start", "message": message}, *blocks]
    if whole:
        sent += [
            {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 50}},
            {"type": "message_stop"},
        ]
    return Answer(_written(sent), stays_open=not whole)


def _written(sent: Sequence[Event]) -> Iterable[bytes]:
    """Some at a time, since who measures has to go on meanwhile."""
    for start in range(0, len(sent), 200):
        yield "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in sent[start : start + 200]).encode()


def text_events(pieces: Iterable[str], index: int = 0) -> list[Event]:
    """A text block that comes in these pieces."""
    deltas = [{"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}} for piece in pieces]
    begin = {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
    return [begin, *deltas, {"type": "content_block_stop", "index": index}]


def call_events(index: int, name: str, pieces: Iterable[str]) -> list[Event]:
    """A tool call whose input comes in these pieces of JSON."""
    block: Event = {"type": "tool_use", "id": f"toolu_{index:08d}", "name": name, "input": {}}
    deltas = [
        {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": each}} for each in pieces
    ]
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *deltas,
        {"type": "content_block_stop", "index": index},
    ]


class BytesApi(LoopbackApi):
    """Serves `POST /v1/messages` on a loopback port: the answers of `queue` in turn, then a word."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Answer] = []

    async def reply(self, writer: asyncio.StreamWriter) -> None:
        """The next answer."""
        answer = self.queue.pop(0) if self.queue else events(text_events(["Yes."]))
        lines = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        writer.write(f"HTTP/1.1 200 OK\r\n{lines}transfer-encoding: chunked\r\n\r\n".encode())
        for piece in answer.pieces:
            for start in range(0, len(piece), 1 << 16):
                chunk = piece[start : start + (1 << 16)]
                writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                await writer.drain()
        if answer.stays_open:
            await asyncio.sleep(3_600)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

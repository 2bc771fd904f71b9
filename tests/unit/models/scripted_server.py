"""A server on a real socket that answers with what a test wrote down, byte for byte, and keeps what it was sent.

For what no server should say: web pages, replies cut in the middle, headers that make no sense. What a Messages API says is
the business of `tests.fake_api`.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `hold` keeps the connection open after the body until the client goes away."""

    body: str = ""
    status: str = "200 OK"
    content_type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hold: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """`async with ScriptedServer(answers) as server:`; answers POSTs in turn, the last one for ever, and GETs from `pages`."""

    def __init__(self, *answers: Answer, pages: dict[str, Answer] | None = None, refused_header: str = "") -> None:
        self._refused_header = refused_header
        """A request with it is answered with a 400."""
        self._answers = list(answers)
        self._pages = pages or {}
        self._port = 0
        self._connections: set[asyncio.Task[None]] = set()
        self.calls: list[Received] = []
        """What was posted."""
        self.counts = Answer("not here", "404 Not Found", "text/plain")
        """What questions for a count are answered with."""
        self.counted: list[Received] = []
        """Those questions."""
        self.gets: list[Received] = []
        """What was asked for."""
        self.client_left = asyncio.Event()
        """Set when a client closes a connection on which an answer is held."""
        self.called = asyncio.Event()
        """Set when something was posted."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listens; after a stop on the same port again."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Closes the socket and every connection, those on which an answer is held, too."""
        self._server.close()
        held = list(self._connections)
        for connection in held:
            connection.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        connection.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        if request is None:
            return
        answer = self._answer_to(request)
        head = [f"HTTP/1.1 {answer.status}", f"content-type: {answer.content_type}", "connection: close"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write(("\r\n".join(head) + "\r\n\r\n" + answer.body).encode())
        await writer.drain()
        if answer.hold:
            await reader.read()
            self.client_left.set()

    def _answer_to(self, request: Received) -> Answer:
        if self._refused_header in request.headers:
            return Answer(json.dumps(error("invalid_request_error", "unknown header")), "400 Bad Request", "application/json")
        if request.method == "GET":
            self.gets.append(request)
            return self._pages.get(request.path, Answer("not here", "404 Not Found", "text/plain"))
        if request.path == "/v1/messages/count_tokens":
            self.counted.append(request)
            return self.counts
        self.calls.append(request)
        self.called.set()
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


def sse(*events: dict[str, Any]) -> str:
    """Events as they stand in a stream."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def started(**usage: int) -> dict[str, Any]:
    return {
        "type": "message_start",
        "message": {"id": "msg_1", "model": "claude-test", "content": [], "usage": {"output_tokens": 1, **usage}},
    }


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def ended(stop_reason: str = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 7, **usage}},
        {"type": "message_stop"},
    ]


def error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}

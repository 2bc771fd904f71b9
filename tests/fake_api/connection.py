"""HTTP/1.1 over one accepted socket: requests in, responses out, keep-alive. Knows nothing of the API.

h11 does the protocol; this module does the socket. While a handler runs the socket is still read, so that a client that goes
away is noticed at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import h11

_READ_SIZE = 64 * 1024


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request whose body is whole. Header names are lower case; `body` is None where it was over the limit."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes | None


class ClientGone(Exception):
    """The client closed the connection before the response was whole."""


class ResponseWriter:
    """Sends one response."""

    def __init__(self, http: h11.Connection, writer: asyncio.StreamWriter) -> None:
        self._http = http
        self._writer = writer
        self.status: int | None = None
        """The status that was sent, None before."""

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Sends the head. Without `content-length` in `headers` the body goes in chunks."""
        self.status = status
        await self._send(h11.Response(status_code=status, headers=list(headers.items())))

    async def send(self, data: bytes) -> None:
        """Sends a part of the body."""
        await self._send(h11.Data(data=data))

    async def finish(self) -> None:
        """Ends the body."""
        await self._send(h11.EndOfMessage())

    async def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Sends a whole response."""
        await self.start(status, {**headers, "content-length": str(len(body))})
        await self.send(body)
        await self.finish()

    def reset(self) -> None:
        """Breaks the connection off in the middle of whatever was being sent."""
        self._writer.transport.abort()

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if self._writer.is_closing():
            raise ClientGone
        if data:
            self._writer.write(data)
            try:
                await self._writer.drain()
            except ConnectionError as error:
                raise ClientGone from error


Handler: TypeAlias = Callable[[HttpRequest, ResponseWriter], Awaitable[None]]
"""Answers one request. It is cancelled when the client goes away."""


async def serve_connection(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handler: Handler,
    max_body: int,
) -> None:
    """Answers the requests of one connection until either side closes it. `max_body` is in bytes."""
    http = h11.Connection(h11.SERVER)
    try:
        while (request := await _read_request(http, reader, max_body)) is not None:
            response = ResponseWriter(http, writer)
            if not await _handle(request, response, handler, http, reader):
                return
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return
            http.start_next_cycle()
    except (ConnectionError, h11.RemoteProtocolError):
        return
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _handle(
    request: HttpRequest,
    response: ResponseWriter,
    handler: Handler,
    http: h11.Connection,
    reader: asyncio.StreamReader,
) -> bool:
    """Runs the handler; False when the client went away meanwhile."""

    async def run() -> None:
        await handler(request, response)

    work = asyncio.create_task(run())
    reading = asyncio.create_task(reader.read(_READ_SIZE))
    try:
        while True:
            await asyncio.wait({work, reading}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
                return True
            data = reading.result()
            if not data:
                return False
            http.receive_data(data)
            reading = asyncio.create_task(reader.read(_READ_SIZE))
    except (ClientGone, ConnectionError):
        return False
    finally:
        for task in (work, reading):
            task.cancel()
        await asyncio.gather(work, reading, return_exceptions=True)


async def _read_request(http: h11.Connection, reader: asyncio.StreamReader, max_body: int) -> HttpRequest | None:
    """The next request, or None when the client closed the connection."""
    head: h11.Request | None = None
    body = bytearray()
    size = 0
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(_READ_SIZE))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            size += len(event.data)
            if size <= max_body:
                body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return _request(head, bytes(body) if size <= max_body else None)
        else:
            return None


def _request(head: h11.Request, body: bytes | None) -> HttpRequest:
    target = urlsplit(head.target.decode("ascii"))
    return HttpRequest(
        method=head.method.decode("ascii"),
        path=target.path,
        query=parse_qs(target.query),
        headers={name.decode("ascii"): value.decode("latin-1") for name, value in head.headers},
        body=body,
    )

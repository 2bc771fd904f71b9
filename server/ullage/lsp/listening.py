"""Waiting for a client on a port or a socket, and finding out whether it is the user's.

Whoever is let in has the user's key and answers approvals. A port of the loopback address can be reached by every user of the machine, by
every container that shares its network, and by web pages; so a client there has to know a token that was told on stderr alone. A Unix
socket can be reached by its owner alone, in a folder that is its owner's alone.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import stat
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from ullage.lsp.bodies import parse_body
from ullage.lsp.framing import AHEAD, Chunks, Framing, NotTheProtocol, Reader
from ullage.lsp.transport import ClientConnection, over_stream

HANDSHAKE_SECONDS = 10.0
"""How long a client may take for its `initialize`."""

HANDSHAKE_BYTES = 4_000_000
"""The most bytes that may come up to the end of `initialize`; that of VS Code has about 10,000."""

_CHUNK = 256 * 1024

STRANGERS = 16
"""How many connections may wait at once to be let in; more are closed."""

INVALID_REQUEST = -32600
"""The code of JSON-RPC 2.0 for a request that is not valid."""


class UnsafePlace(Exception):
    """A socket cannot be made at that place. `str()` says why and what to do."""


def make_token() -> str:
    """A new token of 256 bits."""
    return secrets.token_urlsafe(32)


class HeardAgain(Chunks):
    """Keeps what is read at first, to be read again: who a client is has to be known before the server hears it. From then on what comes is
    read before anybody wants it.

    It stands between the client and whoever reads.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(self._may_read_more)
        self._reader = reader
        self._heard = b""
        self._is_first = True
        self._reading: asyncio.Task[None] | None = None
        self._waiting = 0
        """How many bytes were read that nobody has taken."""
        self._may_read = asyncio.Event()

    async def read(self, n: int) -> bytes:
        """Reads up to `n` bytes. Raises `NotTheProtocol` if too many come before `again` (`HANDSHAKE_BYTES`)."""
        if not self._is_first:
            return await super().read(n)
        data = await self._reader.read(n)
        self._heard += data
        if len(self._heard) > HANDSHAKE_BYTES:
            raise NotTheProtocol("an initialize that is far too long")
        return data

    def again(self) -> None:
        """Has everything read again from the beginning, and goes on reading in the background."""
        self._is_first = False
        if self._heard:
            self._put(self._heard)
        self._heard = b""
        self._reading = asyncio.create_task(self._read_all())

    def _put(self, data: bytes) -> None:
        self._waiting += len(data)
        self.put(data)

    def _may_read_more(self, size: int) -> None:
        self._waiting -= size
        self._may_read.set()

    async def _read_all(self) -> None:
        try:
            while data := await self._reader.read(_CHUNK):
                self._put(data)
                while self._waiting >= AHEAD:
                    self._may_read.clear()
                    await self._may_read.wait()
        except OSError:
            pass  # the client is gone
        self.put(b"")


class Listener:
    """Waits for one client and lets it in. Strangers are turned away, and others may still come after them."""

    def __init__(self, is_let_in: Callable[[Reader, ClientConnection], Awaitable[bool]]) -> None:
        self._is_let_in = is_let_in
        self._coming: asyncio.Future[ClientConnection] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._waiting = 0

    async def listen(self, server: Callable[[Callable[..., Awaitable[None]]], Awaitable[asyncio.Server]]) -> asyncio.Server:
        """Starts the server that `server` makes for the callback it is given, and gives it."""
        self._server = await server(self._connected)
        return self._server

    async def client(self) -> ClientConnection:
        """Waits for the client that is let in. Nobody else is let in after it."""
        return await self._coming

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = HeardAgain(reader)
        connection = over_stream(heard, writer)
        if self._coming.done() or self._waiting >= STRANGERS:
            connection.writer.close()
            return
        self._waiting += 1
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                let_in = await self._is_let_in(heard, connection)
        except (TimeoutError, NotTheProtocol, OSError):
            let_in = False
        finally:
            self._waiting -= 1
        if let_in and not self._coming.done():
            heard.again()
            self._coming.set_result(connection)
            if self._server is not None:
                self._server.close()
        else:
            connection.writer.close()


async def listen_on_port(port: int, token: str) -> tuple[int, Listener]:
    """Listens on a port of the loopback address (0 takes a free one); gives the port. Raises `OSError` if it cannot be had."""

    async def knows_token(reader: Reader, connection: ClientConnection) -> bool:
        return await _knows(token, reader, connection)

    listener = Listener(knows_token)
    server = await listener.listen(lambda connected: asyncio.start_server(connected, "127.0.0.1", port))
    return server.sockets[0].getsockname()[1], listener


async def listen_on_socket(path: Path) -> Listener:
    """Listens on a Unix socket of mode 0600. Raises `UnsafePlace`, or `OSError` where it cannot be made."""
    if sys.platform == "win32":
        raise UnsafePlace("There are no such sockets on Windows. Use --tcp.")
    path = path.absolute()
    _check_folder(path.parent)
    _remove_left_over(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(os.fspath(path))
    finally:
        os.umask(before)
    made.setblocking(False)

    listener = Listener(_says_something)
    await listener.listen(lambda connected: asyncio.start_unix_server(connected, sock=made))
    return listener


async def _says_something(reader: Reader, _: ClientConnection) -> bool:
    """Whether the client sends a message. Another server that looks whether this one is at work sends none."""
    return isinstance(await Framing(reader).next(), bytes)


async def _knows(token: str, reader: Reader, connection: ClientConnection) -> bool:
    """Whether the first message is an `initialize` with the token. A client without the token is told why it is turned away."""
    body = await Framing(reader).next()
    if not isinstance(body, bytes):
        return False
    try:
        message = parse_body(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict):
        return False
    fields = cast("dict[str, Any]", message)
    given = _token_in(fields)
    if fields.get("method") == "initialize" and hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return True
    message_id = fields.get("id")
    why = "initializationOptions.token is missing or is not the one that the server has told on stderr"
    error = {"code": INVALID_REQUEST, "message": why}
    known = message_id if isinstance(message_id, int | str) else None
    answer = json.dumps({"jsonrpc": "2.0", "id": known, "error": error}).encode()
    connection.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
    return False


def _token_in(fields: dict[str, Any]) -> str:
    params = fields.get("params")
    options = cast("dict[str, Any]", params).get("initializationOptions") if isinstance(params, dict) else None
    token = cast("dict[str, Any]", options).get("token") if isinstance(options, dict) else None
    return token if isinstance(token, str) else ""


def _check_folder(folder: Path) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafePlace(f"{folder} is a link or no folder. Name a folder of your own.")
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UnsafePlace(f"Others can reach {folder}. Name a folder that is yours alone: `chmod 700 {folder}`, or another one.")


def _remove_left_over(path: Path) -> None:
    """Removes the socket of a server that is gone. Raises `UnsafePlace` if something else is there."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise UnsafePlace(f"{path} is there and is no socket. Name another place.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UnsafePlace(f"A server listens on {path}. Name another place.")

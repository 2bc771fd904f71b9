"""The bytes to and from the client: stdin and stdout, or one TCP connection."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

_CHUNK = 64 * 1024
_CLOSE_SECONDS = 2.0
"""How long the last messages may take to leave when the server ends."""


class Writer(Protocol):
    """Where messages go: in order, never waiting for the client."""

    def write(self, data: bytes) -> None:
        """Takes a whole message."""
        ...

    def close(self) -> None:
        """Sends what was taken and ends; what is written later is dropped."""
        ...


@dataclass(frozen=True, slots=True)
class Connection:
    """A client."""

    reader: asyncio.StreamReader
    writer: Writer


def open_stdio() -> Connection:
    """The process's own stdin and stdout, taken away from everything else: a stray `print` or a program that a tool starts
    would otherwise write into the protocol or read from it."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Connection(_read_in_thread(stdin), _ThreadWriter(stdout))


async def open_tcp(port: int) -> tuple[int, asyncio.Future[Connection]]:
    """Listens on the loopback address for one client; gives the port (0 takes a free one) and the connection to come.

    Raises `OSError` where the port cannot be had.
    """
    coming: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if coming.done():
            writer.close()
            return
        server.close()
        coming.set_result(Connection(reader, _StreamWriter(writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    return server.sockets[0].getsockname()[1], coming


def _read_in_thread(descriptor: int) -> asyncio.StreamReader:
    # A thread, since Windows cannot wait for a pipe in the event loop; a daemon, since nothing ends a blocked read.
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()

    def read() -> None:
        try:
            while chunk := os.read(descriptor, _CHUNK):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
            loop.call_soon_threadsafe(reader.feed_eof)
        except RuntimeError:
            return  # the loop has ended
        except OSError:
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    return reader


class _ThreadWriter:
    """Writes from a thread, so that a client that reads slowly does not hold up the event loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._write_all, name="stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        if not self._closed:
            self._waiting.put(data)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            self._thread.join(_CLOSE_SECONDS)

    def _write_all(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._closed = True  # the client is gone; the end of stdin says so too
        finally:
            os.close(self._descriptor)


class _StreamWriter:
    """asyncio's own writer, which takes everything at once."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        self._writer.close()

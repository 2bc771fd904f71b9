"""The client, which is at the other end of stdin and stdout, or of a socket (`listening.py`), and the bytes that go to it.

`framing.py` reads what it sends.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

from ullage.lsp.framing import PipeReader, ReaderAhead

_WRITTEN_AT_ONCE = 1_000_000
"""The bytes from which on no more messages are added to one write."""

_CLOSE_SECONDS = 2.0
"""How long the last messages may take to leave when the server ends."""


class Writer(Protocol):
    """Sends messages to the client: in order, never waiting for it."""

    def write(self, data: bytes) -> None:
        """Takes a whole message to be sent."""
        ...

    def close(self) -> None:
        """Sends what was taken, and ends. Messages that are written later are dropped."""
        ...

    @property
    def waiting(self) -> int:
        """How many bytes were taken that the client has not read."""
        ...


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """The connection to a client."""

    reader: ReaderAhead
    writer: Writer
    deaf: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the client takes no more of what is written."""


def open_stdio() -> ClientConnection:
    """A connection over the process's own stdin and stdout. They are taken away from everything else: a stray `print` or a program that a
    tool starts would otherwise write into the protocol or read from it."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    deaf, loop = asyncio.Event(), asyncio.get_running_loop()
    return ClientConnection(PipeReader(stdin), _ThreadWriter(stdout, lambda: loop.call_soon_threadsafe(deaf.set)), deaf)


def over_stream(reader: ReaderAhead, writer: asyncio.StreamWriter) -> ClientConnection:
    """A connection to a client on a socket."""
    return ClientConnection(reader, _StreamWriter(writer))


class _ThreadWriter:
    """Writes from a thread, so that a client that reads slowly does not hold up the event loop."""

    def __init__(self, descriptor: int, on_lost: Callable[[], object]) -> None:
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._taken = self._written = 0
        self._closed = False
        self._thread = threading.Thread(target=self._write_all, name="stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        if not self._closed:
            self._taken += len(data)
            self._queue.put(data)

    @property
    def waiting(self) -> int:
        """How many bytes were taken and not written yet; 0 if the client is gone."""
        return 0 if self._closed else self._taken - self._written

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join(_CLOSE_SECONDS)

    def _next(self) -> bytes:
        """The messages that wait, as one piece; empty at the end.

        Each write gives up the interpreter, and waits for it again for milliseconds if the event loop is busy: written one by one, some two
        hundred messages would leave in a second.
        """
        taken: list[bytes] = []
        size = 0
        while size < _WRITTEN_AT_ONCE and (not taken or not self._queue.empty()):
            data = self._queue.get()
            if data is None:
                self._queue.put(None)  # for the next time
                break
            taken.append(data)
            size += len(data)
        return b"".join(taken)

    def _write_all(self) -> None:
        try:
            while data := self._next():
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
                self._written += len(data)
        except OSError:
            self._closed = True
            self._tell()
        finally:
            os.close(self._descriptor)

    def _tell(self) -> None:
        try:
            self._on_lost()
        except RuntimeError:
            return  # the loop has ended


class _StreamWriter:
    """asyncio's own writer, which takes everything at once."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    @property
    def waiting(self) -> int:
        """How many bytes were taken and not sent yet."""
        return self._writer.transport.get_write_buffer_size()

    def close(self) -> None:
        self._writer.close()

"""The bytes to and from the client, which is at the other end of stdin and stdout, or of a socket (`listening.py`).

What it sends is read before anybody wants it, up to a limit, so that a stop is seen that stands behind much else (`arriving.py`).
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

from ullage.lsp.framing import Reader

_CHUNK = 256 * 1024
"""Bytes that are read at once. A pipe holds a quarter of that, and a socket of VS Code's most of it."""

AHEAD = 4_000_000
"""Bytes that are read before anybody wants them. Then the client has to wait: what it sends is kept in the pipe, and not here."""

_WRITTEN_AT_ONCE = 1_000_000
"""Bytes."""

_CLOSE_SECONDS = 2.0
"""How long the last messages may take to leave when the server ends."""


class ReaderAhead(Reader, Protocol):
    """Where bytes come from that were read before anybody wanted them."""

    def ready(self, n: int) -> bytes:
        """What is there without waiting, up to `n` bytes; nothing where nothing is."""
        ...


class Writer(Protocol):
    """Where messages go: in order, never waiting for the client."""

    def write(self, data: bytes) -> None:
        """Takes a whole message."""
        ...

    def close(self) -> None:
        """Sends what was taken and ends; what is written later is dropped."""
        ...

    @property
    def waiting(self) -> int:
        """Bytes that were taken and that the client has not read."""
        ...


@dataclass(frozen=True, slots=True)
class Connection:
    """A client."""

    reader: ReaderAhead
    writer: Writer
    deaf: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where the client takes no more of what is written."""


def open_stdio() -> Connection:
    """The process's own stdin and stdout, taken away from everything else: a stray `print` or a program that a tool starts
    would otherwise write into the protocol or read from it."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    deaf, loop = asyncio.Event(), asyncio.get_running_loop()
    return Connection(_PipeReader(stdin), _ThreadWriter(stdout, lambda: loop.call_soon_threadsafe(deaf.set)), deaf)


def over_stream(reader: ReaderAhead, writer: asyncio.StreamWriter) -> Connection:
    """A client on a socket."""
    return Connection(reader, _StreamWriter(writer))


class Chunks:
    """What was read, until somebody wants it. Whoever reads calls `put` on the event loop."""

    def __init__(self, taken: Callable[[int], object]) -> None:
        """`taken` is told how many bytes were."""
        self._taken = taken
        self._chunks: deque[bytes] = deque()
        self._came = asyncio.Event()

    def put(self, chunk: bytes) -> None:
        """What was read; nothing at the end."""
        self._chunks.append(chunk)
        self._came.set()

    async def read(self, n: int) -> bytes:
        """What there is, whole chunks up to `n` bytes and at least one; nothing at the end."""
        while not self._chunks:
            self._came.clear()
            await self._came.wait()
        return self._take(n)

    def ready(self, n: int) -> bytes:
        """The same without waiting; nothing where nothing is there."""
        return self._take(n) if self._chunks else b""

    def _take(self, n: int) -> bytes:
        first = self._chunks[0]
        if not first:
            return b""  # the end, which stays
        self._chunks.popleft()
        taken, size = [first], len(first)
        while self._chunks and self._chunks[0] and size + len(self._chunks[0]) <= n:
            taken.append(self._chunks.popleft())
            size += len(taken[-1])
        self._taken(size)
        return b"".join(taken)


class _PipeReader(Chunks):
    """Reads in a thread, since Windows cannot wait for a pipe in the event loop; a daemon, since nothing ends a blocked read."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(self._may_read_more)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = 0
        """Bytes that were read and that nobody has taken."""
        self._changed = threading.Condition()
        threading.Thread(target=self._read_all, name="stdin", daemon=True).start()

    def _may_read_more(self, size: int) -> None:
        with self._changed:
            self._waiting -= size
            self._changed.notify()

    def _read_all(self) -> None:
        try:
            while True:
                chunk = self._read()
                self._loop.call_soon_threadsafe(self.put, chunk)
                if not chunk:
                    return
                with self._changed:
                    self._waiting += len(chunk)
                    self._changed.wait_for(lambda: self._waiting < AHEAD)
        except RuntimeError:
            return  # the loop has ended

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""


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
        """Bytes that were taken and not written yet; none where the client is gone."""
        return 0 if self._closed else self._taken - self._written

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join(_CLOSE_SECONDS)

    def _next(self) -> bytes:
        """What waits, as one piece; nothing at the end.

        Each write gives up the interpreter, and waits for it again for milliseconds where the event loop is busy: written one by one,
        some two hundred messages would leave in a second.
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
        """Bytes that were taken and not sent yet."""
        return self._writer.transport.get_write_buffer_size()

    def close(self) -> None:
        self._writer.close()

"""The bytes to and from the client, and messages cut out of them. What stands in a message is read in `arriving.py`.

The client is at the other end of stdin and stdout, or of a socket (`listening.py`). Messages are framed as in LSP 3.17, Base Protocol.
What is no header of this protocol ends the connection at its first line. So nobody waits for a server that has lost its place, and no web
page can speak to one: a browser sends a request line, `Host` and `Origin` before any text of the page's own.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

_CHUNK = 64 * 1024

_CHUNKS_AHEAD = 64
"""Read before anybody wants them. Then the client has to wait: what it sends is kept in the pipe, and not here."""

_WRITTEN_AT_ONCE = 1_000_000
"""Bytes."""

_CLOSE_SECONDS = 2.0
"""How long the last messages may take to leave when the server ends."""

LONGEST = 64 * 1024 * 1024
"""Bytes of one message. An editor sends no text of a document over 50 MB, an image in a prompt takes at most some."""

ENDLESS = 10 * LONGEST
"""Bytes that are not even passed over: whoever announces so many never sends them."""

_LONGEST_HEAD = 4_096

_READ = 256 * 1024

_USUAL = re.compile(rb"Content-Length: ?(\d{1,12})\r\n\r\n")

_NOTIFICATION = re.compile(rb'Content-Length: ?(\d{1,7})\r\n\r\n(?=\{ ?"jsonrpc": ?"2\.0", ?"method": ?"([ !#-\[\]-~]{1,200})")(\{)')
"""A usual head with a body that begins in the usual way."""

_ID = b'"id"'

_CHARSET = re.compile(rb"charset\s*=\s*\"?([^\s;\"]*)", re.IGNORECASE)

_FIELD = re.compile(rb"(content-length|content-type):[ \t]*(.*?)[ \t]*", re.IGNORECASE)


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

    reader: Reader
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


def over_stream(reader: Reader, writer: asyncio.StreamWriter) -> Connection:
    """A client on a socket."""
    return Connection(reader, _StreamWriter(writer))


class _PipeReader:
    """Reads in a thread, since Windows cannot wait for a pipe in the event loop; a daemon, since nothing ends a blocked read."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._may_read = threading.Semaphore(_CHUNKS_AHEAD)
        self._came = asyncio.Event()
        threading.Thread(target=self._read_all, name="stdin", daemon=True).start()

    async def read(self, n: int) -> bytes:
        """What there is, whole chunks up to `n` bytes and at least one; nothing at the end."""
        while not self._chunks:
            self._came.clear()
            await self._came.wait()
        taken = [self._chunks[0]]
        if not taken[0]:
            return b""
        self._chunks.popleft()
        size = len(taken[0])
        while self._chunks and self._chunks[0] and size + len(self._chunks[0]) <= n:
            taken.append(self._chunks.popleft())
            size += len(taken[-1])
        self._may_read.release(len(taken))
        return b"".join(taken)

    def _read_all(self) -> None:
        try:
            while True:
                self._may_read.acquire()
                chunk = self._read()
                self._loop.call_soon_threadsafe(self._take, chunk)
                if not chunk:
                    return
        except RuntimeError:
            return  # the loop has ended

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""

    def _take(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._came.set()


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


class NotTheProtocol(Exception):
    """What came is no header of this protocol. `str()` says what is wrong, and nothing of what stood there."""


class Reader(Protocol):
    """Where bytes come from."""

    async def read(self, n: int) -> bytes:
        """Up to `n` bytes, as soon as there are any; none at the end."""
        ...


class TooLong:
    """Stands for a message over `LONGEST`: its bytes were passed over."""


class Framing:
    """Cuts what a reader gives into bodies."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._at = 0

    def there(self) -> bytes | None:
        """The next body where all of it is here and its head is the usual one: costs no waiting. None where `next` has to be asked."""
        usual = _USUAL.match(self._buffer, self._at)
        if usual is None:
            return None
        start = usual.end()
        end = start + int(usual[1])
        if end > len(self._buffer) or end - start > LONGEST:
            return None
        self._at = end
        return bytes(memoryview(self._buffer)[start:end])

    def pass_over(self, methods: AbstractSet[bytes], most: int) -> None:
        """Leaves out notifications of these methods that are here as a whole and come next, up to so many: a microsecond each."""
        buffer, at = self._buffer, self._at
        for _ in range(most):
            seen = _NOTIFICATION.match(buffer, at)
            if seen is None or seen[2] not in methods:
                break
            end = seen.start(3) + int(seen[1])
            if end > len(buffer) or buffer.find(_ID, at, end) >= 0:  # the id may come last: a request
                break
            at = end
        self._at = at

    async def next(self) -> bytes | TooLong | None:
        """The next body; None at the end, also where that is within a message. Raises `NotTheProtocol`."""
        length = await self._head()
        if length is None:
            return None
        if length > ENDLESS:
            raise NotTheProtocol("a Content-Length is beyond all measure")
        if length > LONGEST:
            return TooLong() if await self._pass_over(length) else None
        while len(self._buffer) - self._at < length:
            if not await self._more():
                return None
        body = bytes(memoryview(self._buffer)[self._at : self._at + length])
        self._at += length
        return body

    async def _head(self) -> int | None:
        """The length of the body that follows."""
        while True:
            usual = _USUAL.match(self._buffer, self._at)
            if usual is not None:
                self._at = usual.end()
                return int(usual[1])
            found = self._odd_head()
            if found is not None:
                return found
            if len(self._buffer) - self._at > _LONGEST_HEAD:
                raise NotTheProtocol("a header has no end")
            if not await self._more():
                return None

    def _odd_head(self) -> int | None:
        """A head in another spelling: with other fields, in lower case, with line ends of one character. None where it has no end yet."""
        head = bytes(self._buffer[self._at : self._at + _LONGEST_HEAD])
        length: int | None = None
        start = 0
        while (end := head.find(b"\n", start)) >= 0:
            line = head[start:end].removesuffix(b"\r")
            start = end + 1
            if not line:
                if length is None:
                    raise NotTheProtocol("a header has no Content-Length")
                self._at += start
                return length
            length = _length(line, length)
        return None

    async def _pass_over(self, length: int) -> bool:
        while length > len(self._buffer) - self._at:
            length -= len(self._buffer) - self._at
            self._at = len(self._buffer)
            if not await self._more():
                return False
        self._at += length
        return True

    async def _more(self) -> bool:
        """Reads on; False at the end."""
        del self._buffer[: self._at]
        self._at = 0
        data = await self._reader.read(_READ)
        self._buffer += data
        return bool(data)


def _length(line: bytes, length: int | None) -> int | None:
    """The length that is known after one more line of a header."""
    field = _FIELD.fullmatch(line)
    if field is None:
        raise NotTheProtocol("a header has a line that is none of this protocol")
    if field[1].lower() == b"content-type":
        charset = _CHARSET.search(field[2])
        if charset is not None and charset[1].lower() not in (b"utf-8", b"utf8"):
            raise NotTheProtocol("a charset is another one than utf-8")
        return length
    if length is not None:
        raise NotTheProtocol("a header has two Content-Lengths")
    if not field[2].isdigit() or len(field[2]) > 12:
        raise NotTheProtocol("a Content-Length is no number")
    return int(field[2])

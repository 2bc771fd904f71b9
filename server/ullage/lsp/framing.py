"""Messages cut out of the bytes that a client sends. `bodies.py` reads what stands in a message.

Bytes are read before anybody wants them, up to a limit, so that a stop is seen that stands behind much else (`arriving.py`).

Messages are framed as in LSP 3.17, Base Protocol. What is no header of this protocol ends the connection at its first line. So nobody waits
for a server that has lost its place, and no web page can speak to one: a browser sends a request line, `Host` and `Origin` before any text
of the page's own.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Protocol

LONGEST = 64 * 1024 * 1024
"""The most bytes of one message. An editor sends no text of a document over 50 MB, an image in a prompt takes at most some."""

ENDLESS = 10 * LONGEST
"""The most bytes of a message that is passed over: whoever announces more never sends them."""

MOST_AHEAD = 16_000_000
"""How many bytes are looked through for messages that may come first, before anybody wants them."""

SHORT = 4_096
"""The most bytes of a message that may come first."""

_LONGEST_HEAD = 4_096

_READ = 256 * 1024

_NOT_COPIED = 1_000_000
"""The size in bytes from which on a body is handed over without copying it: to copy 60 MB takes 20 ms."""

_CHUNK = 256 * 1024
"""How many bytes are read at once. A pipe holds a quarter of that, and a socket of VS Code's most of it."""

AHEAD = 4_000_000
"""How many bytes are read before anybody wants them. Then the client has to wait: what it sends is kept in the pipe, and not here."""

_USUAL = re.compile(rb"Content-Length: ?(\d{1,12})\r\n\r\n")

_NOTIFICATION = re.compile(rb'Content-Length: ?(\d{1,7})\r\n\r\n(?=\{ ?"jsonrpc": ?"2\.0", ?"method": ?"([ !#-\[\]-~]{1,200})")(\{)')
"""A usual head with a body that begins in the usual way."""

_ID = b'"id"'

_CHARSET = re.compile(rb"charset\s*=\s*\"?([^\s;\"]*)", re.IGNORECASE)

_FIELD = re.compile(rb"(content-length|content-type):[ \t]*(.*?)[ \t]*", re.IGNORECASE)

Body = bytes | bytearray


class NotTheProtocol(Exception):
    """A header is none of this protocol. `str()` says what is wrong, and nothing of what stood there."""


class Reader(Protocol):
    """A source of bytes, such as a pipe or a socket."""

    async def read(self, n: int) -> bytes:
        """Reads up to `n` bytes, as soon as there are any; empty at the end."""
        ...


class TooLong:
    """Stands for a message over `LONGEST`: its bytes were passed over."""


class Framing:
    """Cuts what a reader gives into bodies.

    `ahead` looks at messages before their turn. Where a message begins is known by the heads alone: from each head to the next.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._at = 0
        """The place where the next message begins."""
        self._is_within = False
        """Whether that place is within a message that is being passed over."""
        self._looked = 0
        """The place where the first message begins that `ahead` has not seen."""
        self._searched = 0
        """The place before which `ahead` would find nothing more."""
        self._taken: set[int] = set()
        """The places where messages begin that were handled before their turn."""

    # In their turn

    def there(self) -> Body | None:
        """The next body if all of it is here and its head is the usual one; costs no waiting. None if `next` has to be asked."""
        self._skip_taken()
        usual = _USUAL.match(self._buffer, self._at)
        if usual is None:
            return None
        start = usual.end()
        end = start + int(usual[1])
        if end > len(self._buffer) or end - start > LONGEST:
            return None
        return self._cut(start, end)

    def pass_over(self, methods: AbstractSet[bytes], most: int) -> None:
        """Leaves out notifications of these methods that are here as a whole and come next, up to `most` of them: a microsecond each."""
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

    async def next(self) -> Body | TooLong | None:
        """The next body; None at the end, also where that is within a message. Raises `NotTheProtocol`."""
        while True:
            self._skip_taken()
            head = self._head()
            if head is not None:
                start, length = head
                if length > ENDLESS:
                    raise NotTheProtocol("a Content-Length is beyond all measure")
                if length > LONGEST:
                    self._at = start
                    return TooLong() if await self._pass_over(length) else None
                if start + length <= len(self._buffer):
                    return self._cut(start, start + length)
            elif len(self._buffer) - self._at > _LONGEST_HEAD:
                raise NotTheProtocol("a header has no end")
            if not await self._more():
                return None

    def _head(self) -> tuple[int, int] | None:
        """The place where the next body begins, and its length in bytes; None if its head has no end yet. Raises `NotTheProtocol`."""
        usual = _USUAL.match(self._buffer, self._at)
        return self._odd_head() if usual is None else (usual.end(), int(usual[1]))

    def _odd_head(self) -> tuple[int, int] | None:
        """Reads a head in another spelling: with other fields, in lower case, with line ends of one character. Gives the same as
        `_head`."""
        head = bytes(self._buffer[self._at : self._at + _LONGEST_HEAD])
        length: int | None = None
        start = 0
        while (end := head.find(b"\n", start)) >= 0:
            line = head[start:end].removesuffix(b"\r")
            start = end + 1
            if not line:
                if length is None:
                    raise NotTheProtocol("a header has no Content-Length")
                return self._at + start, length
            length = _length(line, length)
        return None

    def _cut(self, start: int, end: int) -> Body:
        if end - start < _NOT_COPIED:
            self._at = end
            return bytes(memoryview(self._buffer)[start:end])
        self._forget(start)
        length = end - start
        body, rest = self._buffer, self._buffer[length:]
        del body[length:]
        self._moved(length)
        self._buffer, self._at = rest, 0
        return body

    async def _pass_over(self, length: int) -> bool:
        self._is_within = True
        while length > len(self._buffer) - self._at:
            length -= len(self._buffer) - self._at
            self._at = len(self._buffer)
            if not await self._more():
                return False
        self._at += length
        self._is_within = False
        return True

    async def _more(self) -> bool:
        """Reads on; False at the end."""
        self._forget(self._at)
        data = await self._reader.read(_READ)
        self._buffer += data
        return bool(data)

    def _forget(self, until: int) -> None:
        del self._buffer[:until]
        self._at = max(0, self._at - until)
        self._moved(until)

    def _moved(self, by: int) -> None:
        """Corrects all places after that many bytes were cut off the beginning of the buffer."""
        self._looked, self._searched = max(0, self._looked - by), max(0, self._searched - by)
        self._taken = {place - by for place in self._taken if place >= by}

    # Before their turn

    def take_in(self, ready: Callable[[int], bytes]) -> None:
        """Takes what has come, up to `MOST_AHEAD` bytes."""
        while len(self._buffer) - self._at < MOST_AHEAD and (data := ready(_READ)):
            if self._at > _READ:
                self._forget(self._at)
            self._buffer += data

    def ahead(self, mark: bytes) -> list[tuple[int, bytes]]:
        """Short messages in which these bytes stand, each with its place. Looks at messages that are here as a whole and were not seen yet.

        The marks are searched for first, at a gigabyte a second. Only where one is are the heads before it read, one after the other.
        """
        if self._is_within:
            return []
        found: list[tuple[int, bytes]] = []
        buffer, at = self._buffer, max(self._looked, self._at)
        while (mark_at := buffer.find(mark, max(at, self._searched))) >= 0:
            self._searched = mark_at
            start, end = at, at
            while end <= mark_at:
                at = end
                usual = _USUAL.match(buffer, at)
                end = len(buffer) + 1 if usual is None else usual.end() + int(usual[1])
                start = 0 if usual is None else usual.end()
            self._looked = at
            if end > len(buffer):  # not here as a whole, or with a head that is read in its turn
                return found
            if end - start <= SHORT:
                found.append((at, bytes(buffer[start:end])))
            self._looked = at = end
        self._searched = max(at, len(buffer) - len(mark) + 1)
        return found

    def names_before(self, place: int, name: bytes, is_about: Callable[[bytes], bool]) -> bool:
        """Whether a message before that place has that name in it and counts: `is_about` is given how it begins."""
        buffer, at = self._buffer, self._at
        while (name_at := buffer.find(name, at, place)) >= 0:
            start, end = at, at
            while end <= name_at:
                at = end
                usual = _USUAL.match(buffer, at)
                if usual is None:
                    return True
                start, end = usual.end(), usual.end() + int(usual[1])
            if at not in self._taken and is_about(bytes(buffer[start : min(end, start + SHORT)])):
                return True
            at = end
        return False

    def take_out(self, place: int) -> None:
        """Marks the message at that place as handled, so that it is left out when its turn comes."""
        self._taken.add(place)

    def _skip_taken(self) -> None:
        while self._at in self._taken:
            self._taken.discard(self._at)
            usual = _USUAL.match(self._buffer, self._at)
            if usual is not None:  # it is: else it would not have been taken
                self._at = usual.end() + int(usual[1])


def _length(line: bytes, length: int | None) -> int | None:
    """The length of the body as far as it is known after one more line of a header; None if it is not known yet. Raises
    `NotTheProtocol`."""
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


# Reading before anybody wants it


class ReaderAhead(Reader, Protocol):
    """A source of bytes that were read before anybody wanted them."""

    def ready(self, n: int) -> bytes:
        """Up to `n` bytes that are there without waiting; empty if there are none."""
        ...


class Chunks:
    """The bytes that were read, until somebody wants them. Whoever reads calls `put` on the event loop."""

    def __init__(self, taken: Callable[[int], object]) -> None:
        """`taken` is called with the number of bytes each time some are taken."""
        self._taken = taken
        self._chunks: deque[bytes] = deque()
        self._came = asyncio.Event()

    def put(self, chunk: bytes) -> None:
        """Adds bytes that were read; empty at the end."""
        self._chunks.append(chunk)
        self._came.set()

    async def read(self, n: int) -> bytes:
        """Waits for bytes and gives whole chunks of up to `n` bytes, at least one chunk; empty at the end."""
        while not self._chunks:
            self._came.clear()
            await self._came.wait()
        return self._take(n)

    def ready(self, n: int) -> bytes:
        """Gives what `read` gives, without waiting; empty if nothing is there."""
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


class PipeReader(Chunks):
    """The process's own stdin. It is read in a thread, since Windows cannot wait for a pipe in the event loop; a daemon, since nothing ends
    a blocked read."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(self._may_read_more)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting = 0
        """How many bytes were read that nobody has taken."""
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

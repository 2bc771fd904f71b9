"""Messages cut out of the bytes of the wire (LSP 3.17, Base Protocol). What stands in them is read in `arriving.py`.

What is no header of this protocol ends the connection at its first line, so that nobody waits for a server that has lost its place, and no
web page can speak to one: a browser sends a request line, `Host` and `Origin` before any text of the page's own.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Protocol

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

"""The body of a reply: taken in within bounds, and read as server-sent events.

The HTTP client unpacks a compressed body by itself, as large as it becomes, and reads the body of an error whole. So a body is unpacked
here, a little at a time, and ended where it is too large. This is set on each response as soon as its headers are there.

The SDK's own reader of events is not used: it joins an unfinished line anew with each piece, keeps as much as comes, stops at bytes that
are no UTF-8 with an error of its own, and hides the pings by which one can see that a server lives.
Source of the format: the HTML standard, "Interpreting an event stream".
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ullage.context.blocks import Json
from ullage.models.endpoint_checks import BodyNotJson, parse
from ullage.models.errors import Nonsense

if TYPE_CHECKING:
    import httpx2

LARGEST_REPLY = 128_000_000
"""The most bytes of a reply, unpacked. A reply of 32,000 tokens, each in an event of its own, is some 6 MB."""

LARGEST_ERROR = 200_000
"""How many bytes are read of what comes with an error, of which 500 characters are shown. The rest is left where it is."""

PIECE = 64_000
"""How many bytes are unpacked at once: less than a millisecond."""

PLAIN = "identity"
"""The encoding that is asked for: a stream of small events gains nothing by compression, and small ones would wait for larger ones."""

_UNPACKED = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS | 32}
"""The encodings that servers use all the same, and how zlib is told."""

LARGEST_EVENT = 16_000_000
"""The most bytes of an event. The largest there are carry a whole block at once (redacted thinking, a summary of the API's): some
100,000."""

MOST_LINES = 1_000_000
"""The most lines of a stream. Three an event make 400,000 for the longest reply (128,000 tokens, an event each)."""

PING: Mapping[str, Json] = {"type": "ping"}

_MARK = b"\xef\xbb\xbf"

DONE = "[DONE]"
"""How Chat Completions ends a stream, and the `type` of the event that says so here. Proxies let it through to the Messages API, too."""


async def bound(response: httpx2.Response) -> None:
    """Bounds the body of a response; a hook of the HTTP client, for every response. Raises `Nonsense` if the body is packed as nobody asked
    for."""
    from httpx2 import AsyncByteStream

    packed = response.headers.get("content-encoding", PLAIN).strip().lower() or PLAIN
    if packed != PLAIN and packed not in _UNPACKED:
        raise Nonsense(f"a reply packed as {packed[:40]!r}")
    body = response.stream
    if not isinstance(body, AsyncByteStream):
        return
    failed = not 200 <= response.status_code < 300
    most = LARGEST_ERROR if failed else LARGEST_REPLY

    class BoundedStream(AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return _bounded(body, packed, most, cut=failed)

        async def aclose(self) -> None:
            await body.aclose()

    if packed != PLAIN:
        del response.headers["content-encoding"]
    response.stream = BoundedStream()
    response.encoding = "utf-8"  # JSON and event streams are; a name that the server makes up is no codec


async def _bounded(body: httpx2.AsyncByteStream, packed: str, most: int, *, cut: bool) -> AsyncGenerator[bytes, None]:
    """The unpacked body. It ends at `most` bytes with `cut`; else a longer one raises `Nonsense` there."""
    async with aclosing(_unpacked(body, packed)) as pieces:
        async for piece in pieces:
            most -= len(piece)
            if most >= 0:
                yield piece
            elif cut:
                return
            else:
                raise Nonsense(f"a reply of more than {LARGEST_REPLY // 1_000_000} MB")


async def _unpacked(body: httpx2.AsyncByteStream, packed: str) -> AsyncGenerator[bytes, None]:
    if packed == PLAIN:
        async for piece in body:
            yield piece
        return
    unpacking = zlib.decompressobj(_UNPACKED[packed])
    async for piece in body:
        waiting = piece
        while waiting:
            try:
                yield unpacking.decompress(waiting, PIECE)
            except zlib.error:
                raise Nonsense(f"bytes that are no {packed}") from None
            waiting = unpacking.unconsumed_tail
            await asyncio.sleep(0)  # whatever else is to be done goes first


async def events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
    """The events as the JSON objects that they carry; a comment counts as a ping. What was not ended by an empty line is left out.

    An event without a `type` inside gets the one of its `event:` line. Raises `Nonsense` for what is no such stream.
    """
    lines = _Lines()
    event = _Event()
    async for piece in pieces:
        for line in lines.taken(piece):
            if line.startswith(b":"):
                yield PING
            elif line:
                event.take(line)
            elif event.size:
                told = event.finished()
                if told is not None:
                    yield told
                event = _Event()


@dataclass(slots=True)
class _Lines:
    """Cuts pieces into lines, which end with CR, LF or both."""

    unfinished: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    count: int = 0
    after_cr: bool = False
    begun: bool = False

    def taken(self, piece: bytes) -> list[bytes]:
        if not piece:
            return []
        if self.after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        self.after_cr = piece.endswith(b"\r")
        first, *more = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self.unfinished.append(first)
        self.size += len(first)
        if self.size > LARGEST_EVENT:
            raise Nonsense(f"a single line of more than {LARGEST_EVENT // 1_000_000} MB")
        if not more:
            return []
        self.count += len(more)
        if self.count > MOST_LINES:
            raise Nonsense(f"more than {MOST_LINES:,} lines")
        lines = [b"".join(self.unfinished), *more[:-1]]
        self.unfinished, self.size = [more[-1]], len(more[-1])
        if not self.begun:
            self.begun = True
            lines[0] = lines[0].removeprefix(_MARK)
        return lines


@dataclass(slots=True)
class _Event:
    name: str = ""
    data: list[str] = field(default_factory=list[str])
    size: int = 0

    def take(self, line: bytes) -> None:
        """Takes a line that is neither empty nor a comment. Raises `Nonsense`."""
        self.size += len(line)
        if self.size > LARGEST_EVENT:
            raise Nonsense(f"a single event of more than {LARGEST_EVENT // 1_000_000} MB")
        try:
            name, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise Nonsense("bytes that are no text in UTF-8") from None
        value = value.removeprefix(" ")
        if name == "event":
            self.name = value
        elif name == "data":
            self.data.append(value)

    def finished(self) -> Mapping[str, Json] | None:
        """The JSON object that the event carries; None if it says nothing. Raises `Nonsense`."""
        text = "\n".join(self.data)
        if text.strip() == DONE:
            return {"type": DONE}
        if not text.strip():
            return PING if self.name == "ping" else None
        try:
            value = parse(text)
        except BodyNotJson as error:
            if self.name == "error":
                return {"type": "error", "error": text}
            raise Nonsense(f"an event that is no JSON ({error})") from None
        if not isinstance(value, dict):
            return None
        if self.name == "error" or not isinstance(value.get("type"), str):
            return {**value, "type": self.name}
        return value

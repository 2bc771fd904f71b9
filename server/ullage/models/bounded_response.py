"""How much of a response is taken in: set on each as soon as its headers are there, before anything reads its body.

The HTTP client unpacks a compressed body by itself, as large as it becomes, and reads the body of an error whole. So a body is unpacked
here, a little at a time, and ended where it is too large.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from ullage.models.errors import Nonsense

if TYPE_CHECKING:
    import httpx2

LARGEST_REPLY = 128_000_000
"""Bytes, unpacked. A reply of 32,000 tokens, each in an event of its own, is some 6 MB."""
LARGEST_ERROR = 200_000
"""Bytes of what comes with an error, of which 500 characters are shown. The rest is left where it is."""

PIECE = 64_000
"""Bytes that are unpacked at once: less than a millisecond."""

PLAIN = "identity"
"""What is asked for: a stream of small events gains nothing by compression, and small ones would wait for larger ones."""

_UNPACKED = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS | 32}
"""What servers use all the same, and how zlib is told."""


async def bound(response: httpx2.Response) -> None:
    """A hook of the HTTP client, for every response. Raises `Nonsense` where the body is packed as nobody asked for."""
    from httpx2 import AsyncByteStream

    packed = response.headers.get("content-encoding", PLAIN).strip().lower() or PLAIN
    if packed != PLAIN and packed not in _UNPACKED:
        raise Nonsense(f"a reply packed as {packed[:40]!r}")
    body = response.stream
    if not isinstance(body, AsyncByteStream):
        return
    failed = not 200 <= response.status_code < 300
    most = LARGEST_ERROR if failed else LARGEST_REPLY

    class Bounded(AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return _bounded(body, packed, most, cut=failed)

        async def aclose(self) -> None:
            await body.aclose()

    if packed != PLAIN:
        del response.headers["content-encoding"]
    response.stream = Bounded()
    response.encoding = "utf-8"  # JSON and event streams are; a name that the server makes up is no codec


async def _bounded(body: httpx2.AsyncByteStream, packed: str, most: int, *, cut: bool) -> AsyncGenerator[bytes, None]:
    """The unpacked body: `cut` at `most` bytes, else a `Nonsense` there."""
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

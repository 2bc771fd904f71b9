"""Server-sent events read out of the bytes of a response, bounded in every direction.

In the place of the SDK's own reader: that one joins an unfinished line anew with each piece, keeps as much as comes, stops at bytes that
are no UTF-8 with an error of its own, and hides the pings by which one can see that a server lives.
Source of the format: the HTML standard, "Interpreting an event stream".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from dataclasses import dataclass, field

from ullage.context.blocks import Json
from ullage.models.errors import Nonsense
from ullage.models.foreign_json import NotJson, parse

LARGEST_EVENT = 16_000_000
"""Bytes. The largest there are carry a whole block at once (redacted thinking, a summary of the API's): some 100,000."""

MOST_LINES = 1_000_000
"""Three an event make 400,000 for the longest reply (128,000 tokens, an event each)."""

PING: Mapping[str, Json] = {"type": "ping"}

_MARK = b"\xef\xbb\xbf"
_END = "[DONE]"
"""How other APIs end a stream; proxies let it through."""


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
        """A line that is neither empty nor a comment. Raises `Nonsense`."""
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
        """What it says; None where it says nothing. Raises `Nonsense`."""
        text = "\n".join(self.data)
        if not text.strip() or text.strip() == _END:
            return PING if self.name == "ping" else None
        try:
            value = parse(text)
        except NotJson as error:
            if self.name == "error":
                return {"type": "error", "error": text}
            raise Nonsense(f"an event that is no JSON ({error})") from None
        if not isinstance(value, dict):
            return None
        if self.name == "error" or not isinstance(value.get("type"), str):
            return {**value, "type": self.name}
        return value

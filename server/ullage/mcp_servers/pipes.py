"""The streams between a server that is a program and the SDK: one JSON message a line, over pipes of ours.

The SDK would start the program itself. Here `processes/` does, so that all that comes of it ends with it, and what comes in is bounded: a
line that is too long is cut to what can be shown, lines that are no message are noted, and a server that floods is given up.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from ullage.mcp_servers.server_log import ServerLog
from ullage.processes.start import Talking

if TYPE_CHECKING:  # takes long to import
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

LONGEST_MESSAGE = 16_000_000
"""The most bytes of a message. An image of 10 MB fits."""

KEPT_OF_LONGER = 1_000_000
"""How many bytes of a longer message are looked at: the beginning of its text is kept."""

END_OF_LONGER = 2_000
"""How many bytes at its end are looked at too: many servers write the number of the request there."""

MOST_UNASKED, IN_SECONDS = 2_000, 10.0
"""A server floods that sends so many messages that answer nothing within so many seconds."""

_CHUNK = 65_536

_LARGE = 500_000
"""The bytes from which on a message is read in another thread."""


class Flooded(Exception):
    """A server sent more than anybody could read."""


@asynccontextmanager
async def talk_over(running: Talking, log: ServerLog, ended: Callable[[str], None]) -> AsyncGenerator[TransportStreams]:
    """Opens the SDK's streams to a program that runs. `ended` is told once why the server talks no more; empty if it just ended."""
    import anyio
    from mcp.shared.message import SessionMessage as Message

    to_client, from_server = anyio.create_memory_object_stream[Message | Exception](0)
    to_server, from_client = anyio.create_memory_object_stream[Message](0)
    calls = _Calls()

    async def read() -> None:
        why = ""
        try:
            lines = _Lines(running.output)
            async with to_client:
                while (line := await lines.next()) is not None:
                    large = len(line.text) > _LARGE
                    message = await asyncio.to_thread(calls.message_of, line, log) if large else calls.message_of(line, log)
                    if message is not None:
                        await to_client.send(Message(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            why = ""
        except Flooded as flood:
            why = str(flood)
        except OSError as error:
            why = error.strerror or str(error)
        ended(why)

    async def write() -> None:
        with suppress(OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with from_client:
                async for each in from_client:
                    await running.say(calls.line_of(each))

    async def complain() -> None:
        with suppress(OSError, ValueError):
            while data := await running.complaints.read(_CHUNK):
                log.take(data)

    tasks = [asyncio.ensure_future(work) for work in (read(), write(), complain())]
    try:
        yield from_server, to_server
    finally:
        for stream in (from_server, to_server, to_client, from_client):
            stream.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Lines:
    """The lines of a stream. Of a line that is too long only the beginning and the end are kept in memory."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self._rest = bytearray()
        self._ready: deque[_Line] = deque()
        self._length = 0
        """The bytes so far of the line that has begun, if it is too long; else 0."""
        self._end = b""

    async def next(self) -> _Line | None:
        """The next line; None at the end. Raises `OSError`."""
        while not self._ready:
            data = await self._stream.read(_CHUNK)
            if not data:
                return None
            *whole, rest = data.split(b"\n")
            for piece in whole:
                self._add(piece)
                self._close()
            self._add(rest)
        return self._ready.popleft()

    def _add(self, piece: bytes) -> None:
        if not self._length and len(self._rest) + len(piece) > LONGEST_MESSAGE:
            self._length = len(self._rest)
            del self._rest[KEPT_OF_LONGER:]
        if self._length:
            self._length += len(piece)
            self._end = (self._end + piece)[-END_OF_LONGER:]
        else:
            self._rest += piece

    def _close(self) -> None:
        self._ready.append(_Line(bytes(self._rest), self._length, self._end))
        self._rest, self._length, self._end = bytearray(), 0, b""


class _Line:
    """A line. `length` is its bytes if it was too long, else 0; `end` is then its last part."""

    __slots__ = ("end", "length", "text")

    def __init__(self, text: bytes, length: int, end: bytes) -> None:
        self.text, self.length, self.end = text, length, end


class _Calls:
    """Knows which requests have no answer yet, so that an answer that is too long can be cut, and messages that nobody asked for are
    counted."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._unasked: deque[float] = deque(maxlen=MOST_UNASKED)

    def line_of(self, each: SessionMessage) -> bytes:
        """The bytes of a message as the server gets it: one line."""
        message: Any = each.message
        if getattr(message, "id", None) is not None and getattr(message, "method", None) is not None:
            self._asked[str(message.id)] = message.method
        return (message.model_dump_json(by_alias=True, exclude_unset=True) + "\n").encode()

    def message_of(self, line: _Line, log: ServerLog) -> Any:
        """The message in a line, for the SDK; None if the line is none. Raises `Flooded`."""
        import mcp_types

        if not line.length and not line.text.strip():
            return None
        try:
            said = self._cut(line, log) if line.length else line.text
            message: Any = mcp_types.jsonrpc_message_adapter.validate_json(said, by_name=False)
        except ValueError:
            log.note(f"a line that is no message: {line.text[:300].decode('utf-8', 'replace')}")
            self._count()
            return None
        if getattr(message, "method", None) is not None or self._asked.pop(str(getattr(message, "id", None)), None) is None:
            self._count()
        return message

    def _count(self) -> None:
        now = monotonic()
        self._unasked.append(now)
        if len(self._unasked) == MOST_UNASKED and now - self._unasked[0] < IN_SECONDS:
            raise Flooded(f"it sent more than {MOST_UNASKED:,} messages within {IN_SECONDS:.0f} seconds that nobody asked for")

    def _cut(self, line: _Line, log: ServerLog) -> bytes:
        """An answer in the place of one that is too long. It holds the beginning of its text, if it is the result of a tool; else an
        error."""
        log.note(f"a message of {line.length:,} bytes is cut; at most {LONGEST_MESSAGE:,} are taken")
        number = next(
            (found[1].decode() for found in _ID.finditer(line.text[:END_OF_LONGER]) if found[1].decode().strip('"') in self._asked), None
        )
        number = number or next(
            (found[1].decode() for found in _ID.finditer(line.end) if found[1].decode().strip('"') in self._asked), None
        )
        if number is None:
            return b"-"
        told = f"The answer of the server has {line.length:,} bytes, and at most {LONGEST_MESSAGE:,} are taken. Ask for less."
        begun = _begun_text(line.text) if self._asked.get(number.strip('"')) == "tools/call" else ""
        if not begun:
            return json.dumps({"jsonrpc": "2.0", "id": json.loads(number), "error": {"code": -32000, "message": told}}).encode()
        content = [{"type": "text", "text": f"[{told} It begins like this.]\n{begun}"}]
        return json.dumps({"jsonrpc": "2.0", "id": json.loads(number), "result": {"content": content, "resultType": "complete"}}).encode()


_ID = re.compile(rb'"id"\s*:\s*("[^"\\]{1,100}"|-?\d{1,18})')
_TEXT = re.compile(rb'"text"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)


def _begun_text(beginning: bytes) -> str:
    found = _TEXT.search(beginning)
    if found is None:
        return ""
    text = found[1].decode("utf-8", "ignore")
    for cut in range(13):  # the last escape may be half a one, or half a pair
        with suppress(ValueError):
            return str(json.loads(f'"{text[: len(text) - cut]}"', strict=False)).encode("utf-8", "ignore").decode()
    return ""

"""The client at the other end of stdin and stdout: one JSON-RPC message a line.

The package's own transport passes over what it cannot read, and its connection ends at a message of the wrong shape. This one answers both,
and passes on only what the connection can take.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol, cast

logger = logging.getLogger(__name__)

LONGEST = 64 * 1024 * 1024
"""The most bytes of a message. One that is longer is passed over."""

NOT_ROUTED = frozenset({"session/delete"})
"""Methods of version 1 that the package does not route yet. They come to the agent as extensions do."""

_CLOSE_SECONDS = 2.0
"""How long the last messages may take to leave."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Error codes of JSON-RPC 2.0."""


class ClientWire(Protocol):
    """The connection to the client, for what the package does not do itself."""

    announced: dict[str, Any]
    """The `clientCapabilities` as the client sent them."""
    on_answer: Callable[[Any], object]
    """Called with the result of each answer, once it is on its way."""

    async def send(self, message: dict[str, Any]) -> None:
        """Sends a message as it is."""
        ...

    async def until_answered(self) -> None:
        """Waits until all requests have their answers, but not for long."""
        ...


class StdioWire:
    """The connection over standard input and output. Implements `ClientWire`, and the package's `Transport`."""

    def __init__(self) -> None:
        """Takes stdin and stdout away from everything else: a stray `print` would write into the protocol."""
        stdin, self._stdout = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.announced: dict[str, Any] = {}
        """`clientCapabilities` as the client sent them: the package's types drop what they do not know yet."""
        self.on_answer: Callable[[Any], object] = lambda result: None
        """Called with the result of each answer, once it is on its way."""
        self._loop = asyncio.get_running_loop()
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._leaving: SimpleQueue[bytes | None] = SimpleQueue()
        self._waiting = 0
        """How many bytes were sent that the client has not read."""
        self._room = asyncio.Event()
        self._closed = False
        self._unanswered: set[Any] = set()
        """The ids of requests that have no answer yet."""
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        threading.Thread(target=self._read, args=(os.fdopen(stdin, "rb"),), name="stdin", daemon=True).start()
        self._writing = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._writing.start()

    async def receive(self) -> dict[str, Any] | None:
        """The next message that a connection can take; None if the client is gone."""
        while line := await self._arrived.get():
            message = parse(line)
            if isinstance(message, UnreadableMessage):
                if message.answer is not None:
                    await self.send(message.answer)
            else:
                if message.get("method") == "initialize":
                    self.announced = capabilities_in(message)
                elif message.get("method") in NOT_ROUTED:
                    message["method"] = f"_{message['method']}"
                if "method" in message and message.get("id") is not None:
                    self._unanswered.add(message["id"])
                    self._all_answered.clear()
                return message
        return None

    async def send(self, message: dict[str, Any]) -> None:
        """Sends a message; waits while the client reads nothing. If the client is gone, nothing is raised: the connection ends by itself
        then."""
        if "method" not in message:
            self._unanswered.discard(message.get("id"))
            if not self._unanswered:
                self._all_answered.set()
        if self._closed:
            return
        data = json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"
        self._waiting += len(data)
        self._leaving.put(data)
        if "result" in message:
            self.on_answer(message["result"])
        while self._waiting > LONGEST and not self._closed:
            self._room.clear()
            await self._room.wait()

    async def until_answered(self) -> None:
        """Waits until all requests have their answers, but not for long: a client may send some and close its end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._all_answered.wait()

    async def close(self) -> None:
        """Sends what was taken, and ends the connection."""
        if not self._closed:
            self._closed = True
            self._leaving.put(None)
            await asyncio.to_thread(self._writing.join, _CLOSE_SECONDS)

    def _read(self, stdin: BinaryIO) -> None:
        try:
            while line := stdin.readline(LONGEST):
                if line.strip():
                    self._tell(self._arrived.put_nowait, line)
        except OSError as error:
            logger.warning("stdin cannot be read: %s", error)
        self._tell(self._arrived.put_nowait, b"")

    def _write(self) -> None:
        try:
            while (data := self._leaving.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._stdout, rest) :]
                self._tell(self._left, len(data))
        except OSError:
            self._tell(self._lost)
        finally:
            os.close(self._stdout)

    def _left(self, size: int) -> None:
        self._waiting -= size
        self._room.set()

    def _lost(self) -> None:
        self._closed = True
        self._room.set()
        self._arrived.put_nowait(b"")

    def _tell(self, what: Any, *given: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(what, *given)
        except RuntimeError:
            return  # the loop has ended


def capabilities_in(message: dict[str, Any]) -> dict[str, Any]:
    """The client's capabilities in an `initialize`; empty if they cannot be read."""
    params: object = message.get("params")
    found: object = cast("dict[str, Any]", params).get("clientCapabilities") if isinstance(params, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


class UnreadableMessage:
    """A line that is no message. `answer` is what the client is told; None if it could be taken for an answer to something else."""

    def __init__(self, code: int, why: str, message_id: object = None) -> None:
        known = message_id if isinstance(message_id, int | str) and not isinstance(message_id, bool) else None
        self.answer: dict[str, Any] | None = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": why}}


def parse(line: bytes) -> dict[str, Any] | UnreadableMessage:
    """The message in a line, or why it cannot be read."""
    if len(line) >= LONGEST:
        return UnreadableMessage(INVALID_REQUEST, f"A message has at most {LONGEST:,} bytes")
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return UnreadableMessage(PARSE_ERROR, "This line is no JSON. A message is one line of JSON-RPC 2.0")
    if not isinstance(found, dict):
        return UnreadableMessage(INVALID_REQUEST, "A message is an object")
    message = cast("dict[str, Any]", found)
    message_id, method = message.get("id"), message.get("method")
    if isinstance(message_id, (bool, float, dict, list)):
        return UnreadableMessage(INVALID_REQUEST, "The id of a message is a string or a whole number")
    if method is None:
        if message_id is None:
            return UnreadableMessage(INVALID_REQUEST, "A message has a method, or the id of what it answers")
        if _is_answer(message):
            return message
        return UnreadableMessage(INVALID_REQUEST, "An answer has a result or an error that is an object")
    if not isinstance(method, str):
        return UnreadableMessage(INVALID_REQUEST, "The method of a message is a string", message_id)
    return message


def _is_answer(message: dict[str, Any]) -> bool:
    return "result" in message or isinstance(message.get("error"), dict)

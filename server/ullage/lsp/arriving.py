"""Messages as they arrive: read one after the other, with room for everything else between them.

What takes long is read in another thread, in many small steps. What comes behind it waits, since the order counts; but for what only looks
at a session, or stops it, and has nothing to do with what it waits behind. What nobody knows is passed over at a glance. Where the client
does not read what it is sent, nothing more is handled of it.

A stop is looked for in all that has come, so that it does not wait behind anything. Where something before it is about its session, it is
acted upon twice: now, and in its turn, so that nothing that was asked before it begins after it.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest

from ullage.lsp import protocol as wire
from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.bodies import glance, method_of, parse_body, parse_in_steps
from ullage.lsp.framing import LONGEST, SHORT, Body, Framing, ReaderAhead, TooLong
from ullage.lsp.transport import Writer

LARGE = 128 * 1024
"""The bytes beyond which a message is read in another thread: this many take about a millisecond."""

BREATH_SECONDS = 0.01
"""How long messages that are there already are taken one after the other before others have their turn."""

MOST_WAITING = 16_000_000
"""How many bytes may wait for a client to read them before nothing more is read of it: every request is answered."""

MOST_HELD = 16_000_000
"""How many bytes of messages may wait behind one that takes long before nothing more is read until it is done."""

LOOK_AGAIN_SECONDS = 0.02

_MOST_UNKNOWN = 1_000
"""How many names of unknown methods are remembered."""

_AT_ONCE = 2_000
"""Messages that are passed over before others have their turn: some milliseconds."""

_OVERTAKE = frozenset(method.encode() for method in (wire.CANCEL, wire.SNAPSHOT, wire.ITEMS, types.CANCEL_REQUEST))

_OURS = b"ullage/"

_STOP = wire.CANCEL.encode()

_READING = frozenset(method.encode() for method in (wire.SNAPSHOT, wire.ITEMS))
"""The methods of requests that only read a session: a stop need not wait behind these."""


class Arriving:
    """The messages of one client as they are read and handled. `complain` is called with the error and its type when a message could not be
    handled."""

    def __init__(self, reader: ReaderAhead, writer: Writer, protocol: AgentProtocol, complain: Callable[[Exception, object], None]) -> None:
        self._reader = reader
        self._framing = Framing(reader)
        self._writer = writer
        self._protocol = protocol
        self._complain = complain
        self._unknown: set[bytes] = set()
        """The names of methods that came and that nobody knows."""
        self._line = _Line()
        self._slow: asyncio.Task[None] | None = None
        """Handles what takes long, and then what came meanwhile."""
        self._coming: asyncio.Task[Body | TooLong | None] | None = None

    async def take_all(self, has_ended: Callable[[], bool]) -> None:
        """Takes messages until the client has gone, or `has_ended` is true. Raises `NotTheProtocol`."""
        began = perf_counter()
        try:
            while not has_ended():
                body = await self._next(has_ended)
                if body is None:
                    break
                if not self._passes_over(body):
                    self._take(body)
                if perf_counter() - began > BREATH_SECONDS:
                    await asyncio.sleep(0)
                    self._look_ahead()
                    began = perf_counter()
                while self._must_wait and not has_ended():  # a thread writes, and tells nobody
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                    self._look_ahead()
            while self._slow is not None and not has_ended():
                await asyncio.wait({self._slow})
        finally:
            for task in (self._slow, self._coming):
                if task is not None:
                    task.cancel()

    @property
    def _must_wait(self) -> bool:
        return self._writer.waiting > MOST_WAITING or self._line.behind > MOST_HELD

    @property
    def _may_pass_over(self) -> bool:
        return self._protocol.is_initialized and not self._protocol.is_shutting_down

    async def _next(self, has_ended: Callable[[], bool]) -> Body | TooLong | None:
        """The next body. None at the end, also where a message that took long was the one that ends the server."""
        if self._coming is None:
            self._framing.pass_over(self._unknown if self._may_pass_over else frozenset(), _AT_ONCE)
            there = self._framing.there()
            if there is not None:
                return there
            if self._slow is None:
                return await self._framing.next()
            self._coming = asyncio.create_task(self._framing.next())
        while self._slow is not None and not self._coming.done():
            await asyncio.wait({self._coming, self._slow}, return_when=asyncio.FIRST_COMPLETED)
            if has_ended():
                return None
        coming, self._coming = self._coming, None
        return await coming

    def _look_ahead(self) -> None:
        """Stops the sessions that a message asks to stop which has come and not had its turn."""
        self._framing.take_in(self._reader.ready)
        if not self._may_pass_over:
            return
        for place, body in self._framing.ahead(_STOP):
            session_id = _stops(body)
            if session_id is None:
                continue
            name = json.dumps(session_id).encode()
            if self._line.names(session_id) or self._framing.names_before(place, name, _counts_for_a_stop):
                self._protocol.stop_ahead(session_id)
            else:
                self._framing.take_out(place)
                with self._complaining():
                    self._handled(body)

    def _passes_over(self, body: Body | TooLong) -> bool:
        """Whether nothing more is to be done about a message: nobody knows its method, or too many requests wait already. If it is a
        request, it was answered then."""
        if isinstance(body, TooLong) or not self._may_pass_over:
            return False
        if len(body) > LARGE and not self._is_surely_unknown(body):
            return False
        seen = glance(body)
        if seen is None:
            return False
        if self._known(seen.method):
            return seen.id is not None and self._protocol.refuse_if_too_many(seen.method, seen.id)
        if seen.id is not None:
            self._protocol.refuse_unknown(seen.method, seen.id)
        return True

    def _is_surely_unknown(self, body: Body) -> bool:
        method = method_of(body)
        return method is not None and not self._known(method)

    def _known(self, method: bytes) -> bool:
        if method in self._unknown:
            return False
        known = self._protocol.knows(method.decode())
        if not known and len(self._unknown) < _MOST_UNKNOWN:
            self._unknown.add(method)
        return known

    def _take(self, body: Body | TooLong) -> None:
        if self._slow is not None and not self._overtakes(body):
            self._line.put(body)
            stopped = None if isinstance(body, TooLong) else _stops(body)
            if stopped is not None:
                self._protocol.stop_ahead(stopped)
            return
        with self._complaining():
            slowly = self._handled(body)
            if slowly is not None:
                self._line.put(body)
                self._slow = asyncio.create_task(self._handle_slowly(slowly))

    def _overtakes(self, body: Body | TooLong) -> bool:
        """Whether a message may be handled before those that came before it."""
        seen = None if isinstance(body, TooLong) or len(body) > LARGE else glance(body)
        if seen is None or isinstance(body, TooLong) or seen.method not in _OVERTAKE:
            return False
        match _parsed_or_none(body):
            case {"params": {"sessionId": str(session_id)}}:
                return not self._line.names(session_id)
            case {"params": {"id": message_id}}:
                return self._protocol.is_asked(message_id)
            case _:
                return False

    def _handled(self, body: Body | TooLong) -> Coroutine[Any, Any, None] | None:
        """Handles a message at once (None), or gives the coroutine that handles one that takes long."""
        if isinstance(body, TooLong):
            most = LONGEST // (1024 * 1024)
            self._protocol.refuse(None, JsonRpcInvalidRequest(f"A message has at most {most} MB; this one was passed over"))
        elif len(body) > LARGE:
            return self._handle_large(body)
        else:
            message = parse_body(body)
            if self._protocol.takes_long(message):
                return self._protocol.handle_large_message(message)
            self._protocol.handle_message(message)
        return None

    async def _handle_large(self, body: Body) -> None:
        await self._protocol.handle_large_message(await asyncio.to_thread(parse_in_steps, body))

    async def _handle_slowly(self, slowly: Coroutine[Any, Any, None] | None) -> None:
        """Handles the first message of the line, and then those behind it, until the line is empty."""
        began = perf_counter()
        while True:
            with self._complaining():
                if slowly is not None:
                    await slowly
            self._line.done()
            if perf_counter() - began > BREATH_SECONDS:
                await asyncio.sleep(0)
                began = perf_counter()
            body, slowly = self._line.first(), None
            if body is None:
                self._slow = None
                return
            with self._complaining():
                slowly = self._handled(body)

    @contextmanager
    def _complaining(self) -> Generator[None]:
        """Passes on any error that handling one message raises to `complain`, so that the next message is still read."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the same
            self._complain(error, JsonRpcException)


class _Line:
    """The message that is being handled, and those behind it."""

    def __init__(self) -> None:
        self._size = 0
        self._bodies: deque[tuple[Body | TooLong, bool]] = deque()
        """Each message with whether it is one of Ullage's own, or one of which nothing can be seen at a glance."""

    @property
    def behind(self) -> int:
        """How many bytes the messages behind the first one have."""
        first = self.first()
        return self._size - (len(first) if isinstance(first, Body) else 0)

    def put(self, body: Body | TooLong) -> None:
        """Puts a message at the end of the line."""
        self._bodies.append((body, not isinstance(body, TooLong) and _may_be_ours(body)))
        self._size += 0 if isinstance(body, TooLong) else len(body)

    def first(self) -> Body | TooLong | None:
        """The message to be handled now; None if the line is empty."""
        return self._bodies[0][0] if self._bodies else None

    def done(self) -> None:
        """Takes the first message, which was handled, off the line."""
        body, _ = self._bodies.popleft()
        self._size -= 0 if isinstance(body, TooLong) else len(body)

    def names(self, session_id: str) -> bool:
        """Whether any of Ullage's own messages, or one of which nothing can be seen at a glance, is about that session."""
        name = json.dumps(session_id).encode()
        return any(may_be_ours and not isinstance(body, TooLong) and name in body for body, may_be_ours in self._bodies)


def _may_be_ours(body: Body) -> bool:
    method = method_of(body)
    return method is None or method.startswith(_OURS)


def _counts_for_a_stop(body: Body) -> bool:
    return _may_be_ours(body) and method_of(body) not in _READING


def _stops(body: Body) -> str | None:
    """The session that a message stops; None if it is anything else."""
    seen = glance(body) if len(body) <= SHORT else None
    if seen is None or seen.method != _STOP:
        return None
    match _parsed_or_none(body):
        case {"params": {"sessionId": str(session_id)}}:
            return session_id
        case _:
            return None


def _parsed_or_none(body: Body) -> Any:
    try:
        return parse_body(body)
    except (ValueError, RecursionError):
        return None

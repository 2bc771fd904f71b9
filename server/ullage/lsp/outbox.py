"""Updates of the sessions on their way to the client: in order, some at a time, and no more than the client takes.

A client that does not read would have all that it is told kept here. While too much waits for it, of each session the newest update
alone is kept. Once it has read what was there, that is sent; by the gap before it the client knows that it has to ask for a snapshot.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Generic, TypeVar

T = TypeVar("T")

BREATH_SECONDS = 0.005
"""How long updates are sent before others have their turn."""

MOST_WAITING = 8_000_000
"""Bytes that wait for the client, from which on it is told no more ..."""
FEW_WAITING = 1_000_000
"""... until it has read all but so many."""

LOOK_AGAIN_SECONDS = 0.05


class Outbox(Generic[T]):
    """`send` takes the session, the number and the update; `waiting` says how many bytes the client has not read."""

    def __init__(self, send: Callable[[str, int, T], None], waiting: Callable[[], int], loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._waiting = waiting
        self._loop = loop
        self._updates: deque[tuple[str, int, T]] = deque()
        self._newest: dict[str, tuple[int, T]] = {}
        """Of sessions whose updates are not sent now."""
        self._is_going = False

    def put(self, session_id: str, seq: int, update: T) -> None:
        """Sends it soon: in the loop's next round at the earliest, so that an answer with a snapshot from before leaves before."""
        if session_id in self._newest:
            self._newest[session_id] = seq, update
        else:
            self._updates.append((session_id, seq, update))
        if not self._is_going:
            self._is_going = True
            self._loop.call_soon(self._go)

    def _go(self) -> None:
        began = perf_counter()
        while self._updates and perf_counter() - began < BREATH_SECONDS:
            if self._waiting() > MOST_WAITING:
                self._fall_behind()
            else:
                self._send(*self._updates.popleft())
        if self._newest and self._waiting() < FEW_WAITING:
            self._updates.extend((session_id, seq, update) for session_id, (seq, update) in self._newest.items())
            self._newest.clear()
        self._is_going = bool(self._updates or self._newest)
        if self._updates:
            self._loop.call_soon(self._go)
        elif self._newest:
            self._loop.call_later(LOOK_AGAIN_SECONDS, self._go)

    def _fall_behind(self) -> None:
        for session_id, seq, update in self._updates:
            self._newest[session_id] = seq, update
        self._updates.clear()

"""Responses that wait until a test lets them go."""

from __future__ import annotations

import asyncio


class Holds:
    """A gate that closes again after each opening: `release` lets go only those who wait at that moment."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Event] = set()
        self._changed = asyncio.Condition()

    @property
    def waiting(self) -> int:
        """How many responses wait now."""
        return len(self._waiting)

    async def wait(self) -> None:
        """Waits for the next `release`."""
        gate = asyncio.Event()
        self._waiting.add(gate)
        try:
            async with self._changed:
                self._changed.notify_all()
            await gate.wait()
        finally:
            self._waiting.discard(gate)

    async def until_waiting(self, count: int = 1) -> None:
        """Waits until `count` responses wait."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.waiting >= count)

    def release(self) -> int:
        """Lets all waiting responses go on; gives how many there were."""
        gates = list(self._waiting)
        for gate in gates:
            gate.set()
        self._waiting.clear()  # at once, so that whoever waits for the next one does not meet these
        return len(gates)

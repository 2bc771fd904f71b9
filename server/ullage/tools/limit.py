"""How long a command may run: a time that may change while it does."""

from __future__ import annotations

import asyncio
from typing import Literal


class Limit:
    """How long a command may run. That may change while it does: it is left running, or stopped."""

    def __init__(self, seconds: float | None) -> None:
        """`seconds` begin when the command has been started; None lets it run as long as it takes."""
        self.seconds = seconds
        self._is_stopped = False
        self._changed = asyncio.Event()

    def lift(self) -> None:
        """Lets the command run as long as it takes."""
        self.seconds = None
        self._changed.set()

    def stop(self) -> None:
        """Ends the command now."""
        self._is_stopped = True
        self._changed.set()

    async def over(self) -> Literal["by timeout", "stopped"]:
        """Waits until the command has to end, and says why."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not self._is_stopped:
            self._changed.clear()
            left = None if self.seconds is None else began + self.seconds - loop.time()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return "by timeout"
        return "stopped"

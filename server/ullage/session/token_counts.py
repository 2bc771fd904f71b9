"""Counting texts by a model's tokenizer, in the background: one after the other, in another thread, each once."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence

from ullage.context.counting.tokens import REMEMBERED
from ullage.models.tokenizers import CountText

logger = logging.getLogger(__name__)

LONGEST = 400_000
"""Characters: about a second. A longer text stays an estimate, as it does where the tokenizer fails."""


class TokenCounts:
    """What one tokenizer counted; a `Counts`. `counted` is called on the loop once all that was wanted is known.

    Texts may be asked for from any thread; what was counted becomes known on the loop alone, once `begin` has named it.
    """

    def __init__(self, count: CountText, counted: Callable[[], None]) -> None:
        self._count = count
        self._counted = counted
        self._known: dict[str, int | None] = {}
        self._wanted: deque[str] = deque()
        self._asked: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self.version = 0
        """Goes up with each text that was counted."""
        self.remember_at_most = REMEMBERED
        """Texts; the oldest are forgotten."""

    def known(self, text: str) -> int | None:
        """Tokens of `text`; None where it was not counted (yet)."""
        return self._known.get(text)

    def want(self, texts: Sequence[str]) -> None:
        """They are counted soon, in this order."""
        new = [text for text in texts if text and text not in self._known and text not in self._asked and len(text) <= LONGEST]
        if not new:
            return
        self._asked.update(new)
        self._wanted.extend(dict.fromkeys(new))
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._go_on)

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on it counts."""
        self._loop = loop
        loop.call_soon_threadsafe(self._go_on)

    async def close(self) -> None:
        """Counts no more. A text that is being counted is counted to its end in its thread, and nobody hears of it."""
        self._loop = None
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def settled(self) -> None:
        """Waits until all that was wanted is known."""
        await asyncio.sleep(0)  # what was asked for just now begins with the loop's next round
        while self._work is not None:
            await asyncio.shield(self._work)

    def _go_on(self) -> None:
        if self._work is None and self._wanted and self._loop is not None:
            self._work = self._loop.create_task(self._count_all(), name="count tokens")

    async def _count_all(self) -> None:
        try:
            while self._wanted:
                text = self._wanted.popleft()
                self._known[text] = await asyncio.to_thread(self._counted_or_none, text)
                self.version += 1
                self._asked.discard(text)
                if len(self._known) > self.remember_at_most:
                    del self._known[next(iter(self._known))]
        finally:
            self._work = None
        self._counted()

    def _counted_or_none(self, text: str) -> int | None:
        try:
            return self._count(text)
        except Exception as error:  # noqa: BLE001 - whatever it does not like of a text: the estimate stands
            logger.warning("a text of %d characters could not be counted: %s: %s", len(text), type(error).__name__, error)
            return None

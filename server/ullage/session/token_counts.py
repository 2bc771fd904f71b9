"""Counting texts by a model's own tokenizer, in the background: each text once, and some at a time.

Claude's tokenizers run here, in another thread. Those of the editor's models run in the editor.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from ullage.context.counting.tokens import REMEMBERED, mark_of
from ullage.models.counting import CountText

logger = logging.getLogger(__name__)

LONGEST = 400_000
"""Characters of the longest text that is counted: it takes about a second. A longer one stays an estimate, as it does where the tokenizer
fails."""

CountTexts: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[int | None]]]
"""Counts the tokens of each text; None for one that cannot be counted."""

AT_ONCE = 100_000
"""Characters that are counted in one go: some 0.2 s of a tokenizer in Python, and one message to an editor."""


async def in_a_thread(count: CountText, texts: Sequence[str]) -> Sequence[int | None]:
    """Counts texts by a tokenizer in another thread, while the loop goes on; None for a text that cannot be counted."""

    def counted(text: str) -> int | None:
        try:
            return count(text)
        except Exception as error:  # noqa: BLE001 - whatever it does not like of a text: the estimate stands
            logger.warning("a text of %d characters could not be counted: %s: %s", len(text), type(error).__name__, error)
            return None

    return await asyncio.to_thread(lambda: [counted(text) for text in texts])


class TokenCounts:
    """What one tokenizer counted; a `Counts`. `counted` is called on the loop once all that was wanted is known.

    Texts may be asked for from any thread; what was counted becomes known on the loop alone, once `begin` has named it.
    """

    def __init__(self, count: CountTexts, counted: Callable[[], None]) -> None:
        self._count = count
        self._counted = counted
        self._known: dict[int, int | None] = {}
        """The tokens of each text by what stands for it (`mark_of`); None if it could not be counted."""
        self._wanted: deque[str] = deque()
        self._asked: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self.version = 0
        """A number that goes up with each text that was counted."""
        self.remember_at_most = REMEMBERED
        """Most texts that are remembered; the oldest are forgotten."""

    def known(self, text: str) -> int | None:
        """The tokens of a text; None if it was not counted (yet), or cannot be."""
        return self._known.get(mark_of(text))

    def want(self, texts: Sequence[str]) -> None:
        """Has these texts counted soon, in this order."""
        new = [text for text in texts if text and mark_of(text) not in self._known and text not in self._asked and len(text) <= LONGEST]
        if not new:
            return
        self._asked.update(new)
        self._wanted.extend(dict.fromkeys(new))
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._go_on)

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begins to count, on that loop."""
        self._loop = loop
        loop.call_soon_threadsafe(self._go_on)

    async def close(self) -> None:
        """Stops counting. A text that is being counted is counted to its end in its thread, and nobody hears of it."""
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
                texts = self._next()
                for text, tokens in zip(texts, await self._count(texts), strict=True):
                    self._known[mark_of(text)] = tokens
                    self.version += 1
                    self._asked.discard(text)
                while len(self._known) > self.remember_at_most:
                    del self._known[next(iter(self._known))]
        finally:
            self._work = None
        self._counted()

    def _next(self) -> list[str]:
        texts: list[str] = []
        while self._wanted and sum(map(len, texts)) < AT_ONCE:
            texts.append(self._wanted.popleft())
        return texts

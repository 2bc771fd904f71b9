"""How long a reply is waited for: until it begins, between two signs of life, and while there are signs of life and nothing else.

The limits are ours: a large prompt may be read for minutes before the first word. Pings are signs of life, but no reply: a server that
stands still may send them for ever. While the model writes the input of a call the API may send nothing else for minutes, as it sends each
value of it when the value is whole; 32,000 tokens, the most that is asked for, take about 800 s at 40 tokens a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from dataclasses import dataclass

from ullage.context.blocks import Json


class NothingCame(Exception):
    """What was waited for did not come; `str()` says what came instead, as it stands after the endpoint's name."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    answer: float = 300.0
    """Until the answer begins; and the longest that the body of one that does not stream may take."""
    silence: float = 300.0
    """Between two pieces of it, pings included."""
    pings: float = 900.0
    """Between two pieces that are no pings."""

    def for_an_answer(self) -> asyncio.Timeout:
        """Raises `TimeoutError` where the answer does not begin in time."""
        return asyncio.timeout(self.answer)

    async def between(self, pieces: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
        """The pieces. Raises `NothingCame` where the next one does not come in time."""
        waiting = aiter(pieces)
        while True:
            try:
                async with asyncio.timeout(self.silence):
                    piece = await anext(waiting)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise NothingCame(f"sent nothing for {spoken(self.silence)} in the middle of its reply") from None
            yield piece

    async def over(self, sent: AsyncIterable[Mapping[str, Json]]) -> AsyncGenerator[Mapping[str, Json], None]:
        """The events but for pings. Raises `NothingCame` where only pings come for too long."""
        now: Callable[[], float] = asyncio.get_running_loop().time
        since = now()
        async for event in sent:
            if event.get("type") != "ping":
                yield event
                since = now()
            elif now() - since > self.pings:
                raise NothingCame(f"sent only pings for {spoken(self.pings)}, and nothing of its reply")


def patience_with(*, own_server: bool) -> Patience:
    """With Anthropic's endpoint or a server of the user's own, which may take minutes over a long prompt before it says anything."""
    return Patience(answer=600.0, silence=600.0) if own_server else Patience()


def spoken(seconds: float) -> str:
    """A time for a message."""
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:g} min"

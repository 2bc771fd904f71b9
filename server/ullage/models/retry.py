"""How long a reply is waited for, and when a failed model call is made again.

**Waiting.** The limits are ours: a large prompt may be read for minutes before the first word. Pings are signs of life, but no reply: a
server that hangs may send them for ever. While the model writes the input of a call, the API may send nothing else for minutes: it sends
each value only when it is whole. 32,000 tokens, the most that is asked for, take about 800 s at 40 tokens a second.

**Calling again** happens only before any output, with growing delays and a ceiling on what servers ask. `failures.py` decides what a
failure means. The clock and the dice come from outside.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TypeVar

from ullage.context.blocks import Json
from ullage.models.errors import ModelError
from ullage.models.model import ModelEvent, Retrying

T = TypeVar("T")


class NothingCame(Exception):
    """Raised where what was waited for did not come; `str()` says what came instead, as it stands after the endpoint's name."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a reply is waited for, in seconds."""

    answer: float = 300.0
    """Seconds until the answer begins; and the longest that the body of one that does not stream may take."""
    silence: float = 300.0
    """Seconds between two pieces of the answer, pings included."""
    pings: float = 900.0
    """Seconds between two pieces that are no pings."""

    def for_an_answer(self) -> asyncio.Timeout:
        """Limits the time until the answer begins: raises `TimeoutError` if it does not begin in time."""
        return asyncio.timeout(self.answer)

    async def between(self, pieces: AsyncIterable[T]) -> AsyncGenerator[T, None]:
        """The pieces as they come. Raises `NothingCame` if the next one does not come in time."""
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
        """The events that are no pings, as they come. Raises `NothingCame` if only pings come for too long."""
        now: Callable[[], float] = asyncio.get_running_loop().time
        since = now()
        async for event in sent:
            if event.get("type") != "ping":
                yield event
                since = now()
            elif now() - since > self.pings:
                raise NothingCame(f"sent only pings for {spoken(self.pings)}, and nothing of its reply")


def patience_with(*, own_server: bool) -> Patience:
    """The patience with Anthropic's endpoint, or with a server of the user's own, which may take minutes over a long prompt before it says
    anything."""
    return Patience(answer=600.0, silence=600.0) if own_server else Patience()


def spoken(seconds: float) -> str:
    """The time as it stands in a message, in seconds or minutes."""
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:g} min"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: the error for the user, and whether and how to try again."""

    error: ModelError
    attempts: int = 1
    """How many times in all a call that fails like this is made."""
    retry_after: float | None = None
    """How many seconds the server asked us to wait."""
    reason: str = ""
    """The words for the user while waiting; empty: the error's own words."""


@dataclass(frozen=True, slots=True)
class Delays:
    """How long to wait before each further attempt (seconds)."""

    first: float = 0.5
    longest: float = 16.0
    """With doubling and seven attempts a busy endpoint gets half a minute to recover."""
    jitter: float = 0.25
    """Up to this share is taken off at random, so that many clients do not come back at once (the SDK's own share)."""
    retry_after_ceiling: float = 60.0
    """A server that asks for more is not waited for: the user is told when to come back instead."""

    def before(self, attempt: int, failure: Failure, dice: float) -> float:
        """Seconds before attempt number `attempt` (the second call is 2); `dice` is between 0 and 1.

        Never less than without the server's wish: one that asks for 0 would be called again and again at once.
        """
        delay = min(self.longest, self.first * 2 ** (attempt - 2)) * (1 - self.jitter * dice)
        return max(delay, failure.retry_after or 0.0)


DELAYS = Delays()
"""The delays that are used where no others are given."""


async def with_retries(
    call: Callable[[], AsyncGenerator[ModelEvent, None]],
    understand: Callable[[Exception], Failure],
    *,
    delays: Delays = DELAYS,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    dice: Callable[[], float] = random.random,
) -> AsyncGenerator[ModelEvent, None]:
    """The events of `call`, made again while it fails before its first event and its failure allows it.

    A `Retrying` event precedes each wait. Raises the `ModelError` of the last failure.
    """
    attempt = 1
    while True:
        began = False
        try:
            async with aclosing(call()) as events:
                async for event in events:
                    began = True
                    yield event
            return
        except Exception as problem:  # noqa: BLE001 - `understand` raises again what it does not know
            failure = understand(problem)
        asked = failure.retry_after or 0.0
        if began or attempt >= failure.attempts or asked > delays.retry_after_ceiling:
            # The cause is left out: it holds the request with its credentials.
            raise failure.error from None
        attempt += 1
        delay = delays.before(attempt, failure, dice())
        yield Retrying(attempt, delay, failure.reason or str(failure.error))
        await sleep(delay)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """How many seconds a server asks us to wait: it gives a number or a date; 0 if that has passed. None if it asks for nothing that is
    possible. `now` is the time; None: the clock's.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        wish = headers.get(name, "").strip()
        try:
            seconds = float(wish) * unit
        except ValueError:
            seconds = _until(wish, now or datetime.now(UTC))
        if seconds is not None and isfinite(seconds):
            return max(0.0, seconds)
    return None


def _until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
        return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    except (ValueError, OverflowError):
        return None

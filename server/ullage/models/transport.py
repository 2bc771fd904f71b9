"""The HTTP client of a model: how long it waits, whom it trusts, what it does not do by itself, and when it is let go of. What it is asked
stands elsewhere."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

from ullage.models.event_stream import bound
from ullage.models.retry import Patience

if TYPE_CHECKING:
    import ssl

    import httpx2

CONNECT_TIMEOUT = 10.0
"""How many seconds it may take to connect."""


@dataclass(frozen=True, slots=True)
class Transport:
    """What every client is made with. `timeout` is that of `http`, given to the SDK too, which has its own otherwise."""

    http: httpx2.AsyncClient
    timeout: httpx2.Timeout


def make_transport(make: Callable[..., httpx2.AsyncClient], patience: Patience) -> Transport:
    """Makes the HTTP client with `make`, which takes the arguments of httpx2. For another thread, the first time: it reads files and
    imports."""
    from httpx2 import Timeout

    # Beyond what `retry.py` has, whose words are the better ones.
    timeout = Timeout(2 * max(patience.answer, patience.silence), connect=CONNECT_TIMEOUT)
    http = make(
        timeout=timeout,
        verify=trusted_authorities(),
        follow_redirects=False,  # what redirects would get the prompt, to wherever they lead: the user is told of them instead
        event_hooks={"response": [bound]},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # the APIs have none; one that cannot be sent back would fail all calls
    )
    return Transport(http, timeout)


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The context with the authorities whose certificates count. To read them takes 15 ms and a megabyte, and each model has a client of
    its own."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


class InUse:
    """Counts who waits for an endpoint. `free` lets go of its connections, once the model was left and nobody waits any more."""

    def __init__(self, free: Callable[[], Awaitable[None]]) -> None:
        self._free = free
        self._waiting = 0
        self._is_left = False

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """Keeps connections from being freed while somebody waits for something inside of the block."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            await self._free_if_left()

    async def leave(self) -> None:
        """Notes that nobody asks anything new, so that connections are freed as soon as nobody waits."""
        self._is_left = True
        await self._free_if_left()

    async def _free_if_left(self) -> None:
        if self._is_left and not self._waiting:
            await self._free()

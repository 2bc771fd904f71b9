"""How a server that is a service is reached: streamable HTTP through the SDK, with the user's sign-in where the service wants one.

Nothing here is done before the user turned that service on for the workspace. What a service sends is bounded, and where it leads for
signing in is looked at: plain HTTP goes to this machine alone.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ullage.mcp_servers.configured import HERE, Configured, Http
from ullage.mcp_servers.connection import SIGN_IN, Ended, ServerFailed
from ullage.mcp_servers.pipes import LONGEST_MESSAGE
from ullage.mcp_servers.server_log import ServerLog
from ullage.mcp_servers.sign_in import Callback, OpenAddress, Secrets, Tokens, provider_for

if TYPE_CHECKING:  # takes long to import
    import httpx2
    from mcp.client._transport import TransportStreams

REQUEST_SECONDS, READ_SECONDS = 30.0, 300.0
"""How long a request may take, and a stream be silent; the defaults of the SDK."""

logger = logging.getLogger(__name__)


class TooMuchSent(Exception):
    """A service sent more than is taken."""


class Services:
    """Reaches servers that are services. `open_address` shows the user a page in their browser."""

    def __init__(self, secrets: Secrets, open_address: OpenAddress) -> None:
        self._secrets = secrets
        self._open_address = open_address
        self.signing_in: set[str] = set()
        """Names of servers that the user signs in to now: only then a browser is opened."""

    def tokens(self, server: Configured) -> Tokens:
        """The tokens and all else that is kept of the user's sign-in at that server."""
        return Tokens(self._secrets, server.reached.url if isinstance(server.reached, Http) else "")

    @asynccontextmanager
    async def reach(self, server: Configured, log: ServerLog, ended: Ended) -> AsyncGenerator[TransportStreams]:
        """Opens the streams of a service. `ended` is told `SIGN_IN` if it wants to know who the user is."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        reached = server.reached
        if not isinstance(reached, Http):
            raise ServerFailed("it is no service")
        log.note(f"connects to {reached.host}")
        tokens = self.tokens(server)
        is_signing_in = server.name in self.signing_in
        await tokens.load(anew=is_signing_in)
        async with Callback() as callback:
            auth = None
            if not any(name.lower() == "authorization" for name in reached.headers):
                opens = self._open_address if is_signing_in else None
                auth = provider_for(reached.url, tokens, callback, opens, lambda: ended(SIGN_IN))
            client = httpx2.AsyncClient(
                headers={"accept-encoding": "identity", **reached.headers},
                timeout=httpx2.Timeout(REQUEST_SECONDS, read=READ_SECONDS),
                auth=auth,
                event_hooks={"request": [partial(check_request, is_of_here=urlsplit(reached.url).hostname in HERE)], "response": [_bound]},
            )
            async with client, streamable_http_client(reached.url, http_client=client) as streams:
                yield streams


async def check_request(request: httpx2.Request, *, is_of_here: bool) -> None:
    """Raises `ServerFailed` if a service leads to an address that it must not. `is_of_here` says that the service itself is on this
    machine."""
    host = request.url.host
    is_here = host in HERE
    if is_here and not is_of_here:
        raise ServerFailed("it leads to this machine")
    if request.url.scheme != "https" and not is_here:
        raise ServerFailed(f"it leads to {host} without encryption")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return
    if not is_here and (address.is_link_local or address.is_unspecified or address.is_multicast):
        raise ServerFailed(f"it leads to {host}, which no service has")


async def _bound(response: httpx2.Response) -> None:
    """Bounds a response to `LONGEST_MESSAGE`, unless it is a stream of events: the SDK bounds events one by one. Raises `TooMuchSent` if it
    is packed: a few megabytes can be unpacked to what no memory holds."""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise TooMuchSent(f"its answer is packed ({packed[:20]}), though it was asked for plain")
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _bounded(cast("httpx2.AsyncByteStream", response.stream))


def _bounded(stream: httpx2.AsyncByteStream) -> httpx2.AsyncByteStream:
    import httpx2 as library

    class BoundedBody(library.AsyncByteStream):
        """The bytes of a response, up to a limit."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = LONGEST_MESSAGE
            async for data in stream:
                left -= len(data)
                if left < 0:
                    raise TooMuchSent(f"its answer has more than {LONGEST_MESSAGE:,} bytes")
                yield data

        async def aclose(self) -> None:
            await stream.aclose()

    return BoundedBody()

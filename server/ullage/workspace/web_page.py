"""Pages of the web: fetched once, and read as text.

Two may name one: the user in a prompt, and the agent by its tool, where the user lets it and was asked about the host. Nobody else can have
one fetched, and no page can: what comes is words, nothing of it is run, and nothing else is fetched for it. `web_address.py` says where
requests may go. Redirects are followed by hand, each as if it were new. One to another host is not followed for the agent: the user was
asked about one host. Proxies of the environment are used, as the SDK does for the model.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

from ullage.workspace.page_markdown import page_text
from ullage.workspace.web_address import (
    Address,
    Named,
    NotFetched,
    Resolve,
    addresses,
    host_of,
    looked_up,
    place_of,
    plain_url,
    proxy_of_environment,
)
from ullage.workspace.web_text import HTML, decoded, is_binary, kind_of

if TYPE_CHECKING:
    import httpx2

SECONDS = 20.0
"""How long a fetch may take in all: names, redirects and the whole page."""
MOST_BYTES = 2_000_000
"""The most bytes of a page, unpacked; a longer one is cut there. Its text is cut again, as any attachment or result."""
MOST_REDIRECTS = 5

_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. `url` is the address from which it came in the end; `title` is empty if it has none."""

    url: str
    title: str
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """The address at another host to which a page leads."""

    url: str


@dataclass(frozen=True, slots=True)
class WebResponse:
    """The response of a server: its body as far as it was wanted, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_cut: bool = False

    @property
    def leads_to(self) -> str | None:
        """The address that a redirect leads to; None if the response is no redirect."""
        return self.headers.get("location") if self.status in _REDIRECTS else None


@dataclass(frozen=True, slots=True)
class Network:
    """The ways that requests take. Tests put their own in the place of names, proxies of the environment, and connections."""

    resolve: Resolve = looked_up
    proxy_for: Callable[[str], str | None] = proxy_of_environment
    transport: httpx2.AsyncBaseTransport | None = None

    async def ask(self, url: str, named: Named, agent: str, most: Callable[[int, str, Mapping[str, str]], int]) -> WebResponse:
        """One answer, from an address that was judged; no redirect is followed. Raises `NotFetched`.

        `most` says by status, reason and headers how many bytes are wanted; it may raise, too.
        """
        host = host_of(url)
        proxy = await asyncio.to_thread(self.proxy_for, url)
        found = await addresses(url, host, self.resolve, by_proxy=proxy is not None, named=named)
        return await self._asked(url, [_at(url, address) for address in found] if proxy is None else [url], proxy, agent, most)

    async def _asked(
        self, url: str, targets: list[str], proxy: str | None, agent: str, most: Callable[[int, str, Mapping[str, str]], int]
    ) -> WebResponse:
        from httpx2 import AsyncClient, HTTPError, InvalidURL, StreamError

        last: Exception | None = None
        try:
            made = AsyncClient(
                proxy=proxy if self.transport is None else None,
                transport=self.transport,
                trust_env=False,
                timeout=SECONDS,
                follow_redirects=False,
            )
            async with made as client:
                for target in targets:
                    try:
                        return await _once(client, url, target, agent, most)
                    except (HTTPError, StreamError) as error:
                        last = error
        except (InvalidURL, ValueError, ImportError) as error:  # ImportError: a SOCKS proxy without the package for it
            last = error
        host, why = host_of(url), type(last).__name__
        if proxy is not None:
            raise NotFetched(f"{host} could not be reached through the proxy ({why})") from last
        raise NotFetched(f"{host} could not be reached ({why})") from last


async def fetch_page(url: str, network: Network | None = None) -> Page:
    """Fetches the page that the user named. Raises `NotFetched`. Cancelling ends it at once."""
    from ullage import __version__

    network, host, agent = network or Network(), host_of(url), f"Ullage/{__version__} (one page, asked for by its user)"
    async with in_time():
        for _ in range(MOST_REDIRECTS + 1):
            answer = await network.ask(url, "user" if host_of(url) == host else "page", agent, wanted_of_a_page(url))
            if answer.leads_to is None:
                return await read_page(url, answer)
            url = urljoin(url, answer.leads_to)
    raise NotFetched(f"it leads on more than {MOST_REDIRECTS} times")


async def fetch_for_agent(url: str, network: Network, agent: str) -> Page | LeadsTo:
    """Fetches the page that the agent wants, from a host of the public web. Redirects are followed within that host; one to another gives
    `LeadsTo`. Raises `NotFetched`."""
    place = place_of(url)
    for _ in range(MOST_REDIRECTS + 1):
        answer = await network.ask(url, "agent", agent, wanted_of_a_page(url))
        if answer.leads_to is None:
            return await read_page(url, answer)
        url = plain_url(urljoin(url, answer.leads_to))
        if place_of(url) != place:
            return LeadsTo(url)
    raise NotFetched(f"it leads on more than {MOST_REDIRECTS} times")


class in_time:  # noqa: N801 - it is used as a statement
    """Raises `NotFetched` if its block takes longer than `SECONDS`."""

    def __init__(self) -> None:
        self._timeout = asyncio.timeout(SECONDS)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        try:
            await self._timeout.__aexit__(*error)  # pyright: ignore[reportArgumentType]
        except TimeoutError:
            raise NotFetched(f"the page did not come within {SECONDS:.0f} seconds") from None


def wanted_of_a_page(url: str) -> Callable[[int, str, Mapping[str, str]], int]:
    """A function for `Network.ask` that says how many bytes of an answer are read if a page is wanted. It raises `NotFetched` for what is
    no page."""

    def most(status: int, reason: str, headers: Mapping[str, str]) -> int:
        if status in _REDIRECTS and "location" in headers:
            return 0
        if status != 200:
            raise NotFetched(f"{urlsplit(url).hostname} answered {status} {reason}".rstrip())
        kind_of(headers)
        return MOST_BYTES

    return most


async def read_page(url: str, answer: WebResponse) -> Page:
    """The page in an answer. Raises `NotFetched`."""
    try:
        return await asyncio.to_thread(_page, url, answer)
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:  # a page that the library cannot read ends no turn
        raise NotFetched(f"the page cannot be read ({type(error).__name__})") from error


def _page(url: str, answer: WebResponse) -> Page:
    kind = kind_of(answer.headers)
    if is_binary(answer.body):
        raise NotFetched(f"it is no text, though it says so ({kind[:60]})")
    text = decoded(answer.body, answer.headers.get("content-type", ""), is_cut=answer.is_cut)
    if kind not in HTML:
        return Page(url, "", text, answer.is_cut)
    read = page_text(text, url)
    if not read.text:
        raise NotFetched("the page has no text without its scripts, which are not run")
    return Page(url, read.title, read.text, answer.is_cut)


def _at(url: str, address: Address) -> str:
    parts = urlsplit(url)
    host = f"[{address}]" if address.version == 6 else str(address)
    return urlunsplit((parts.scheme, host if parts.port is None else f"{host}:{parts.port}", parts.path, parts.query, ""))


async def _once(
    client: httpx2.AsyncClient, url: str, target: str, agent: str, most: Callable[[int, str, Mapping[str, str]], int]
) -> WebResponse:
    parts = urlsplit(url)
    headers = {
        "host": parts.netloc,
        "user-agent": agent,
        "accept": "text/html,text/markdown,text/plain,application/json,text/*;q=0.9,*/*;q=0.1",
        "accept-encoding": "identity",  # some servers pack all the same
    }
    extensions = {"sni_hostname": parts.hostname} if parts.scheme == "https" else {}
    async with client.stream("GET", target, headers=headers, extensions=extensions) as response:
        wanted = most(response.status_code, response.reason_phrase, response.headers)
        if not wanted:
            return WebResponse(response.status_code, response.headers)
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        body, is_cut = await _first_bytes(response.aiter_raw(), packed, wanted)
        return WebResponse(response.status_code, response.headers, body, is_cut)


async def _first_bytes(pieces: AsyncIterable[bytes], packed: str, most: int) -> tuple[bytes, bool]:
    """At most so many bytes of a body, unpacked, and whether there are more. There are never more in memory, however much the body packs.
    Raises `NotFetched`."""
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB) if packed in ("gzip", "x-gzip", "deflate") else None
    if unpacking is None and packed not in ("", "identity"):
        raise NotFetched(f"it comes packed ({packed[:20]}), though it was asked for plain")
    body = bytearray()
    async for piece in pieces:
        try:
            body += piece if unpacking is None else unpacking.decompress(piece, most + 1 - len(body))
        except zlib.error:
            raise NotFetched(f"what comes packed ({packed}) is damaged") from None
        if len(body) > most:
            return bytes(body[:most]), True
    return bytes(body), False


_GZIP_OR_ZLIB = 47
"""The window bits of zlib with which the data itself says whether it is in the format of gzip or of zlib."""

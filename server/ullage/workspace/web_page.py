"""A page of the web that the user named in a prompt: fetched once, when the prompt is sent, and read as text.

Nobody else can have one fetched: not the model, not a page. What comes is words; nothing of it is run, and nothing else is fetched for it.

Where a request goes is decided by the address that is connected to, not by the name: each name is looked up here, each address of it is
judged, and the connection is made to one that was. Redirects are followed by hand, each as if it were new. Addresses that only this
machine or its cloud answer at are never asked, since what they tell is not for a conversation. A host of the user's own network is asked
if the user named it, and never because a page led there. Proxies of the environment are used, as the SDK does for the model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin, urlsplit, urlunsplit

from ullage.context.page_text import page_text

if TYPE_CHECKING:
    import httpx2

SECONDS = 20.0
"""For everything: names, redirects and the whole page."""
MOST_BYTES = 2_000_000
"""Of a page; what is longer is cut there. Its text is cut again, as any attachment."""
MOST_REDIRECTS = 5
MOST_ADDRESSES = 3
"""Of a host that are tried."""
LONGEST_URL = 2_000
"""Characters."""

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_TEXT = re.compile(r"text/[\w.+-]+|application/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|[\w.+-]+\+(?:json|xml|yaml))")
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,40})", re.IGNORECASE)

_NEVER = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # "this host" (RFC 1122)
        "169.254.0.0/16",  # link-local; 169.254.169.254 tells the keys of cloud machines
        "100.100.100.200/32",  # the same of Alibaba Cloud
        "168.63.129.16/32",  # the same of Azure
        "192.0.0.192/32",  # the same of Oracle Cloud
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "fe80::/10",
        "fd00:ec2::/32",  # metadata of AWS
        "ff00::/8",
    )
)
_METADATA_NAMES = frozenset(("metadata", "metadata.google.internal", "metadata.goog", "instance-data"))

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
"""The addresses of a host. Raises `OSError` where it has none."""


class NotFetched(Exception):
    """Why there is no page, in words for the user that follow "… cannot be attached: "."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. `url` is where it came from in the end; `title` is empty where it has none."""

    url: str
    title: str
    text: str
    is_cut: bool = False


async def fetch_page(
    url: str,
    *,
    resolve: Resolve | None = None,
    proxy_for: Callable[[str], str | None] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Page:
    """Fetches what the user named. Raises `NotFetched`. Cancelling ends it at once.

    `transport` takes the place of the network, `proxy_for` of the proxies that the environment names.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await _followed(url, resolve or _looked_up, proxy_for or _proxy_of_environment, transport)
    except TimeoutError:
        raise NotFetched(f"the page did not come within {SECONDS:.0f} seconds") from None


async def _followed(
    url: str, resolve: Resolve, proxy_for: Callable[[str], str | None], transport: httpx2.AsyncBaseTransport | None
) -> Page:
    named = host_of(url)
    for _ in range(MOST_REDIRECTS + 1):
        host = host_of(url)
        proxy = await asyncio.to_thread(proxy_for, url)
        addresses = await _addresses(url, host, resolve, by_proxy=proxy is not None, was_named=host == named)
        found = await _asked(url, addresses, proxy, transport)
        if isinstance(found, Page):
            return found
        url = urljoin(url, found)
    raise NotFetched(f"it leads on more than {MOST_REDIRECTS} times")


def host_of(url: str) -> str:
    """The host of an address that can be asked for. Raises `NotFetched`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise NotFetched("this is no web address") from None
    if parts.scheme not in ("http", "https") or not host or len(url) > LONGEST_URL or any(ord(each) <= 32 for each in url):
        raise NotFetched("this is no web address (http or https)")
    if parts.username is not None or parts.password is not None:
        raise NotFetched("its address holds a user name or a password, which would be kept in the conversation")
    return host.rstrip(".").lower()


async def _addresses(url: str, host: str, resolve: Resolve, *, by_proxy: bool, was_named: bool) -> Sequence[Address]:
    """Where to connect to, judged; empty where a proxy knows alone. Raises `NotFetched`."""
    if host in _METADATA_NAMES:
        raise NotFetched(f"{host} is where a cloud machine keeps its secrets; it is never asked")
    parts = urlsplit(url)
    try:
        found: Sequence[Address] = (ip_address(host),)
    except ValueError:
        try:
            found = await resolve(host, parts.port or (443 if parts.scheme == "https" else 80))
        except (OSError, UnicodeError) as error:
            if by_proxy:
                return ()
            raise NotFetched(f"{host} was not found. Is there a network? The prompt was not sent") from error
    for address in found:
        why = refusal(address, host=host, was_named=was_named)
        if why is not None:
            raise NotFetched(why)
    return found[:MOST_ADDRESSES]


def refusal(address: Address, *, host: str, was_named: bool) -> str | None:
    """Why that address of a host is not asked; None where it may be. `was_named`: the user typed the host."""
    inner = _inside(address)
    if any(inner in network for network in _NEVER if network.version == inner.version):
        return f"{host} is at {inner}, which only this machine or its cloud answers at; it is never asked"
    if inner.is_global:
        return None
    if not was_named:
        return f"it leads to {host}, which is in a private network ({inner})"
    if inner.is_loopback and not (host == "localhost" or host.endswith(".localhost") or _is_literal(host)):
        return f"{host} leads to this machine ({inner}). Name it localhost if you mean it"
    return None


def _inside(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in ip_network("64:ff9b::/96"):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def _looked_up(host: str, port: int) -> Sequence[Address]:
    from socket import SOCK_STREAM

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(str(where[0]).split("%")[0]) for *_, where in found))


def _proxy_of_environment(url: str) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    proxies = {name: value for name, value in getproxies().items() if value}
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


async def _asked(url: str, addresses: Sequence[Address], proxy: str | None, transport: httpx2.AsyncBaseTransport | None) -> Page | str:
    """The page, or where it leads. Raises `NotFetched`."""
    from httpx2 import AsyncClient, HTTPError, InvalidURL

    targets = [_at(url, address) for address in addresses] if proxy is None else [url]
    last: Exception | None = None
    try:
        made = AsyncClient(
            proxy=proxy if transport is None else None, transport=transport, trust_env=False, timeout=SECONDS, follow_redirects=False
        )
        async with made as client:
            for target in targets:
                try:
                    return await _once(client, url, target)
                except HTTPError as error:
                    last = error
    except (InvalidURL, ValueError, ImportError) as error:  # ImportError: a SOCKS proxy without the package for it
        last = error
    host, why = host_of(url), type(last).__name__
    if proxy is not None:
        raise NotFetched(f"{host} could not be reached through the proxy ({why}). The prompt was not sent") from last
    raise NotFetched(f"{host} could not be reached ({why}). The prompt was not sent") from last


def _at(url: str, address: Address) -> str:
    parts = urlsplit(url)
    host = f"[{address}]" if address.version == 6 else str(address)
    return urlunsplit((parts.scheme, host if parts.port is None else f"{host}:{parts.port}", parts.path, parts.query, ""))


async def _once(client: httpx2.AsyncClient, url: str, target: str) -> Page | str:
    from ullage import __version__

    parts = urlsplit(url)
    headers = {
        "host": parts.netloc,
        "user-agent": f"Ullage/{__version__} (one page, asked for by its user)",
        "accept": "text/html,text/plain,application/json,text/*;q=0.9,*/*;q=0.1",
        "accept-encoding": "identity",  # what is packed can be a thousand times as long
    }
    extensions = {"sni_hostname": parts.hostname} if parts.scheme == "https" else {}
    async with client.stream("GET", target, headers=headers, extensions=extensions) as response:
        if response.status_code in _REDIRECTS and "location" in response.headers:
            return response.headers["location"]
        if response.status_code != 200:
            raise NotFetched(f"{parts.hostname} answered {response.status_code} {response.reason_phrase}".rstrip())
        kind = kind_of(response.headers)
        body, is_cut = await _first_bytes(response.aiter_raw())
    return await asyncio.to_thread(_page, url, kind, response.headers.get("content-type", ""), body, is_cut)


def kind_of(headers: Mapping[str, str]) -> str:
    """The media type of an answer that can be read as text. Raises `NotFetched`."""
    kind = headers.get("content-type", "text/plain").split(";")[0].strip().lower()
    if not _TEXT.fullmatch(kind) and kind not in _HTML:
        raise NotFetched(f"it is no text ({kind[:60]}). Save it in the workspace and attach the file")
    packed = headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise NotFetched(f"it comes packed ({packed[:20]}), though it was asked for plain")
    return kind


async def _first_bytes(pieces: AsyncIterable[bytes]) -> tuple[bytes, bool]:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MOST_BYTES:
            return bytes(body[:MOST_BYTES]), True
    return bytes(body), False


def _page(url: str, kind: str, content_type: str, body: bytes, is_cut: bool) -> Page:
    text = decoded(body, content_type)
    if kind not in _HTML:
        return Page(url, "", text, is_cut)
    read = page_text(text)
    if not read.text:
        raise NotFetched("the page has no text without its scripts, which are not run")
    return Page(url, read.title, read.text, is_cut)


def decoded(body: bytes, content_type: str) -> str:
    """By the charset that the answer names, else by the page's own, else as UTF-8. What does not fit is replaced."""
    named = re.search(r"charset\s*=\s*[\"']?([\w-]{2,40})", content_type, re.IGNORECASE)
    own = None if named else _CHARSET.search(body[:2_048])
    charset = named.group(1) if named else own.group(1).decode("ascii") if own else "utf-8"
    try:
        return body.decode(charset, errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")
    except (LookupError, ValueError):  # a name that is no charset of text
        return body.decode("utf-8", errors="replace").replace("\r\n", "\n")

"""Addresses of the web, and the addresses that their hosts have: what may be asked at all, and by whom.

Where a request goes is decided by the address that is connected to, not by the name: each name is looked up here, each address of it is
judged, and the connection is made to one that was. One address of a name that may not be asked is enough for the name not to be.

Addresses that only this machine or its cloud answer at are never asked, since what they tell is not for a conversation. A host of the
user's own network is asked if the user named it, never because a page led there or the agent wants it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

MOST_ADDRESSES = 3
"""How many addresses of a host are tried."""
LONGEST_URL = 2_000
"""The most characters of an address."""

_NEVER = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # "this host" (RFC 1122)
        "169.254.0.0/16",  # link-local; 169.254.169.254 tells the keys of cloud machines
        "100.100.100.200/32",  # tells the keys of machines of Alibaba Cloud
        "168.63.129.16/32",  # tells those of Azure
        "192.0.0.192/32",  # tells those of Oracle Cloud
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "fe80::/10",
        "fd00:ec2::/32",  # metadata of AWS
        "ff00::/8",
    )
)
_METADATA_NAMES = frozenset(("metadata", "metadata.google.internal", "metadata.goog", "instance-data"))
_GLOBAL_UNICAST = ip_network("2000::/3")
"""All addresses that IPv6 gives to hosts of the web. Those outside belong to a machine or a network, or stand for an address of IPv4."""
_IPV4_INSIDE = tuple(ip_network(network) for network in ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96"))
"""Networks of IPv6 whose addresses end with one of IPv4, in four bytes: NAT64, IPv4-translated, IPv4-compatible."""

USUAL_PORTS = frozenset((80, 443))
_FIRST_FREE_PORT = 1_024
"""Ports below this one belong to services that are not of the web: none is asked at the agent's word."""

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
"""A function that gives the addresses of a host at a port. Raises `OSError` if it has none."""

Named: TypeAlias = Literal["user", "page", "agent"]
"""Who names a host: the user, a page that leads there, the agent."""


class NotFetched(Exception):
    """No page was fetched. The message says why, in words that follow "… cannot be attached: " or "… was not fetched: "."""


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


def port_of(parts: SplitResult) -> int:
    """The port that is connected to for an address: the one that it names, else the usual one of its scheme."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def place_of(url: str) -> str:
    """The host of an address as the user is asked about it, with its port if that is not a usual one. Raises `NotFetched`."""
    host, port = host_of(url), port_of(urlsplit(url))
    shown = f"[{host}]" if ":" in host else host
    return shown if port in USUAL_PORTS else f"{shown}:{port}"


def plain_url(url: str) -> str:
    """An address in ASCII, as it is asked for: the host as DNS knows it, without the part that names a place in the page.

    The user is asked about the same text that is connected to. Raises `NotFetched`.
    """
    host, parts = host_of(url), urlsplit(url)
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:
        raise NotFetched("this is no web address") from None
    where = f"[{host}]" if ":" in host else host
    netloc = where if parts.port is None else f"{where}:{parts.port}"
    try:
        made = urlunsplit((parts.scheme, netloc, quote(parts.path or "/", _AS_IT_IS), quote(parts.query, _AS_IT_IS), ""))
    except UnicodeError:  # half a character
        raise NotFetched("this is no web address") from None
    host_of(made)
    return made


_AS_IT_IS = "/%:=&?~#+!$,;'@()*[]"


async def addresses(url: str, host: str, resolve: Resolve, *, by_proxy: bool, named: Named) -> Sequence[Address]:
    """The addresses of a host that may be connected to; empty if only the proxy knows them. Raises `NotFetched` if one of them may not be
    asked, or there is none."""
    if host in _METADATA_NAMES:
        raise NotFetched(f"{host} is where a cloud machine keeps its secrets; it is never asked")
    port = port_of(urlsplit(url))
    if named == "agent" and port not in USUAL_PORTS and port < _FIRST_FREE_PORT:
        raise NotFetched(f"no page is asked for at port {port}: it is of another service")
    try:
        found: Sequence[Address] = (ip_address(host),)
    except ValueError:
        try:
            found = await resolve(host, port)
        except (OSError, UnicodeError) as error:
            if by_proxy:
                return ()
            raise NotFetched(f"{host} was not found. Is there a network?") from error
    for address in found:
        why = refusal(address, host=host, named=named)
        if why is not None:
            raise NotFetched(why)
    return found[:MOST_ADDRESSES]


def refusal(address: Address, *, host: str, named: Named) -> str | None:
    """Why that address of a host must not be asked, in words for the user and the model; None if it may be."""
    inner = _inside(address)
    if any(inner in network for network in _NEVER if network.version == inner.version):
        return f"{host} is at {inner}, which only this machine or its cloud answers at; it is never asked"
    if inner.is_global and (inner.version == 4 or inner in _GLOBAL_UNICAST):
        return None
    if named == "page":
        return f"it leads to {host}, which is in a private network ({inner})"
    if named == "agent":
        return f"{host} is in a private network ({inner}), where only the user asks for pages"
    if inner.is_loopback and not (host == "localhost" or host.endswith(".localhost") or _is_literal(host)):
        return f"{host} leads to this machine ({inner}). Name it localhost if you mean it"
    return None


def _inside(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for; the address itself if it stands for none."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if int(address) > 1 and any(address in network for network in _IPV4_INSIDE):  # :: and ::1 are themselves
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def looked_up(host: str, port: int) -> Sequence[Address]:
    """The addresses of a host, as the system finds them. Raises `OSError`."""
    from socket import SOCK_STREAM

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(str(where[0]).split("%")[0]) for *_, where in found))


def proxy_of_environment(url: str) -> str | None:
    """The proxy that the environment names for that address; None if it names none. For another thread."""
    from urllib.request import getproxies, proxy_bypass

    proxies = {name: value for name, value in getproxies().items() if value}
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"

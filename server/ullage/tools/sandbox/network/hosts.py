"""Which hosts a command may reach, and at which addresses. Pure, but for the names that the caller has looked up."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

USUAL_PORTS = frozenset({80, 443})
"""The ports that a host without a port is allowed for."""

MOST_HOSTS = 20
"""The most hosts in one call; nobody reads a longer list."""

_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""The network of addresses that stand for one of IPv4 (RFC 6052)."""


class BadHost(ValueError):
    """The text is not a host; the message says what is one."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host that is allowed, with one port or the usual ones."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"

    @property
    def asked(self) -> str:
        """The host in the words of the question to the user: the name as it is (punycode stays), and the ports."""
        ports = " and ".join(map(str, sorted(USUAL_PORTS)))
        return f"`{self}` (ports {ports})" if self.port is None else f"`{self}`"

    def covers(self, name: str, port: int) -> bool:
        """Whether a connection to that name and port is one to this host."""
        return name == self.name and (port in USUAL_PORTS if self.port is None else port == self.port)


def parse_host(text: str) -> Host:
    """The host that a text names: `example.org`, `example.org:8443`, `127.0.0.1:5432` or `[::1]:80`. Raises `BadHost`."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::(\d{1,5}))?", text)
    if found is None:
        raise BadHost(f"`{text}` is no host: name one as `example.org` or `example.org:8443`, without scheme and path")
    name = normal_name(found.group(1).strip("[]"))
    port = None if found.group(2) is None else int(found.group(2))
    if name is None or (port is not None and not 0 < port < 65_536):
        raise BadHost(f"`{text}` is no host: name one as `example.org` or `example.org:8443`, with no pattern in it")
    return Host(name, port)


def normal_name(name: str) -> str | None:
    """A name or address in the form in which they are compared; None if it is neither."""
    lowered = name.lower().rstrip(".")
    address = _address(lowered)
    if address is not None:
        return str(address)
    if not lowered.isascii() or re.fullmatch(r"[0-9.]+|0x[0-9a-f.x]*", lowered):
        return None  # a way to write an address that only some programs understand
    return lowered if _NAME.fullmatch(lowered) else None


def is_allowed(allowed: Sequence[Host], name: str, port: int) -> bool:
    """Whether one of the allowed hosts covers a connection to that name and port."""
    return any(host.covers(name, port) for host in allowed)


def may_connect(name: str, address: str) -> bool:
    """Whether a host of that (allowed) name may be reached at that address.

    A public name must not lead to this machine or the network around it: those have to be named themselves, by address or `localhost`.
    """
    found = _address(address)
    if found is None:
        return False
    named = _address(name)
    if named is not None:
        return named == found
    if name == "localhost" or name.endswith(".localhost"):
        return found.is_loopback
    return _is_public(found)


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = (
            address.ipv4_mapped or address.sixtofour or (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None)
        )
        if inner is not None:
            return _is_public(inner)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None

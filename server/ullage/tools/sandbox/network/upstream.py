"""The proxy through which the user's own machine reaches the network, as `HTTPS_PROXY` and its like name it in the server's environment.

The sandbox's proxy goes through it; a command sees neither its address nor its password.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy that speaks HTTP; `tls` where it is itself reached by HTTPS."""

    host: str
    port: int
    tls: bool = False
    authorization: str = field(default="", repr=False)
    """The value of `Proxy-Authorization`; empty where it wants none."""

    @property
    def header(self) -> bytes:
        """The line for it; nothing where it wants none."""
        return f"Proxy-Authorization: {self.authorization}\r\n".encode() if self.authorization else b""


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Which proxy is taken for what; None means directly."""

    tunnels: Upstream | None = None
    plain: Upstream | None = None
    without: tuple[str, ...] = ()
    """What `NO_PROXY` says."""

    def for_host(self, name: str, port: int, *, tunnel: bool) -> Upstream | None:
        """For a connection to that host. This machine itself is never reached through another one."""
        if _is_here(name) or any(_covers(each, name, port) for each in self.without):
            return None
        return self.tunnels if tunnel else self.plain


def upstreams_of(environment: Mapping[str, str]) -> Upstreams:
    """Those that the environment names. What is no proxy for HTTP (SOCKS) is passed over."""
    every = _named(environment, "all_proxy")
    return Upstreams(
        _named(environment, "https_proxy") or every,
        _named(environment, "http_proxy") or every,
        tuple(part.strip().lower() for part in _value(environment, "no_proxy").split(",") if part.strip()),
    )


def _value(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _named(environment: Mapping[str, str], name: str) -> Upstream | None:
    value = _value(environment, name).strip()
    if not value:
        return None
    try:
        split = urlsplit(value if "://" in value else f"http://{value}")
        scheme, host, port = split.scheme.lower(), split.hostname, split.port
    except ValueError:
        return None
    if scheme not in USUAL_PORTS or not host:
        return None
    said = f"{unquote(split.username or '')}:{unquote(split.password or '')}"
    authorization = "" if said == ":" else f"Basic {base64.b64encode(said.encode()).decode()}"
    return Upstream(host, port or USUAL_PORTS[scheme], scheme == "https", authorization)


def _is_here(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _covers(part: str, name: str, port: int) -> bool:
    """Whether a part of `NO_PROXY` covers the host: `*`, a domain with all below it, an address, a network, each with or without a port."""
    if part == "*":
        return True
    domain, _, only = part.rpartition(":") if part.count(":") == 1 else (part, "", "")
    if only and only != str(port):
        return False
    try:
        return ipaddress.ip_address(name) in ipaddress.ip_network(domain, strict=False)
    except ValueError:
        domain = domain.removeprefix("*").removeprefix(".")
        return bool(domain) and (name == domain or name.endswith(f".{domain}"))

"""A proxy that connects to allowed hosts and to nothing else: `CONNECT` (HTTPS and what else speaks through it), and plain HTTP.

A name is looked up once, here, and the connection goes to the very address that was checked. It notes what it refuses, so that the
command's result can say it.

The user's machine may have to go through a proxy itself, as `HTTPS_PROXY` and its like name it in the server's environment (`Upstreams`). A
command sees neither its address nor its password. That proxy looks the name up. Ullage checks it as well, as far as it is known here: a
name that leads to this machine or the network around it is refused.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import re
import socket
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from ullage.tools.sandbox.network.hosts import Host, is_allowed, may_connect, normal_name

USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy that speaks HTTP; `tls` says that it is itself reached by HTTPS."""

    host: str
    port: int
    tls: bool = False
    authorization: str = field(default="", repr=False)
    """The value of `Proxy-Authorization`; empty if it wants none."""

    @property
    def header(self) -> bytes:
        """The header line with its authorization; empty if it wants none."""
        return f"Proxy-Authorization: {self.authorization}\r\n".encode() if self.authorization else b""


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The proxies that are used for tunnels and for plain HTTP; None means that none is."""

    tunnels: Upstream | None = None
    plain: Upstream | None = None
    without: tuple[str, ...] = ()
    """The parts of `NO_PROXY`."""

    def for_host(self, name: str, port: int, *, tunnel: bool) -> Upstream | None:
        """The proxy for a connection to that host; None if it is made directly. This machine itself is never reached through another
        one."""
        if _is_here(name) or any(_covers(each, name, port) for each in self.without):
            return None
        return self.tunnels if tunnel else self.plain


def upstreams_of(environment: Mapping[str, str]) -> Upstreams:
    """The proxies that the environment names. One that does not speak HTTP (SOCKS) is passed over."""
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


LONGEST_HEAD = 32_768
"""The most bytes of a request before its body."""

HEAD_SECONDS = 30.0
CONNECT_SECONDS = 30.0
MOST_CONNECTIONS = 256
MOST_NOTED = 20
PIECE = 65_536

_DROPPED = re.compile(rb"^(?:proxy-[^:\r\n]*|connection|keep-alive|host|upgrade|te):.*\r\n", re.IGNORECASE | re.MULTILINE)
"""Header lines between a client and its proxy, and the host, which is the one that was checked."""


_MADE = re.compile(r"HTTP/1\.[01] 2\d\d(?: |$)")
"""The beginning of a proxy's answer if it made a tunnel."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    port: int
    head: bytes | None
    """The bytes that are sent on first; None for a tunnel."""
    to_proxy: bytes = b""
    """The first bytes as another proxy takes them, up to the end of its `Host`."""

    @property
    def place(self) -> str:
        """The name and port as they stand in a request."""
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


class Proxy:
    """Serves one listening socket until it is closed."""

    def __init__(self, allowed: Sequence[Host], upstreams: Upstreams | None = None) -> None:
        """`upstreams` are the proxies that the user's own connections go through."""
        self._allowed = tuple(allowed)
        self._upstreams = upstreams or Upstreams()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: list[str] = []
        """The hosts that were refused, in words: each once, at most `MOST_NOTED`."""

    async def serve(self, listener: socket.socket) -> None:
        """Takes connections from now on."""
        self._server = await asyncio.start_server(self._begin, sock=listener, limit=LONGEST_HEAD)

    async def close(self) -> None:
        """Ends all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _begin(self, reader: StreamReader, writer: StreamWriter) -> None:
        if len(self._tasks) >= MOST_CONNECTIONS:
            writer.close()
            return
        task = asyncio.ensure_future(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: StreamReader, writer: StreamWriter) -> None:
        upstream: StreamWriter | None = None
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
            wanted = _read_head(head)
            if wanted is None:
                _answer(writer, "400 Bad Request", "This is no request that the sandbox's proxy understands.")
                return
            if not is_allowed(self._allowed, wanted.name, wanted.port):
                self._refuse(writer, f"{wanted.name}:{wanted.port}")
                return
            through = self._upstreams.for_host(wanted.name, wanted.port, tunnel=wanted.head is None)
            address = await self._checked_address(wanted, writer, is_known_elsewhere=through is not None)
            if address is None:
                return
            if through is None:
                upstream_reader, upstream = await _open(address, wanted.port, tls=False)
                first = wanted.head
            else:
                upstream_reader, upstream = await _open(through.host, through.port, tls=through.tls)
                first = None if wanted.head is None else _for_proxy(wanted, through)
                if first is None and not await _tunnel(wanted, through, upstream_reader, upstream, writer):
                    return
            if first is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream.write(first)
            await both_ways(reader, writer, upstream_reader, upstream)
        except (OSError, TimeoutError) as error:
            _answer(writer, "502 Bad Gateway", f"The host could not be reached: {error}")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            for each in (writer, upstream):
                if each is not None:
                    with suppress(OSError, asyncio.CancelledError):
                        await asyncio.wait_for(each.drain(), 1)
                    each.close()

    async def _checked_address(self, wanted: _Wanted, writer: StreamWriter, *, is_known_elsewhere: bool) -> str | None:
        """The address to connect to; None if it was refused, and answered. Empty if the name `is_known_elsewhere` alone."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(wanted.name, wanted.port, type=socket.SOCK_STREAM)
        except socket.gaierror:
            if is_known_elsewhere:
                return ""
            raise
        addresses = [str(each[4][0]) for each in found]
        for address in addresses:
            if may_connect(wanted.name, address):
                return address
        self._refuse(writer, f"{wanted.name}:{wanted.port} (it leads to {', '.join(addresses[:3])}, which has to be named itself)")
        return None

    def _refuse(self, writer: StreamWriter, what: str) -> None:
        if what not in self.refused and len(self.refused) < MOST_NOTED:
            self.refused.append(what)
        _answer(writer, "403 Forbidden", f"The sandbox blocked a connection to {what}.")


def _read_head(head: bytes) -> _Wanted | None:
    """Where a request goes, by its head; None if that cannot be told."""
    line, _, rest = head.partition(b"\r\n")
    parts = line.split(b" ")
    if len(parts) != 3 or not line.isascii() or not parts[2].startswith(b"HTTP/1."):
        return None
    method, target = parts[0], parts[1].decode("ascii")
    try:
        split = urlsplit(f"//{target}" if method == b"CONNECT" else target)
        name, port = normal_name(split.hostname or ""), split.port
    except ValueError:
        return None
    if name is None:
        return None
    if method == b"CONNECT":
        return None if port is None else _Wanted(name, port, None)
    if split.scheme.lower() != "http":
        return None
    path = (split.path or "/") + (f"?{split.query}" if split.query else "")
    shown = f"[{name}]" if ":" in name else name
    host = shown if port in (None, 80) else f"{shown}:{port}"
    same = b" HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n" + _DROPPED.sub(b"", rest)
    first, whole = method + b" " + path.encode(), method + b" http://" + host.encode() + path.encode()
    return _Wanted(name, port or 80, first + same, whole + same)


async def _open(host: str, port: int, *, tls: bool) -> tuple[StreamReader, StreamWriter]:
    context = ssl.create_default_context() if tls else None
    return await asyncio.wait_for(asyncio.open_connection(host, port, limit=PIECE, ssl=context), CONNECT_SECONDS)


def _for_proxy(wanted: _Wanted, through: Upstream) -> bytes:
    line, end, rest = wanted.to_proxy.partition(b"\r\n")
    return line + end + through.header + rest


async def _tunnel(wanted: _Wanted, through: Upstream, reader: StreamReader, upstream: StreamWriter, writer: StreamWriter) -> bool:
    """Asks the other proxy for a tunnel; gives whether it made one. If it did not, the client is told."""
    upstream.write(f"CONNECT {wanted.place} HTTP/1.1\r\nHost: {wanted.place}\r\n".encode() + through.header + b"\r\n")
    said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
    status = said.partition(b"\r\n")[0].decode("latin-1")
    if _MADE.match(status):
        return True
    _answer(writer, "502 Bad Gateway", f"The proxy of this machine did not connect to {wanted.place}: {status[:200]}")
    return False


async def both_ways(reader: StreamReader, writer: StreamWriter, upstream_reader: StreamReader, upstream: StreamWriter) -> None:
    """Passes on what comes from either side, until nothing comes back any more."""
    sending = asyncio.ensure_future(_pump(reader, upstream))
    try:
        await _pump(upstream_reader, writer)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _pump(reader: StreamReader, writer: StreamWriter) -> None:
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()


def _answer(writer: StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    with suppress(OSError):
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
        )

"""The sandbox's proxy behind another one, which the user's environment names: a real one, on this machine."""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest

from tests.patience import PATIENCE
from ullage.tools.process import sandbox_environment, tool_environment
from ullage.tools.sandbox.network.hosts import parse_host
from ullage.tools.sandbox.network.proxy import Proxy, Upstream, Upstreams, upstreams_of

BASIC = "Basic bWU6cCU="


@dataclass
class OtherProxy:
    """Takes every name for the web server of this test; wants a password."""

    port: int = 0
    heads: list[str] = field(default_factory=list[str])

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        if f"Proxy-Authorization: {BASIC}\r\n" not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif head.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n")
            writer.write(b"tunnelled: " + await reader.readline())
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nplain")
        await writer.drain()
        writer.close()


@pytest.fixture
async def other() -> AsyncGenerator[OtherProxy]:
    proxy = OtherProxy()
    serving = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = serving.sockets[0].getsockname()[1]
    yield proxy
    serving.close()


async def ask(request: str, environment: dict[str, str], *hosts: str) -> tuple[str, Proxy]:
    proxy = Proxy([parse_host(host) for host in hosts], upstreams_of(environment))
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    await proxy.serve(listener)
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
    writer.write(request.encode())
    try:
        return (await asyncio.wait_for(reader.read(), PATIENCE)).decode(), proxy
    finally:
        writer.close()
        await proxy.close()


def variables(other: OtherProxy, password: str = "me:p%25@") -> dict[str, str]:
    return {"HTTPS_PROXY": f"http://{password}127.0.0.1:{other.port}", "http_proxy": f"{password}127.0.0.1:{other.port}"}


async def test_a_tunnel_goes_through_it(other: OtherProxy) -> None:
    request = "CONNECT name.invalid:443 HTTP/1.1\r\nProxy-Authorization: Basic stolen\r\n\r\nhi\n"
    said, _ = await ask(request, variables(other), "name.invalid")
    assert said == "HTTP/1.1 200 Connection established\r\n\r\ntunnelled: hi\n"
    assert other.heads == [f"CONNECT name.invalid:443 HTTP/1.1\r\nHost: name.invalid:443\r\nProxy-Authorization: {BASIC}\r\n\r\n"]


async def test_a_plain_request_goes_through_it(other: OtherProxy) -> None:
    request = "GET http://name.invalid:8080/a?b HTTP/1.1\r\nHost: evil\r\nX: y\r\nProxy-Authorization: a\r\n\r\n"
    said, _ = await ask(request, variables(other), "name.invalid:8080")
    assert said.endswith("plain")
    (head,) = other.heads
    assert head.startswith(f"GET http://name.invalid:8080/a?b HTTP/1.1\r\nProxy-Authorization: {BASIC}\r\nHost: name.invalid:8080\r\n")
    assert head.endswith("\r\nConnection: close\r\nX: y\r\n\r\n")


async def test_what_it_refuses_is_told(other: OtherProxy) -> None:
    said, _ = await ask("CONNECT name.invalid:443 HTTP/1.1\r\n\r\n", variables(other, ""), "name.invalid")
    assert said.startswith("HTTP/1.1 502")
    assert "The proxy of this machine did not connect to name.invalid:443: HTTP/1.1 407" in said


async def test_it_is_asked_for_no_host_that_was_not_allowed(other: OtherProxy) -> None:
    said, proxy = await ask("CONNECT other.invalid:443 HTTP/1.1\r\n\r\n", variables(other), "name.invalid")
    assert said.startswith("HTTP/1.1 403")
    assert proxy.refused == ["other.invalid:443"]
    assert other.heads == []


async def test_a_name_that_leads_to_this_machine_is_refused_before_it(other: OtherProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(*arguments: object, **more: object) -> list[object]:
        return [(2, 1, 6, "", ("10.0.0.7", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
    proxy = Proxy([parse_host("public.example")], upstreams_of(variables(other)))
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    await proxy.serve(listener)
    raw = socket.create_connection(listener.getsockname())
    raw.sendall(b"CONNECT public.example:443 HTTP/1.1\r\n\r\n")
    said = await asyncio.to_thread(raw.recv, 4096)
    raw.close()
    await proxy.close()
    assert b"403 Forbidden" in said
    assert b"10.0.0.7" in said
    assert other.heads == []


@pytest.mark.parametrize(
    ("name", "port", "environment", "host"),
    [
        ("a.example", 443, {"HTTPS_PROXY": "http://p:1"}, "p"),
        ("a.example", 443, {"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "low"),
        ("a.example", 443, {"ALL_PROXY": "http://p"}, "p"),
        ("a.example", 443, {"ALL_PROXY": "socks5://p:1"}, None),
        ("a.example", 443, {"HTTPS_PROXY": "http://p:notaport"}, None),
        ("a.example", 443, {}, None),
        ("localhost", 443, {"HTTPS_PROXY": "http://p"}, None),
        ("127.0.0.1", 443, {"HTTPS_PROXY": "http://p"}, None),
        ("a.example", 443, {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, None),
        ("a.example", 443, {"HTTPS_PROXY": "http://p", "NO_PROXY": "b.example, .example"}, None),
        ("a.example", 443, {"HTTPS_PROXY": "http://p", "NO_PROXY": "a.example:80"}, "p"),
        ("aexample", 443, {"HTTPS_PROXY": "http://p", "NO_PROXY": "example"}, "p"),
        ("10.1.2.3", 443, {"HTTPS_PROXY": "http://p", "no_proxy": "10.0.0.0/8"}, None),
    ],
)
def test_which_proxy_is_taken(name: str, port: int, environment: dict[str, str], host: str | None) -> None:
    found = upstreams_of(environment).for_host(name, port, tunnel=True)
    assert (None if found is None else found.host) == host


def test_a_command_does_not_see_its_password() -> None:
    inherited = {"HTTPS_PROXY": "http://me:secret@proxy:1", "PATH": "/bin"}
    assert "secret" not in str(sandbox_environment(tool_environment(inherited)))
    assert "c2Vj" not in repr(Upstreams(Upstream("proxy", 1, authorization="Basic c2Vj")))

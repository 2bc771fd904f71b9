"""Pages that the agent asks for: which are fetched, what sites say to it, and how long ones are read on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address

import httpx2
import pytest

from tests.unit.workspace.test_web_page import PUBLIC, text, to
from tests.unit.workspace.test_web_page import Web as Sites
from ullage.workspace.web import Web
from ullage.workspace.web_address import Address, NotFetched, place_of, plain_url, refusal
from ullage.workspace.web_page import LeadsTo, Network, Page

HTML = "text/html; charset=utf-8"


def web_of(sites: Sites, proxy: str | None = None) -> Web:
    return Web(Network(sites.resolve, lambda _: proxy, httpx2.MockTransport(sites.answer)))


async def refused(sites: Sites, url: str, proxy: str | None = None) -> str:
    with pytest.raises(NotFetched) as why:
        await web_of(sites, proxy).fetch(url)
    return str(why.value)


def asked(sites: Sites) -> list[str]:
    return [request.url.path for request in sites.asked]


async def test_a_page_comes_as_markdown_after_the_site_was_asked_whether_it_may() -> None:
    sites = Sites({"https://a.org/x": text("<title>T</title><p>a <a href=/y>link</a></p>", HTML)})
    assert await web_of(sites).fetch("https://a.org/x") == Page("https://a.org/x", "T", "a [link](https://a.org/y)")
    assert asked(sites) == ["/robots.txt", "/x"]
    assert all(request.url.host == PUBLIC for request in sites.asked)
    assert sites.asked[1].headers["user-agent"].startswith("Ullage/")
    assert not {"cookie", "authorization", "referer"} & set(sites.asked[1].headers)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ("User-agent: *\nDisallow: /private", True),
        ("User-agent: *\nDisallow: /docs", False),
        ("User-agent: *\nDisallow: /*.html$", False),
        ("User-agent: Ullage\nDisallow:\n\nUser-agent: *\nDisallow: /", True),
        ("User-agent: ullage\nDisallow: /", False),
        ("\0\ufffd<html>no rules</html>", True),
        ("User-agent: *\nDisallow: /" + "*a" * 5_000, True),
        ("", True),
    ],
)
async def test_what_a_site_says_to_programs_is_kept_to(rules: str, allowed: bool) -> None:
    page = "https://a.org/docs/a.html"
    sites = Sites({"https://a.org/robots.txt": text(rules), page: text("words")})
    if allowed:
        assert await web_of(sites).fetch(page) == Page(page, "", "words")
    else:
        assert f"@{page}" in await refused(sites, page)
        assert asked(sites) == ["/robots.txt"]


async def test_a_site_is_asked_once_an_hour_and_one_that_fails_is_not_taken_to_agree() -> None:
    sites = Sites({"https://a.org/robots.txt": text("User-agent: *\nDisallow: /b"), "https://a.org/a": text("a")})
    web = web_of(sites)
    await web.fetch("https://a.org/a")
    with pytest.raises(NotFetched, match="does not want"):
        await web.fetch("https://a.org/b")
    assert asked(sites) == ["/robots.txt", "/a"]
    failing = Sites({"https://a.org/robots.txt": httpx2.Response(503), "https://a.org/a": text("a")})
    web = web_of(failing)
    for _ in range(2):
        with pytest.raises(NotFetched, match="503"):
            await web.fetch("https://a.org/a")
    assert asked(failing) == ["/robots.txt", "/robots.txt"]


async def test_a_redirect_stays_on_the_host_that_the_user_was_asked_about() -> None:
    pages = {
        "http://a.org/": to("https://a.org/"),
        "https://a.org/": to("/x"),
        "https://a.org/x": text("there"),
        "https://a.org/on": to("https://b.org/y?z=1#part"),
        "https://a.org/port": to("https://a.org:8443/"),
        "https://a.org/round": to("/round"),
    }
    sites = Sites(pages)
    web = web_of(sites)
    assert await web.fetch("http://a.org/") == Page("https://a.org/x", "", "there")
    assert await web.fetch("https://a.org/on") == LeadsTo("https://b.org/y?z=1")
    assert await web.fetch("https://a.org/port") == LeadsTo("https://a.org:8443/")
    assert "leads on" in await refused(sites, "https://a.org/round")
    assert all(request.headers["host"] == "a.org" for request in sites.asked)


async def test_where_a_site_keeps_its_rules_on_another_host_that_host_is_not_asked() -> None:
    sites = Sites({"https://a.org/robots.txt": to("https://b.org/robots.txt"), "https://a.org/": text("words")})
    assert await web_of(sites).fetch("https://a.org/") == Page("https://a.org/", "", "words")
    assert all(request.headers["host"] == "a.org" for request in sites.asked)


PRIVATE = {
    "loopback.example": "127.0.0.1",
    "private.example": "192.168.1.1",
    "carrier.example": "100.64.0.1",
    "unique-local.example": "fd12::1",
    "both.example": f"{PUBLIC} 10.0.0.1",
    "six.example": "::1",
    "mapped.example": "::ffff:10.0.0.1",
    "compatible.example": "::10.0.0.1",
    "translated.example": "::ffff:0:10.0.0.1",
    "nat64.example": "64:ff9b::10.0.0.1",
    "sixtofour.example": "2002:0a00:0001::",
    "teredo.example": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "site-local.example": "fec0::1",
    "unspecified.example": "::",
    "short.example": "127.0.0.1",
}


@pytest.mark.parametrize(
    "host", [*PRIVATE, "localhost", "127.0.0.1", "[::1]", "10.1.2.3", "[::ffff:127.0.0.1]", "[fd00::1]", "169.254.169.254"]
)
@pytest.mark.parametrize("proxy", [None, "http://proxy.example:3128"])
async def test_no_private_address_is_asked_however_it_is_written_and_whoever_leads_there(host: str, proxy: str | None) -> None:
    sites = Sites({f"http://{host}/": text("secret")}, {**PRIVATE, "localhost": "127.0.0.1"})
    why = await refused(sites, f"http://{host}/", proxy)
    assert "private network" in why or "never asked" in why
    assert sites.asked == []


async def test_a_name_that_is_another_one_by_the_time_it_is_connected_to_does_no_harm() -> None:
    """Each look-up is judged, and the connection is made to what was judged: nobody looks the name up again."""
    found = [PUBLIC, "127.0.0.1"]
    sites = Sites({"http://a.org/robots.txt": text(""), "http://a.org/": text("secret")})

    async def resolve(host: str, port: int) -> Sequence[Address]:
        return [ip_address(found.pop(0))]

    web = Web(Network(resolve, lambda _: None, httpx2.MockTransport(sites.answer)))
    with pytest.raises(NotFetched, match="private network"):
        await web.fetch("http://a.org/")
    assert [request.url.host for request in sites.asked] == [PUBLIC]


@pytest.mark.parametrize("port", [1, 22, 25, 993])
async def test_ports_of_other_services_are_not_asked(port: int) -> None:
    sites = Sites({})
    assert f"port {port}" in await refused(sites, f"http://a.org:{port}/")
    assert sites.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.org/",
        "file:///etc/passwd",
        "https://me:secret@a.org/",
        "https://a.org\\@b.org/",
        "https://",
        "https://[::",
        "https://a.org/\ud800",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(NotFetched) as why:
        plain_url(url)
    assert "secret" not in str(why.value)


@pytest.mark.parametrize(
    ("url", "plain", "place"),
    [
        ("HTTPS://A.org", "https://a.org/", "a.org"),
        ("https://a.org:443/x#part", "https://a.org:443/x", "a.org"),
        ("https://a.org:8443/ä?q=`b`", "https://a.org:8443/%C3%A4?q=%60b%60", "a.org:8443"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://аpple.com/", "https://xn--pple-43d.com/", "xn--pple-43d.com"),
        ("http://127。0。0。1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://[2606:2800::1]/a%20b", "http://[2606:2800::1]/a%20b", "[2606:2800::1]"),
    ],
)
def test_the_user_is_asked_about_what_is_connected_to(url: str, plain: str, place: str) -> None:
    assert (plain_url(url), place_of(plain_url(url))) == (plain, place)


@pytest.mark.parametrize("address", ["2606:2800::1", "93.184.216.34", "64:ff9b::93.184.216.34"])
def test_public_addresses_are_asked(address: str) -> None:
    assert refusal(ip_address(address), host="a.org", named="agent") is None


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "application/octet-stream", "video/mp4"])
async def test_what_is_no_text_is_said(kind: str) -> None:
    sites = Sites({"https://a.org/": text(b"%PDF-1.7", kind)})
    assert kind in await refused(sites, "https://a.org/")


async def test_a_page_is_read_on_as_it_was() -> None:
    sites = Sites({"https://a.org/": text("one")})
    web = web_of(sites)
    first = await web.fetch("https://a.org/")
    sites.pages = {"https://a.org/": text("two")}
    assert await web.read_on("https://a.org/") == first
    assert await web.fetch("https://a.org/") == Page("https://a.org/", "", "two")
    sites.pages = {"https://b.org/": text("new")}
    assert await web.read_on("https://b.org/") == Page("https://b.org/", "", "new")


class ToLoopback(httpx2.AsyncHTTPTransport):
    """Real connections, to this machine in the place of the address that was judged."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port
        self.wanted: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.wanted.append(request.url.host)
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        return await super().handle_async_request(request)


@asynccontextmanager
async def served(answers: dict[str, bytes]) -> AsyncGenerator[ToLoopback]:
    """A site on a real socket. What has no length goes on for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        answer = answers.get(path, b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        try:
            writer.write(answer)
            while b"content-length" not in answer:
                writer.write(b"x" * 100_000)
                await writer.drain()
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield ToLoopback(server.sockets[0].getsockname()[1])


async def test_over_real_sockets_a_page_comes_and_one_without_end_is_cut() -> None:
    answers = {
        "/a": b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 14\r\n\r\n<h1>hello</h1>",
        "/endless": b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n",
        "/huge": b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 50000000\r\n\r\n" + b"x" * 3_000_000,
    }
    async with served(answers) as transport:
        web = Web(Network(Sites({}).resolve, lambda _: None, transport))
        assert await web.fetch("http://a.org/a") == Page("http://a.org/a", "", "# hello")
        for path in ("endless", "huge"):
            page = await web.fetch(f"http://a.org/{path}")
            assert isinstance(page, Page)
            assert (len(page.text), page.is_cut) == (2_000_000, True)
    assert set(transport.wanted) == {PUBLIC}

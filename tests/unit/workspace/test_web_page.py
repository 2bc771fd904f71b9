"""Which pages are fetched, from where, and what comes of them."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from ipaddress import ip_address

import httpx2
import pytest

from ullage.workspace.web_address import Address, NotFetched, refusal
from ullage.workspace.web_page import MOST_BYTES, MOST_REDIRECTS, Network, Page, fetch_page
from ullage.workspace.web_text import decoded

PUBLIC = "93.184.216.34"
HTML = {"content-type": "text/html; charset=utf-8"}


class Web:
    """Answers by URL as it is seen by the host, and notes where it was connected to."""

    def __init__(self, pages: Mapping[str, httpx2.Response], names: Mapping[str, str] | None = None) -> None:
        self.pages = pages
        self.names = names or {}
        self.asked: list[httpx2.Request] = []

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        if host in self.names and not self.names[host]:
            raise OSError("no such host")
        return [ip_address(each) for each in self.names.get(host, PUBLIC).split()]

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        seen = f"{request.url.scheme}://{request.headers['host']}{request.url.raw_path.decode()}"
        return self.pages.get(seen, httpx2.Response(404))

    async def fetch(self, url: str, proxy: str | None = None) -> Page:
        transport = httpx2.MockTransport(self.answer)
        return await fetch_page(url, Network(self.resolve, lambda _: proxy, transport))

    async def refused(self, url: str) -> str:
        with pytest.raises(NotFetched) as refused:
            await self.fetch(url)
        return str(refused.value)


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


def to(where: str, status: int = 302) -> httpx2.Response:
    return httpx2.Response(status, headers={"location": where})


def text(words: str | bytes, kind: str = "text/plain", **headers: str) -> httpx2.Response:
    body = words.encode() if isinstance(words, str) else words
    return httpx2.Response(200, headers={"content-type": kind, **headers}, stream=Pieces(body))


async def test_a_page_comes_as_text_from_the_address_that_was_judged() -> None:
    web = Web({"https://example.com/a?b=1": text("<title>T</title><p>words</p>", "text/html")})
    assert await web.fetch("https://example.com/a?b=1#part") == Page("https://example.com/a?b=1#part", "T", "words")
    request = web.asked[0]
    assert request.url.host == PUBLIC
    assert request.headers["host"] == "example.com"
    assert request.extensions["sni_hostname"] == "example.com"
    assert "cookie" not in request.headers


async def test_json_and_plain_text_come_as_they_are() -> None:
    web = Web({"https://a.org/x": text('{"a": 1}', "application/problem+json"), "https://a.org/y": text("<b>plain</b>")})
    assert (await web.fetch("https://a.org/x")).text == '{"a": 1}'
    assert (await web.fetch("https://a.org/y")).text == "<b>plain</b>"


async def test_redirects_are_followed_a_few_times() -> None:
    web = Web({"https://a.org/": to("/next"), "https://a.org/next": to("https://b.org/"), "https://b.org/": text("there")})
    page = await web.fetch("https://a.org/")
    assert (page.url, page.text) == ("https://b.org/", "there")
    endless = Web({"https://a.org/": to("/")})
    assert "leads on" in await endless.refused("https://a.org/")
    assert len(endless.asked) == MOST_REDIRECTS + 1


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://100.100.100.200/",
        "http://0.0.0.0/",
        "http://metadata.google.internal/",
        "http://link-local.example/",
        "http://both.example/",
    ],
)
async def test_addresses_of_the_machine_s_own_cloud_are_never_asked(url: str) -> None:
    web = Web({}, {"link-local.example": "169.254.169.254", "both.example": f"{PUBLIC} 169.254.169.254"})
    assert "never asked" in await web.refused(url)
    leading = Web({"https://a.org/": to(url)}, web.names)
    assert "never asked" in await leading.refused("https://a.org/")
    assert (len(web.asked), len(leading.asked)) == (0, 1)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "10.1.2.3", "intranet.example"])
async def test_the_user_s_own_network_is_asked_if_the_user_names_it_and_not_because_a_page_leads_there(host: str) -> None:
    names = {"localhost": "127.0.0.1", "intranet.example": "10.1.2.3"}
    named = Web({f"http://{host}/": text("mine"), f"http://{host}/on": to("/")}, names)
    assert (await named.fetch(f"http://{host}/on")).text == "mine"
    led = Web({"https://a.org/": to(f"http://{host}/"), f"http://{host}/": text("mine")}, names)
    assert "private network" in await led.refused("https://a.org/")
    assert len(led.asked) == 1


def test_a_name_of_the_web_that_leads_to_this_machine_is_not_asked() -> None:
    loopback = ip_address("127.0.0.1")
    assert "this machine" in (refusal(loopback, host="evil.example", named="user") or "")
    assert refusal(loopback, host="app.localhost", named="user") is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.org/",
        "file:///etc/passwd",
        "https://",
        "https://a.org/ b",
        "https://a.org:x/",
        "https://me:secret@a.org/",
        "https://[::",
        "",
    ],
)
async def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    web = Web({})
    assert "secret" not in await web.refused(url)
    assert web.asked == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (httpx2.Response(404), "404"),
        (text(b"\x89PNG", "image/png"), "image/png"),
        (text("x", "text/html", **{"content-encoding": "br"}), "packed"),
        (text("no gzip at all", "text/html", **{"content-encoding": "gzip"}), "damaged"),
        (text(b"GIF89a\0\0", "text/html"), "no text"),
        (text("<script>all()</script>", "text/html"), "no text"),
    ],
)
async def test_what_cannot_be_read_is_said(answer: httpx2.Response, why: str) -> None:
    assert why in await Web({"https://a.org/": answer}).refused("https://a.org/")


async def test_a_host_that_is_not_found_and_one_that_does_not_answer() -> None:
    assert "not found" in await Web({}, {"gone.example": ""}).refused("https://gone.example/")

    def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    transport = httpx2.MockTransport(broken)
    with pytest.raises(NotFetched, match="could not be reached"):
        await fetch_page("https://a.org/", Network(Web({}).resolve, lambda _: None, transport))


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        if len(asked) == 1:
            raise httpx2.ConnectError("no route")
        return text("there")

    names = Web({}, {"a.org": f"2606:2800::1 {PUBLIC}"})
    page = await fetch_page("https://a.org/", Network(names.resolve, lambda _: None, httpx2.MockTransport(answer)))
    assert (page.text, asked) == ("there", ["2606:2800::1", PUBLIC])


async def test_through_a_proxy_the_name_is_asked_for_and_still_judged() -> None:
    web = Web({"https://a.org/": text("there")}, {"a.org": "", "bad.example": "169.254.169.254"})
    assert (await web.fetch("https://a.org/", "http://proxy.example:3128")).text == "there"
    assert web.asked[0].url.host == "a.org"
    with pytest.raises(NotFetched, match="never asked"):
        await web.fetch("https://bad.example/", "http://proxy.example:3128")


async def test_a_long_page_is_cut_and_not_read_to_its_end() -> None:
    given = 0

    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal given
            while True:
                given += 1
                yield b"x" * 100_000

    answer = httpx2.Response(200, headers={"content-type": "text/plain"}, stream=Endless())
    page = await Web({"https://a.org/": answer}).fetch("https://a.org/")
    assert (len(page.text), page.is_cut) == (MOST_BYTES, True)
    assert given <= MOST_BYTES // 100_000 + 1


async def test_what_does_not_come_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.workspace.web_page.SECONDS", 0.01)
    never = asyncio.Event()

    async def resolve(host: str, port: int) -> Sequence[Address]:
        await never.wait()
        return []

    with pytest.raises(NotFetched, match="did not come"):
        await fetch_page("https://a.org/", Network(resolve, lambda _: None))


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("é".encode("latin-1"), "text/plain; charset=iso-8859-1", "é"),
        ('<meta charset="gb2312">中'.encode("gb2312"), "text/html", '<meta charset="gb2312">中'),
        ("é".encode(), "text/plain; charset=no-such", "é"),
        ("héé".encode(), "text/plain; charset=iso-8859-1", "héé"),
        ("“é”".encode("cp1252"), "text/plain; charset=iso-8859-1", "“é”"),
        ('<meta charset="gb2312">中'.encode("gb2312"), "text/html; charset=utf-8", '<meta charset="gb2312">中'),
        ("é".encode("utf-16"), "text/plain", "é"),
        (b"a-b", "text/plain; charset=punycode", "a-b"),
        (b"\xff", "text/plain", "\ufffd"),
        (b"a", "text/plain; charset=base64", "a"),
        (b"\xef\xbb\xbfa\r\nb", "text/plain", "a\nb"),
    ],
)
def test_text_is_read_by_its_charset(body: bytes, content_type: str, expected: str) -> None:
    assert decoded(body, content_type) == expected


async def test_a_page_of_this_machine_over_a_real_socket() -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 12\r\n\r\n<p>hello</p>")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        page = await fetch_page(f"http://localhost:{port}/a", Network(proxy_for=lambda _: None))
    assert page.text == "hello"
    assert f"host: localhost:{port}".encode() in seen[0].lower()


def test_a_half_character_at_the_end_of_what_was_cut_changes_no_charset() -> None:
    body = "é".encode()[:1]
    assert decoded(b"abc " + body, "text/plain; charset=latin-1", is_cut=True) == "abc \ufffd"
    assert decoded(b"abc " + body, "text/plain; charset=latin-1") == "abc Ã"


async def test_what_is_packed_is_unpacked_up_to_the_limit() -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    web = Web({"https://a.org/": text(bomb, "text/plain", **{"content-encoding": "gzip"})})
    page = await web.fetch("https://a.org/")
    assert (len(page.text), page.is_cut) == (MOST_BYTES, True)
    packed = text(zlib.compress(b"words"), "text/plain", **{"content-encoding": "deflate"})
    assert (await Web({"https://a.org/": packed}).fetch("https://a.org/")).text == "words"

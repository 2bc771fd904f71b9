"""What is taken for a message, and that nothing leaves a server alive and deaf."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from ullage.lsp.bodies import parse_body
from ullage.lsp.framing import ENDLESS, Framing, NotTheProtocol, TooLong


async def read(data: bytes, *, at_once: int | None = None) -> list[bytes | str]:
    """The bodies that come, and how it ended: `end`, or `broken`."""
    reader = asyncio.StreamReader()
    frames = Framing(reader)
    step = at_once or max(1, len(data))
    feeding = asyncio.create_task(_feed(reader, [data[start : start + step] for start in range(0, len(data), step)]))
    found: list[bytes | str] = []
    try:
        while (body := await frames.next()) is not None:
            found.append("too long" if isinstance(body, TooLong) else bytes(body))
        found.append("end")
    except NotTheProtocol:
        found.append("broken")
    await feeding
    return found


async def _feed(reader: asyncio.StreamReader, chunks: list[bytes]) -> None:
    for chunk in chunks:
        reader.feed_data(chunk)
        await asyncio.sleep(0)
    reader.feed_eof()


@pytest.mark.parametrize("at_once", [None, 1, 7])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Content-Length: 2\r\n\r\n{}", [b"{}", "end"]),
        (b"content-length: 2\r\n\r\n{}CONTENT-LENGTH:2\r\n\r\n[]", [b"{}", b"[]", "end"]),
        (b"Content-Length: 2\n\n{}", [b"{}", "end"]),
        (b"Content-Length:   2  \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}", [b"{}", "end"]),
        (b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n{}", [b"{}", "end"]),
        (b"Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", [b"", b"{}", "end"]),
        (b"", ["end"]),
        (b"Content-Length: 2", ["end"]),
        (b"Content-Length: 2\r\n\r\n{", ["end"]),
        (b"\r\n", ["broken"]),
        (b"Content-Length: 2\r\n\r\n{}\r\n", [b"{}", "broken"]),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ["broken"]),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", ["broken"]),
        (b"Host: localhost\r\nContent-Length: 2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2\r\nOrigin: https://example.org\r\n\r\n{}", ["broken"]),
        (b"X-Anything: 1\r\n", ["broken"]),
        (b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}", ["broken"]),
        (b"Content-Length: -2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: +2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2.0\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 0x2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: two\r\n\r\n{}", ["broken"]),
        (b"Content-Length: \xd9\xa2\r\n\r\n{}", ["broken"]),  # an Arabic 2, which `int` takes
        (b"Content-Length:\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2 3\r\n\r\n{}", ["broken"]),
        (b"Content-Length : 2\r\n\r\n{}", ["broken"]),
        (b" Content-Length: 2\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2\r\n folded\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2\r\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 99999999999999999999\r\n\r\n{}", ["broken"]),
        (b"Content-Length: %d\r\n\r\n{}" % (ENDLESS + 1), ["broken"]),
        (b"Content-Length: " + b"0" * 2_000 + b"2\r\n\r\n{}", ["broken"]),
        (b"Content-Type: application/json\r\n\r\n{}", ["broken"]),
        (b"Content-Length: 2\r\nContent-Type: text/plain; charset=utf-16\r\n\r\n{}", ["broken"]),
        (b"x" * 200_000, ["broken"]),
        (b"\0" * 10 + b"\n", ["broken"]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", ["broken"]),  # TLS
    ],
)
async def test_what_comes_is_a_message_or_an_end(data: bytes, expected: list[bytes | str], at_once: int | None) -> None:
    if at_once is not None and len(data) > 5_000:
        at_once *= 10_000
    assert await read(data, at_once=at_once) == expected


async def test_a_line_without_an_end_is_not_waited_for() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"GET / " * 50_000)
    with pytest.raises(NotTheProtocol):
        await Framing(reader).next()


async def test_the_first_foreign_line_is_enough() -> None:
    """Whoever sends one waits for an answer, and sends no more."""
    reader = asyncio.StreamReader()
    reader.feed_data(b"GET / HTTP/1.1\r\n")
    with pytest.raises(NotTheProtocol):
        await Framing(reader).next()


PIECES = st.sampled_from(
    [
        *(
            b"Content-Length: 2\r\n",
            b"content-length:2\n",
            b"Content-Length: 2",
            b"\r\n",
            b"\n",
            b"\r",
            b"{}",
            b"[]",
            b"{",
            b":",
            b" ",
            b"\0",
        ),
        *(b"Content-Length: 1\r\n\r\n", b"Content-Length: 2\r\n\r\n{}", b"Content-Type: a\r\n", b"Content-Type: a; charset=utf-8\r\n"),
        *(b"Content-Length: -1\r\n", b"Content-Length: 99999\r\n\r\n", b"Content-Length: 1e3\r\n", b"Host: a\r\n", b"Origin: null\r\n"),
        *(
            b"GET / HTTP/1.1\r\n",
            b"POST /x HTTP/1.1\r\n",
            b"x" * 70_000,
            b"charset=latin-1\r\n",
            b"\xff\xfe",
            "Content-Length: ２\r\n".encode(),
        ),
    ]
)
STREAMS = st.lists(st.one_of(PIECES, st.binary(max_size=30)), max_size=12).map(b"".join)


@pytest.mark.deep
@settings(max_examples=many(300, deep=20_000), deadline=None)
@given(STREAMS, st.integers(1, 100))
def test_no_stream_leaves_a_server_alive_and_deaf(stream: bytes, at_once: int) -> None:
    """Each stream ends, or breaks, or waits for exactly as many bytes as a header has announced; then the next message is heard."""

    async def run() -> None:
        pieces = at_once if len(stream) < 1_000 else 10_000
        found = await read(stream, at_once=pieces)
        assert found[-1] in ("end", "broken")
        assert await read(stream) == found  # however it is cut
        if found[-1] == "end":
            missing = _missing(stream, [each for each in found if isinstance(each, bytes)])
            if missing is not None:
                message = b'Content-Length: 12\r\n\r\n{"id": "me"}'
                assert (await read(stream + b"." * missing + message))[-2:] == [b'{"id": "me"}', "end"]

    asyncio.run(run())


def _missing(stream: bytes, bodies: list[bytes]) -> int | None:
    """How many bytes of a body are still to come; None where the stream ends within a header."""
    rest = stream
    for body in bodies:
        head = min(place for place in (rest.find(b"\n\n") + 2, rest.find(b"\n\r\n") + 3) if place > 2)
        rest = rest[head + len(body) :]
    if not rest:
        return 0
    places = [place for place in (rest.find(b"\n\n") + 2, rest.find(b"\n\r\n") + 3) if place > 2]
    if not places:
        return None
    length = next(int(line.split(b":")[1]) for line in rest[: min(places)].splitlines() if line.lower().startswith(b"content-length"))
    return length - len(rest[min(places) :])


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{,}", b"\xff\xfe", b"NaN", b'{"a": Infinity}', b"[" * 100_000, b"1" * 10_000, b"{}x", b"\xed\xa0\x80"]
)
def test_what_is_no_json_is_told_as_such(body: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parse_body(body)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_comes_as_it_was(value: object) -> None:
    assert parse_body(json.dumps(value).encode()) == value
    assert parse_body(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (rb'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
        (rb'{"a": "x\ud83dy"}', {"a": "x\ufffdy"}),
        (rb'{"a": "\ude00\ud83d"}', {"a": "\ufffd\ufffd"}),
        (rb'{"a\ud83d": ["\ude00 \ud83d\ude00"]}', {"a\ufffd": ["\ufffd \U0001f600"]}),
        (rb'{"a": "\\ud83d"}', {"a": "\\ud83d"}),
    ],
)
def test_half_a_character_is_replaced_by_one_of_the_same_length(body: bytes, expected: object) -> None:
    assert parse_body(body) == expected

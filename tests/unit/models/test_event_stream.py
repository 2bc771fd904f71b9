"""Streams of events: one meaning, however they are cut and written; and no piece of one keeps more than its bound."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.models import event_stream
from ullage.models.errors import Nonsense
from ullage.models.event_stream import PING, events


async def pieces_of(pieces: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield piece


async def read(*pieces: bytes) -> list[Any]:
    return [event async for event in events(pieces_of(pieces))]


async def outcome(*pieces: bytes) -> list[Any] | str:
    try:
        return await read(*pieces)
    except Nonsense as error:
        return str(error)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b'data: {"type": "a"}\n\n', [{"type": "a"}]),
        (b'\xef\xbb\xbfdata: {"type": "a"}\r\n\r\n', [{"type": "a"}]),
        (b'event: a\rdata: {"x": 1}\r\r', [{"x": 1, "type": "a"}]),
        (b'data: {\ndata: "type":\ndata:"a"}\n\n', [{"type": "a"}]),
        (b'event: error\ndata: {"type": "other"}\n\n', [{"type": "error"}]),
        (b"event: error\ndata: oops\n\n", [{"type": "error", "error": "oops"}]),
        (b": hello\n\nevent: ping\n\n", [PING, PING]),
        (b'data: [DONE]\n\ndata:\n\nid: 7\nretry: 3\n\ndata: 5\n\ndata: {"type": "a"}', [{"type": "[DONE]"}]),
        (b'data: {"type": "a", "x": NaN, "y": 1e999}\n\n', [{"type": "a", "x": "NaN", "y": "1e999"}]),
    ],
)
async def test_what_is_read(written: bytes, expected: list[Any]) -> None:
    assert await read(written) == expected


@given(st.data())
async def test_it_does_not_matter_how_a_stream_is_cut(data: st.DataObject) -> None:
    ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
    lines = data.draw(st.lists(st.sampled_from([b'data: {"type": "a"}', b": x", b"", b"event: b", 'data: {"ü": 1}'.encode()]), max_size=12))
    end = data.draw(ends)
    written = end.join([*lines, b"", b""])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=8)))
    pieces = [written[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    assert await outcome(*pieces) == await outcome(written.replace(end, b"\n"))


@pytest.mark.parametrize("written", [b"data: \xff\n\n", b"data: {oops\n\n", b"data: " + b"[" * 100_000 + b"\n\n"])
async def test_nonsense(written: bytes) -> None:
    with pytest.raises(Nonsense):
        await read(written)


async def test_no_line_event_or_stream_is_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "LARGEST_EVENT", 1_000)
    monkeypatch.setattr(event_stream, "MOST_LINES", 1_000)
    for piece in (b"x" * 100, b"data: x\n", b"\n" * 10):
        with pytest.raises(Nonsense):
            await read(*[piece] * 200)

"""Sizes and tokens of images."""

from __future__ import annotations

import base64
import struct

import pytest

from ullage.replay.readers import images

JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + bytes(12)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 400, 300), (400, 300)),
        (b"GIF89a" + struct.pack("<HH", 400, 300) + bytes(2), (400, 300)),
        (JPEG, (400, 300)),
        (b"RIFF....WEBPVP8 ...." + bytes(6) + struct.pack("<HH", 400, 300), (400, 300)),
        (b"RIFF....WEBPVP8L....\x2f" + struct.pack("<I", 399 | 299 << 14), (400, 300)),
        (b"RIFF....WEBPVP8X....\0\0\0\0" + (399).to_bytes(3, "little") + (299).to_bytes(3, "little"), (400, 300)),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 0, 300), None),
        (b"\x89PNG", None),
        (JPEG[:10], None),
        (b"\xff\xd8\xff\xe0\x00\x00", None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_sizes(raw: bytes, expected: tuple[int, int] | None):
    assert images.size_of(base64.b64encode(raw).decode()) == expected


@pytest.mark.parametrize("data", ["", "!!!", "Grüße", "a", "\ud800"])
def test_what_is_no_base64(data: str):
    assert images.placeholder(data, old_model=False) == "[image of unknown size]"


@pytest.mark.parametrize(
    ("width", "height", "old_model", "expected"),
    [(28, 28, False, 1), (29, 28, False, 2), (1_000, 1_000, False, 1_296), (8_000, 8_000, False, 4_784), (8_000, 8_000, True, 1_568)],
)
def test_tokens(width: int, height: int, old_model: bool, expected: int):
    assert images.tokens(width, height, old_model=old_model) == expected

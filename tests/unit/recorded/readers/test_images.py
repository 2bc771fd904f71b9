"""Sizes and tokens of images."""

from __future__ import annotations

import base64
import struct

import pytest

from ullage.recorded.readers.entries import MediaInWords, shown_document, shown_image, size_of

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
    assert size_of(base64.b64encode(raw).decode()) == expected


@pytest.mark.parametrize("data", ["", "!!!", "Grüße", "a", "\ud800"])
def test_what_is_no_base64(data: str):
    assert shown_image(data, old_model=False) == MediaInWords("[image of unknown size]", 0)
    assert shown_document(data) == MediaInWords("[document]", 0)


@pytest.mark.parametrize(("old_model", "tokens"), [(False, 4_784), (True, 1_568)])
def test_an_image_is_named_with_what_it_takes(old_model: bool, tokens: int):
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 4_000, 4_000)
    shown = shown_image(base64.b64encode(png).decode(), old_model=old_model)
    assert shown == MediaInWords(f"[image, 4000 x 4000 pixels, {tokens} tokens]", tokens)


def test_a_document_is_named_with_what_its_pages_take():
    pdf = b"%PDF-1.7\n<< /Type /Pages /Count 3 >>\n<< /Type /Page >>"
    assert shown_document(base64.b64encode(pdf).decode()) == MediaInWords("[document, 3 pages, about 6900 tokens]", 6_900)

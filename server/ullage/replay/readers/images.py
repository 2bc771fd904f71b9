"""Images and documents in a transcript: how large they are, how many tokens they take, and the words that stand for them."""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass

from ullage.context.counting.media import LIMITS, LIMITS_BEFORE, image_tokens, pdf_pages, pdf_tokens

NOTE = "Images are counted by their size, not by the words in their place"
"""For the user, where a transcript has images."""

_HEAD_CHARACTERS = 400_000
"""Base64 characters that are decoded to find the size: a JPEG may have its colour profile and a preview before it."""

_START_OF_FRAME = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands for an image or a document."""

    words: str
    tokens: int
    """What it takes itself, without the words; 0 where that cannot be told."""


def image(data: str, *, old_model: bool) -> Shown:
    """An image, given its base64 text."""
    size = size_of(data)
    if size is None:
        return Shown("[image of unknown size]", 0)
    width, height = size
    tokens = image_tokens(width, height, LIMITS_BEFORE if old_model else LIMITS)
    return Shown(f"[image, {width} x {height} pixels, {tokens} tokens]", tokens)


def document(data: str) -> Shown:
    """A PDF, given its base64 text."""
    try:
        pages = pdf_pages(base64.b64decode(data))
    except (binascii.Error, ValueError):
        pages = None
    if pages is None:
        return Shown("[document]", 0)
    tokens = pdf_tokens(pages)
    return Shown(f"[document, {pages} pages, about {tokens} tokens]", tokens)


def size_of(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, JPEG, GIF or WebP in base64; None where it cannot be told."""
    head = data[:_HEAD_CHARACTERS]
    try:
        raw = base64.b64decode(head[: len(head) // 4 * 4])
        size = _size(raw)
    except (binascii.Error, ValueError, struct.error, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _size(raw: bytes) -> tuple[int, int] | None:
    if raw.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", raw[16:24])
        return width, height
    if raw.startswith(b"GIF8"):
        width, height = struct.unpack("<HH", raw[6:10])
        return width, height
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_size(raw)
    if raw.startswith(b"RIFF") and raw[8:12] == b"WEBP":
        return _webp_size(raw)
    return None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    at = 2
    while raw[at] == 0xFF:
        marker = raw[at + 1]
        if marker in _START_OF_FRAME:
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += 2 + int(struct.unpack(">H", raw[at + 2 : at + 4])[0])
    return None


def _webp_size(raw: bytes) -> tuple[int, int] | None:
    kind = raw[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None

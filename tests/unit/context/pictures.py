"""Images and documents for tests, with their bytes: small, valid, and made here."""

from __future__ import annotations

import hashlib
import struct
import zlib

from ullage.context.blocks import Document, Image, Media


def png(width: int, height: int, grey: int = 128) -> bytes:
    """A PNG of one shade of grey."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([grey]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pdf(pages: int = 1, *, packed: bool = False) -> bytes:
    """A PDF of empty pages; `packed` has its page objects in an object stream."""
    objects = b"<</Type /Pages /Count %d>>" % pages + b"<</Type /Page>>" * pages
    body = b"1 0 obj" + objects + b"endobj"
    if packed:
        stream = zlib.compress(objects)
        body = b"1 0 obj<</Type /ObjStm /N 2 /Length %d>>stream\n" % len(stream) + stream + b"\nendstream endobj"
    return b"%PDF-1.5\n" + body + b"\ntrailer<<>>\nstartxref\n0\n%%EOF\n"


def image_of(data: bytes, width: int, height: int) -> Image:
    """What names it."""
    return Image(hashlib.sha256(data).hexdigest(), "image/png", width, height, len(data))


def document_of(data: bytes, pages: int) -> Document:
    """What names it."""
    return Document(hashlib.sha256(data).hexdigest(), pages, len(data))


PNG = png(80, 60)
IMAGE = image_of(PNG, 80, 60)
PDF = pdf(2)
DOCUMENT = document_of(PDF, 2)
WIDE_PNG = png(300, 2)
WIDE = image_of(WIDE_PNG, 300, 2)

_KEPT = {IMAGE: PNG, DOCUMENT: PDF, WIDE: WIDE_PNG}
MEDIA: tuple[Media, ...] = tuple(_KEPT)


def kept(media: Media) -> bytes | None:
    """The bytes of these, as the store gives them."""
    return _KEPT.get(media)

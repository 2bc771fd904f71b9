"""How many tokens images and documents take, by what Anthropic publishes; no tokenizer and no ratio has a part in it.

An image is scaled down to what the model takes and then costs a token for each 28 by 28 pixels (anthropic-api.md 2.7). A page of a PDF
is shown to the model as an image and as text: 1,500 to 3,000 tokens by the documentation.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from ullage.context.blocks import Block, Document, Image, Media, ToolResult

PIXELS_PER_TOKEN_EDGE = 28


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What a model takes of an image: it is scaled down to `edge` pixels on its longer side, and costs `tokens` at most."""

    edge: int
    tokens: int


LIMITS = ImageLimits(2_576, 4_784)
"""Of models from Opus 4.7 on."""
LIMITS_BEFORE = ImageLimits(1_568, 1_568)
"""Of models up to 4.6."""

PDF_PAGE_TOKENS = 2_300
"""A page of prose: others measured 2,347 on Opus and Sonnet 5.5 and 2,115 on Haiku 4.5, where the image alone takes 1,600."""


def image_tokens(width: int, height: int, limits: ImageLimits) -> int:
    """Tokens of an image of that many pixels; at least 1."""
    scale = min(1.0, limits.edge / max(width, height, 1))
    across, down = (max(1, ceil(round(pixels * scale) / PIXELS_PER_TOKEN_EDGE)) for pixels in (width, height))
    return min(across * down, limits.tokens)


def pdf_tokens(pages: int) -> int:
    """Tokens of a PDF with that many pages."""
    return pages * PDF_PAGE_TOKENS


def media_tokens(media: Media, limits: ImageLimits = LIMITS) -> int:
    """Tokens of an image or a document."""
    if isinstance(media, Image):
        return image_tokens(media.width, media.height, limits)
    return pdf_tokens(media.pages)


def media_of(block: Block) -> tuple[Media, ...]:
    """The images and documents that a block shows."""
    match block:
        case Image() | Document():
            return (block,)
        case ToolResult():
            return block.media
        case _:
            return ()


def shown_tokens(block: Block, limits: ImageLimits = LIMITS) -> int:
    """Tokens of the images and documents that a block shows."""
    return sum([media_tokens(media, limits) for media in media_of(block)])


def in_words(media: Media) -> str:
    """What it is, for people and models: `image, 800 × 600`."""
    if isinstance(media, Image):
        return f"image, {media.width:,} × {media.height:,}"
    return f"PDF, {media.pages:,} {'page' if media.pages == 1 else 'pages'}"


_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES = re.compile(rb"/Count\s+(\d{1,6})\b")
_LINEARISED = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+(\d{1,6})\b", re.DOTALL)
_PACKED = re.compile(rb"/ObjStm\b[^>]{0,400}>>\s*stream\r?\n")
_ENCRYPTED = re.compile(rb"/Encrypt\s+\d+\s+\d+\s+R|/Encrypt\s*<<")

UNPACKED_BYTES = 50_000_000
"""No more of the packed objects of one PDF is looked at: the objects of some 100,000 pages."""


def pdf_pages(raw: bytes) -> int | None:
    """How many pages a PDF has; None where it says so neither plainly nor in packed objects, or is none."""
    if not raw.startswith(b"%PDF-"):
        return None
    linearised = _LINEARISED.search(raw, 0, 2_048)
    if linearised is not None:
        return int(linearised[1]) or None
    return _pages_in(raw) or _pages_in(b"".join(_unpacked(raw))) or None


def pdf_is_encrypted(raw: bytes) -> bool:
    """Whether a PDF is encrypted: the API takes none that is."""
    return _ENCRYPTED.search(raw) is not None


def _pages_in(objects: bytes) -> int:
    return max([int(count) for count in _PAGES.findall(objects)] or [0]) or len(_PAGE.findall(objects))


def _unpacked(raw: bytes) -> Iterator[bytes]:
    """The objects that are packed together, as most programs do since PDF 1.5; what is damaged is left out."""
    left = UNPACKED_BYTES
    for found in _PACKED.finditer(raw):
        try:
            objects = zlib.decompressobj().decompress(memoryview(raw)[found.end() :], left)
        except zlib.error:
            continue
        yield objects
        left -= len(objects)
        if left <= 0:
            return

"""How many tokens images and documents take, and which of them a request shows.

An image is scaled down to what the model takes and then costs a token for each 28 by 28 pixels (anthropic-api.md 2.7). A page of a PDF
is shown to the model as an image and as text: 1,500 to 3,000 tokens by the documentation. No tokenizer and no ratio has a part in it.

A request that the API refuses for its images would be refused again at every later call, since they stay where they are. So what it would
not take is not sent: the first ones that it takes together are shown, and what comes after them is told in words. Since the first ones
stay the first as the conversation grows, the prefix stays as it is. Whoever brings images in sees to it that this does not come about
(`tools/media.py`); it does after an undo, and where another model is chosen.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from ullage.context.blocks import Block, Document, Image, Media, Message, Text, ToolResult, base64_size

PIXELS_PER_TOKEN_EDGE = 28

PDF_PAGE_TOKENS = 2_300
"""Tokens of a page of prose: others measured 2,347 on Opus and Sonnet 5.5 and 2,115 on Haiku 4.5, where the image alone takes 1,600."""

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGES = re.compile(rb"/Count\s+(\d{1,6})\b")
_LINEARISED = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+(\d{1,6})\b", re.DOTALL)
_PACKED = re.compile(rb"/ObjStm\b[^>]{0,400}>>\s*stream\r?\n")
_ENCRYPTED = re.compile(rb"/Encrypt\s+\d+\s+\d+\s+R|/Encrypt\s*<<")

UNPACKED_BYTES = 50_000_000
"""Bytes of the packed objects of one PDF that are looked at: the objects of some 100,000 pages."""

MOST_BYTES = 20_000_000
"""Bytes of images and documents in a request, in base64. The API takes 32 MB in all; a million tokens of text is some 4 MB, a little more
as JSON."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """The limits of a model for an image: it is scaled down to `edge` pixels on its longer side, and costs at most `tokens`."""

    edge: int
    tokens: int


LIMITS = ImageLimits(2_576, 4_784)
"""The limits of models from Opus 4.7 on."""
LIMITS_BEFORE = ImageLimits(1_568, 1_568)
"""The limits of models up to 4.6."""


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


def _media_of(block: Block) -> tuple[Media, ...]:
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
    return sum([media_tokens(media, limits) for media in _media_of(block)])


def in_words(media: Media) -> str:
    """A description for people and models: `image, 800 × 600`."""
    if isinstance(media, Image):
        return f"image, {media.width:,} × {media.height:,}"
    return "PDF, 1 page" if media.pages == 1 else f"PDF, {media.pages:,} pages"


def pdf_pages(raw: bytes) -> int | None:
    """The number of pages of a PDF; None if it tells that neither plainly nor in packed objects, or if it is no PDF."""
    if not raw.startswith(b"%PDF-"):
        return None
    linearised = _LINEARISED.search(raw, 0, 2_048)
    if linearised is not None:
        return int(linearised[1]) or None
    return _pages_in(raw) or _pages_in(b"".join(_unpacked(raw))) or None


def pdf_is_encrypted(raw: bytes) -> bool:
    """Whether a PDF is encrypted: the API does not take one that is."""
    return _ENCRYPTED.search(raw) is not None


def _pages_in(objects: bytes) -> int:
    return max([int(count) for count in _PAGES.findall(objects)] or [0]) or len(_PAGE.findall(objects))


def _unpacked(raw: bytes) -> Iterator[bytes]:
    """The objects of a PDF that are packed together, as most programs do since PDF 1.5. Damaged ones are left out."""
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


@dataclass(frozen=True, slots=True)
class Weight:
    """The room that images and documents take in a request."""

    items: int = 0
    """The number of images, and of pages of documents."""
    size: int = 0
    """Bytes, in base64."""

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.items + other.items, self.size + other.size)


@dataclass(frozen=True, slots=True)
class Room:
    """The images and documents that a model takes in one request: how many `items`, how many bytes in base64, and whether any of each
    kind."""

    items: int
    size: int = MOST_BYTES
    images: bool = True
    documents: bool = True

    def holds(self, weight: Weight) -> bool:
        """Whether so much may be sent in one request."""
        return weight.items <= self.items and weight.size <= self.size

    def takes(self, media: Media) -> bool:
        """Whether the model can be shown images, or documents, at all."""
        return self.images if isinstance(media, Image) else self.documents


NO_ROOM = Room(0, images=False, documents=False)
"""The room of a model that is shown no images or documents."""


def weight_of(media: Media) -> Weight:
    """The weight of one image or document."""
    return Weight(media.pages if isinstance(media, Document) else 1, base64_size(media))


def shown_in(message: Message) -> tuple[Media, ...]:
    """All images and documents that a message shows, in order."""
    return tuple([media for block in message.blocks for media in _media_of(block)])


def within(message: Message, so_far: Weight, room: Room) -> tuple[Message, Weight]:
    """The message with those images and documents that there is room for after `so_far`, and the weight with them. If all fit, it is the
    same object."""
    shown: set[int] = set()
    everything = shown_in(message)
    for index, media in enumerate(everything):
        more = so_far + weight_of(media)
        if room.takes(media) and room.holds(more):
            shown.add(index)
            so_far = more
    if len(shown) == len(everything):
        return message, so_far
    return _with_only(message, shown), so_far


def _with_only(message: Message, shown: set[int]) -> Message:
    """The message with only the images and documents of these indices; words stand in the place of the others."""
    blocks: list[Block] = []
    index = 0
    for block in message.blocks:
        media = _media_of(block)
        kept = [each for place, each in enumerate(media, index) if place in shown]
        left_out = [_not_shown(each) for place, each in enumerate(media, index) if place not in shown]
        index += len(media)
        if not left_out:
            blocks.append(block)
        elif isinstance(block, ToolResult):
            blocks.append(replace(block, content="\n".join((block.content, *left_out)), media=tuple(kept)))
        else:
            blocks.append(Text(_not_shown(media[0])))
    return Message(message.role, tuple(blocks), message.sources)


def _not_shown(media: Media) -> str:
    """The words in the place of an image or document that is not sent."""
    return f"[{in_words(media)}: not shown, since the model cannot be shown any more of these at once, or none of this kind]"

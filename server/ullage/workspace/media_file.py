"""Images and PDFs on disk: told from text by their content, checked whole, and brought to what the Messages API takes.

An image that the API cannot decode would have every later request refused, since it stays in the conversation. So each is decoded first,
by Pillow, which is imported then (0.1 s) and not before: call this in another thread. A PDF is looked at as far as it can be without a
parser of its own.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from zlib import crc32

from ullage.context.blocks import Document, Image, ImageType, Media
from ullage.context.counting.media import pdf_is_encrypted, pdf_pages
from ullage.workspace.regular_files import open_regular
from ullage.workspace.text_file import FileTooLarge

if TYPE_CHECKING:
    from PIL import Image as Pillow

LARGEST_EDGE = 2_000
"""The most pixels of an image's longer side. Models look at no more than 2,576 there, and at a square image in no more tokens than this
gives. A request with more than 20 images may hold none that is larger (Anthropic's vision documentation)."""
LARGEST_IMAGE = 3_750_000
"""The most bytes of an image: 5 MB in base64, which every platform takes. Anthropic's own takes twice that."""
LARGEST_PDF = 14_000_000
"""The most bytes of a PDF: in base64 within what all images and documents of a request may take together."""
LARGEST_FILE = 50_000_000
"""The most bytes of an image file: a larger one is not read."""
MOST_PIXELS = 80_000_000
"""A larger image is not decoded: it would take 320 MB."""

TURNED = 0x0112
"""The EXIF tag that says how the camera was held."""

_PNG = b"\x89PNG\r\n\x1a\n"

Kind: TypeAlias = Literal["image", "PDF"]

_TYPES: dict[str, ImageType] = {"PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


class DamagedMedia(Exception):
    """An image or a PDF that cannot be shown. The message says why, without the path."""


@dataclass(frozen=True, slots=True)
class MediaFile:
    """An image or a PDF as it can be shown. `sha256` is of the file itself, `data` are the bytes that `media` names."""

    media: Media
    data: bytes
    sha256: str
    scaled_from: tuple[int, int] | None = None
    """Width and height of the file's own image in pixels, if it was larger; else None."""


def _kind_of(head: bytes) -> Kind | None:
    """The kind of a file by its first 12 bytes; None if it is neither an image nor a PDF."""
    if head.startswith((_PNG, b"\xff\xd8\xff", b"GIF87a", b"GIF89a")):
        return "image"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image"
    return "PDF" if head.startswith(b"%PDF-") else None


def read_media(path: Path) -> MediaFile | None:
    """An image or a PDF, whatever its name; None if it is neither, or no file at all.

    Raises `DamagedMedia` or `FileTooLarge`.
    """
    try:
        with open_regular(path) as file:
            kind = _kind_of(file.read(12))
            if kind is None:
                return None
            _check_size(kind, os.fstat(file.fileno()).st_size)
            file.seek(0)
            raw = file.read(LARGEST_FILE + 1)
    except OSError:
        return None
    return media_in(raw)


def media_in(raw: bytes) -> MediaFile | None:
    """The image or the PDF in these bytes; None if they are neither. Raises `DamagedMedia` or `FileTooLarge`."""
    kind = _kind_of(raw[:12])
    if kind is None:
        return None
    _check_size(kind, len(raw))
    sha256 = _sha256(raw)
    if kind == "PDF":
        return MediaFile(_document(raw, sha256), raw, sha256)
    return _image(raw, sha256)


def _check_size(kind: Kind, size: int) -> None:
    largest = LARGEST_FILE if kind == "image" else LARGEST_PDF
    if size > largest:
        raise FileTooLarge(f"{size:,} bytes; of such a file no more than {largest:,} can be shown")


def _document(raw: bytes, sha256: str) -> Document:
    if pdf_is_encrypted(raw):
        raise DamagedMedia("an encrypted PDF, which cannot be shown")
    if b"startxref" not in raw[-2_048:]:
        raise DamagedMedia("a damaged PDF: its end is missing")
    pages = pdf_pages(raw)
    if pages is None:
        raise DamagedMedia("a PDF whose pages cannot be counted")
    return Document(sha256, pages, len(raw))


def _image(raw: bytes, sha256: str) -> MediaFile:
    from PIL import Image as Pillow

    raw = _without_damaged_extras(raw)
    Pillow.MAX_IMAGE_PIXELS = None  # its own limit only warns; ours is looked at before anything is decoded
    try:
        with Pillow.open(BytesIO(raw), formats=("PNG", "JPEG", "GIF", "WEBP")) as opened:
            width, height = opened.size
            if width * height > MOST_PIXELS:
                raise FileTooLarge(f"{width:,} × {height:,} pixels")
            opened.load()
            made = _encoded(opened, raw)
    except FileTooLarge:
        raise
    except Exception as error:
        raise DamagedMedia(f"an image that cannot be decoded ({error})") from error
    data, image_type, size = made
    shrunk = max(size) < max(width, height)
    return MediaFile(Image(_sha256(data), image_type, *size, size=len(data)), data, sha256, (width, height) if shrunk else None)


def _without_damaged_extras(raw: bytes) -> bytes:
    """A PNG without those of its optional parts (a colour profile, a text) whose checksum is wrong; other files as they are. Browsers pass
    over them; Pillow refuses the whole image. The reference server of MCP sends such an image."""
    if not raw.startswith(_PNG):
        return raw
    kept, at = [_PNG], len(_PNG)
    while at + 12 <= len(raw):
        end = at + 12 + int.from_bytes(raw[at : at + 4], "big")
        is_optional = raw[at + 4] & 0x20
        if not is_optional or int.from_bytes(raw[end - 4 : end], "big") == crc32(raw[at + 4 : end - 4]):
            kept.append(raw[at:end])
        at = end
    kept.append(raw[at:])
    return b"".join(kept)


def _encoded(image: Pillow.Image, raw: bytes) -> tuple[bytes, ImageType, tuple[int, int]]:
    """The bytes, type and size (pixels) of an image for the API: the file as it is if the API takes it so; else the first of its pictures,
    upright and scaled down."""
    turned = image.getexif().get(TURNED, 1) != 1
    moves = getattr(image, "n_frames", 1) > 1 and image.format != "MPO"  # a camera's several pictures: everybody shows the first
    if not turned and not moves and max(image.size) <= LARGEST_EDGE and len(raw) <= LARGEST_IMAGE:
        return raw, _TYPES[image.format or "PNG"], image.size
    return _encoded_anew(image)


def _encoded_anew(image: Pillow.Image) -> tuple[bytes, ImageType, tuple[int, int]]:
    from PIL import ImageOps

    is_photo = image.format in ("JPEG", "MPO")
    upright = ImageOps.exif_transpose(image).convert("RGBA" if image.has_transparency_data else "RGB")
    upright.thumbnail((LARGEST_EDGE, LARGEST_EDGE))
    if not is_photo:
        data = _saved(upright, "PNG", optimize=True)
        if len(data) <= LARGEST_IMAGE:
            return data, "image/png", upright.size
    return _saved(_on_white(upright), "JPEG", quality=88), "image/jpeg", upright.size


def _on_white(image: Pillow.Image) -> Pillow.Image:
    from PIL import Image as Pillow

    if image.mode != "RGBA":
        return image
    white = Pillow.new("RGBA", image.size, "white")
    return Pillow.alpha_composite(white, image).convert("RGB")


def _saved(image: Pillow.Image, format: str, **options: object) -> bytes:
    made = BytesIO()
    image.save(made, format, **options)
    return made.getvalue()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

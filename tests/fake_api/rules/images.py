"""Images and documents: how many, how large, and that their bytes are what they are said to be (section 2.7, and the documentation of
images and PDFs)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import placed_blocks
from tests.fake_api.counting import pdf_pages, png_size
from tests.fake_api.json_values import JsonObject, objects
from tests.fake_api.refused import invalid

_MOST_BYTES = 10 * 1024 * 1024
_MOST_PIXELS = 8_000
_MANY_IMAGES = 20
_MOST_PIXELS_OF_MANY = 2_000
"""Where a request has more than `_MANY_IMAGES`."""
_HEADS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}


def check_images(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` for too many images, or one that is too large or broken. Only the pixels of PNG files are looked at."""
    images = list(_of_kind(body, "image"))
    if images and not model.takes_images:
        raise invalid(f"{images[0][0]}: image inputs are not supported for this model")
    if len(images) > model.images:
        raise invalid(f"messages: too many images: {len(images)} > {model.images} maximum")
    for path, image in images:
        source = image["source"]
        if source["type"] == "base64":
            _check_image(f"{path}.image.source.base64", str(source["data"]), str(source["media_type"]), many=len(images) > _MANY_IMAGES)
    _check_documents(body, model)


def _check_image(path: str, data: str, media_type: str, *, many: bool) -> None:
    if not data:
        raise invalid(f"{path}.data: image cannot be empty")
    if len(data) > _MOST_BYTES:
        raise invalid(f"{path}: image exceeds 10 MB maximum: {len(data)} bytes > {_MOST_BYTES} bytes")
    raw = _decoded(path, data)
    if not _HEADS[media_type].match(raw):
        raise invalid(f"{path}.data: Could not process image: it is no {media_type}")
    size = png_size(data)
    most = _MOST_PIXELS_OF_MANY if many else _MOST_PIXELS
    if size is not None and max(size) > most:
        of_many = " for many-image requests" if many else ""
        raise invalid(f"{path}.data: At least one of the image dimensions exceed max allowed size{of_many}: {most} pixels")


def _check_documents(body: JsonObject, model: ModelFacts) -> None:
    pages = 0
    if not model.takes_pdfs and any(_of_kind(body, "document")):
        raise invalid("document inputs are not supported for this model")
    for path, document in _of_kind(body, "document"):
        source = document["source"]
        if source["type"] != "base64":
            continue
        if source["media_type"] != "application/pdf":
            raise invalid(f"{path}.document.source.base64.media_type: Input should be 'application/pdf'")
        raw = _decoded(f"{path}.document.source.base64", str(source["data"]))
        found = pdf_pages(raw)
        if not raw.startswith(b"%PDF-") or b"startxref" not in raw or not found:
            raise invalid(f"{path}.document.source.base64: The PDF specified was not valid.")
        if b"/Encrypt" in raw:
            raise invalid(f"{path}.document.source.base64: The PDF specified is password protected.")
        pages += found
    if pages > model.images:
        raise invalid(f"messages: A maximum of {model.images} PDF pages may be provided.")


def _decoded(path: str, data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{path}: invalid base64 data") from None


def _of_kind(body: JsonObject, kind: str) -> Iterator[tuple[str, JsonObject]]:
    for placed in placed_blocks(body):
        if placed.block["type"] == kind:
            yield placed.path, placed.block
        for index, part in enumerate(objects(placed.block.get("content"))):
            if part["type"] == kind:
                yield f"{placed.path}.content.{index}", part

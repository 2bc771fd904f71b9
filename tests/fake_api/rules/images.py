"""Images: how many, how large (section 2.7)."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import placed_blocks
from tests.fake_api.counting import png_size
from tests.fake_api.json_values import JsonObject, objects
from tests.fake_api.refused import invalid

_MOST_BYTES = 10 * 1024 * 1024
_MOST_PIXELS = 8_000


def check_images(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` for too many images, or one that is too large. Only the pixels of PNG files are looked at."""
    images = list(_images(body))
    if len(images) > model.images:
        raise invalid(f"messages: too many images: {len(images)} > {model.images} maximum")
    for path, image in images:
        source = image["source"]
        if source["type"] != "base64":
            continue
        _check_data(f"{path}.image.source.base64", str(source["data"]))


def _check_data(path: str, data: str) -> None:
    if not data:
        raise invalid(f"{path}.data: image cannot be empty")
    if len(data) > _MOST_BYTES:
        raise invalid(f"{path}: image exceeds 10 MB maximum: {len(data)} bytes > {_MOST_BYTES} bytes")
    size = png_size(data)
    if size is not None and max(size) > _MOST_PIXELS:
        raise invalid(f"{path}.data: At least one of the image dimensions exceed max allowed size: {_MOST_PIXELS} pixels")


def _images(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for placed in placed_blocks(body):
        if placed.block["type"] == "image":
            yield placed.path, placed.block
        for index, part in enumerate(objects(placed.block.get("content"))):
            if part["type"] == "image":
                yield f"{placed.path}.content.{index}", part

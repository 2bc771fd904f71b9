"""Showing the model an image or a PDF of the workspace: whether that is possible, and what the text beside it says.

`workspace/media_file.py` knows how a file is read. Whoever makes the `MediaShelf` knows where its bytes go and what the model takes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ullage.context.blocks import Image, Media
from ullage.context.counting.media import ImageLimits, Room, Weight, in_words, media_tokens, weight_of
from ullage.workspace.media_file import MediaFile, media_in, read_media

LARGEST_SHARE = 0.25
"""The largest part of the model's window for one document: more would leave no room to work with it."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the model in use can still be shown. `window` is in tokens."""

    model: str
    """The model's name, as the user knows it."""
    room: Room
    in_view: Weight
    """The weight of what the model is shown already."""
    images: ImageLimits
    window: int


class MediaShelf(Protocol):
    """Keeps the bytes of images and documents that the model is shown, and says what it can still be shown."""

    def sight(self) -> Sight:
        """What the model can still be shown now."""
        ...

    def keep(self, data: bytes, media: Media) -> None:
        """Keeps the bytes of an image or a document; they are durable when it returns. Raises `StoreFailed`. For another thread."""
        ...


class NotShown(Exception):
    """The file is an image or a PDF, and the model cannot be shown it. `str()` says why, without the path, and what to do."""


@dataclass(frozen=True, slots=True)
class MediaForModel:
    """An image or a document for the model. `words` say what it is: `image, 800 × 600, 638 tokens`. `sha256` is of the file."""

    media: Media
    words: str
    sha256: str


async def show(path: Path, shelf: MediaShelf) -> MediaForModel | None:
    """Keeps an image or a PDF and gives it for the model; None if the file is neither.

    Raises `NotShown`, `DamagedMedia`, `FileTooLarge`, `StoreFailed` or an `OSError`.
    """
    file = await asyncio.to_thread(read_media, path)
    return None if file is None else await _put(file, shelf)


async def show_bytes(raw: bytes, shelf: MediaShelf) -> MediaForModel | None:
    """Keeps an image or a PDF that is in no file, as `show` does; None if the bytes are neither. Raises `NotShown`, `DamagedMedia`,
    `FileTooLarge` or `StoreFailed`."""
    file = await asyncio.to_thread(media_in, raw)
    return None if file is None else await _put(file, shelf)


async def _put(file: MediaFile, shelf: MediaShelf) -> MediaForModel:
    sight = shelf.sight()
    check(file.media, sight)
    await asyncio.to_thread(shelf.keep, file.data, file.media)
    return MediaForModel(file.media, _words(file, sight), file.sha256)


def check(media: Media, sight: Sight) -> None:
    """Raises `NotShown` if the model cannot be shown that image or document now."""
    is_image = isinstance(media, Image)
    kind = "images" if is_image else "PDFs"
    if not sight.room.takes(media):
        raise NotShown(f"{in_words(media)}: {sight.model} takes no {kind}. Use bash to find out about it.")
    tokens = media_tokens(media, sight.images)
    if tokens > LARGEST_SHARE * sight.window:
        raise NotShown(
            f"{in_words(media)}: about {tokens:,} tokens, more than a quarter of what fits into the context. "
            "Use bash to take out the pages or the text that you need."
        )
    weight = weight_of(media)
    if not sight.room.holds(weight):
        raise NotShown(f"{in_words(media)}: too large to be shown. Use bash to take out the pages or the text that you need.")
    if not sight.room.holds(sight.in_view + weight):
        raise NotShown(
            f"{in_words(media)}: it does not fit beside what you are shown already ({sight.in_view.items:,} images and pages, "
            f"{sight.in_view.size / 1e6:.1f} MB, of {sight.room.items:,} and {sight.room.size / 1e6:.0f} MB at once). "
            "Call `compact`, which takes old ones out of view, and read it then."
        )


def _words(file: MediaFile, sight: Sight) -> str:
    media, tokens = in_words(file.media), media_tokens(file.media, sight.images)
    if not isinstance(file.media, Image):
        return f"{media}, about {tokens:,} tokens"
    if file.scaled_from is None:
        return f"{media}, {tokens:,} tokens"
    width, height = file.scaled_from
    return f"{media} (scaled down from {width:,} × {height:,}), {tokens:,} tokens"

"""Images in other programs' sessions: kept as they are read, so that no base64 stays in memory, and put where their words stand.

A mark takes the place of an image before a reader sees it. It holds a number that nobody outside knew, so that no text of a session passes
for one. What cannot be decoded stays, and the reader has words for it.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from ullage.context.blocks import Image, Json, Media
from ullage.store.errors import StoreFailed
from ullage.workspace.media_file import DamagedMedia, media_in
from ullage.workspace.text_file import FileTooLarge

DEEPEST = 8
"""Levels of an object that are looked at: a result's parts lie four deep."""
LARGEST = 64 * 1024 * 1024
"""Most characters of base64 that are read for one image."""

_BESIDE = frozenset({"toolUseResult", "snapshot", "encrypted_content"})
"""Names of fields that repeat whole files and images beside a message, and are not read."""


@dataclass(frozen=True, slots=True)
class Read:
    """A text whose marks were taken out, and the images that they stood for."""

    text: str
    media: tuple[Media, ...]


class Pictures:
    """The images of one session. `keep` keeps the bytes; they are durable when it returns."""

    def __init__(self, keep: Callable[[bytes, Media], None]) -> None:
        self._keep = keep
        self._mark = secrets.token_hex(8)
        self._found: list[Media] = []
        self._stands = re.compile(rf"\[image {self._mark}:(\d{{1,9}})\]")

    def taken_out(self, value: Mapping[str, Json]) -> Mapping[str, Json]:
        """The object with a mark in place of each image in it."""
        return cast("Mapping[str, Json]", self._without(dict(value), DEEPEST))

    def read(self, text: str) -> Read:
        """The text with words in place of its marks, and the images that they stood for."""
        media: list[Media] = []

        def words(mark: re.Match[str]) -> str:
            number = int(mark[1])
            if number >= len(self._found):
                return mark[0]
            media.append(self._found[number])
            return "[image]"

        return Read(self._stands.sub(words, text), tuple(media)) if self._found else Read(text, ())

    def _without(self, value: Json, levels: int) -> Json:
        if levels and isinstance(value, list):
            return [self._without(each, levels - 1) for each in value]
        if not levels or not isinstance(value, dict):
            return value
        data = _data_of(value)
        kept = self._kept(data) if data else None
        if kept is not None:
            kind = "input_text" if value.get("type") == "input_image" else "text"
            return {"type": kind, "text": kept}
        return {name: each if name in _BESIDE else self._without(each, levels - 1) for name, each in value.items()}

    def _kept(self, data: str) -> str | None:
        if len(data) > LARGEST:
            return None
        try:
            file = media_in(base64.b64decode(data, validate=True))
            if file is None or not isinstance(file.media, Image):
                return None
            self._keep(file.data, file.media)
        except (binascii.Error, ValueError, DamagedMedia, FileTooLarge, StoreFailed):
            return None
        self._found.append(file.media)
        return f"[image {self._mark}:{len(self._found) - 1}]"


def _data_of(block: Mapping[str, Json]) -> str:
    """The base64 text of a block that is an image; empty if it is none: Anthropic's, OpenAI's, MCP's."""
    match block:
        case {"type": "image", "source": {"type": "base64", "data": str() as data}}:
            return data
        case {"type": "input_image", "image_url": str() as url}:
            return _of_url(url)
        case {"type": "image_url", "image_url": {"url": str() as url}}:
            return _of_url(url)
        case {"type": "image", "data": str() as data}:
            return data
        case _:
            return ""


def _of_url(url: str) -> str:
    head, _, data = url.partition(";base64,")
    return data if head.startswith("data:image/") else ""

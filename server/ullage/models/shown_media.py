"""Images and documents as the Messages API takes them: their bytes in base64, or words where these are no longer there.

Thinking that followed an image is bound to it. Where its file is gone, the API refuses that thinking once and drops it from then on
(`ThinkingRefused` in `anthropic_model.py`): the session goes on. How many are shown at once: `context/counting/media_room.py`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TypeAlias

from ullage.context.blocks import Image, Json, Media
from ullage.context.counting.media import in_words

MediaBytes: TypeAlias = Callable[[Media], bytes | None]
"""The bytes of an image or a document; None where they are no longer there. May be asked from any thread, and reads the disk."""


def none_kept(media: Media) -> bytes | None:
    """Where nothing is kept."""
    return None


def gone(media: Media) -> str:
    """What stands for one that is no longer in the store."""
    return f"[{in_words(media)}: no longer there, its file was removed]"


def media_json(media: Media, data: str | None) -> dict[str, Json]:
    """The content block for base64 `data`."""
    if data is None:
        return {"type": "text", "text": gone(media)}
    if isinstance(media, Image):
        return {"type": "image", "source": {"type": "base64", "media_type": media.media_type, "data": data}}
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


class Encoded:
    """Base64 texts of what was asked for so far: a file is read and encoded once. What was gone stays gone, so that the prefix stays."""

    def __init__(self, read: MediaBytes) -> None:
        self._read = read
        self._known: dict[Media, str | None] = {}
        self.size = 0
        """Characters that are kept."""

    def of(self, media: Media) -> str | None:
        """The text; None where the bytes are no longer there."""
        if media in self._known:
            return self._known[media]
        data = self._read(media)
        text = None if data is None else base64.b64encode(data).decode("ascii")
        self._known[media] = text
        self.size += len(text or "")
        return text

    def forget(self) -> None:
        """All of them but what is gone."""
        self._known = {media: None for media, text in self._known.items() if text is None}
        self.size = 0

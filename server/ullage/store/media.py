"""The bytes of images and documents that the model was shown, each in a file named for its hash: the log has only that.

They are written before the entry that names them is logged, and never changed: so the log stays small, and undo, a restart or another
session that shows the same file give back the very bytes. Nothing is removed but with the last session that names it (`erase.py`); a file
that a crash left without an entry stays until the folder is deleted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ullage.context.blocks import Image, Media
from ullage.store import folder as ullage_folder
from ullage.store.whole_file import write_whole


class MediaFiles:
    """The files of one workspace; without a folder they are held in memory and end with the process. For any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else ullage_folder.media(folder)
        self._in_memory: dict[str, bytes] = {}

    def keep(self, data: bytes, media: Media) -> None:
        """Keeps the bytes; durable when it returns. Raises `StoreFailed`, and no half file is left then."""
        if self._folder is None:
            self._in_memory[media.sha256] = data
        elif self.read(media) is None:  # what is there whole is not written twice
            write_whole(self._folder / file_name(media), data)

    def read(self, media: Media) -> bytes | None:
        """The very bytes; None where they are gone, or others stand in their place."""
        if self._folder is None:
            return self._in_memory.get(media.sha256)
        try:
            data = (self._folder / file_name(media)).read_bytes()
        except OSError:
            return None
        return data if sha256_of(data) == media.sha256 else None

    def remove(self, media: Media) -> None:
        """Removes the file for good; does nothing where it cannot be removed."""
        self._in_memory.pop(media.sha256, None)
        if self._folder is None:
            return
        try:
            (self._folder / file_name(media)).unlink(missing_ok=True)
        except OSError:
            return


def sha256_of(data: bytes) -> str:
    """The hash by which bytes are named (hex)."""
    return hashlib.sha256(data).hexdigest()


def shown_path(media: Media) -> str:
    """Where the file lies, relative to the folder that is kept for the workspace, with `/`."""
    return f"{ullage_folder.MEDIA}/{file_name(media)}"


def file_name(media: Media) -> str:
    """`<hash>.png`."""
    return f"{media.sha256}.{media.media_type.removeprefix('image/') if isinstance(media, Image) else 'pdf'}"

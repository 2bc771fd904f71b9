"""Text files on disk: read with their encoding and line ends, written back whole or not at all.

What we wrote is remembered, so that the watcher does not report our own work to us. `folders.py` says which files may be touched,
`files.py` what an open editor has instead.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.workspace.regular_files import NotRegular, open_regular, replace_regular

REMEMBERED = 1_000
"""For how many files the last write is remembered; a watcher reports within seconds, so that far fewer would do."""

MAXIMUM_BYTES = 10_000_000
"""The most bytes of a file that is read whole. It is more than ten times what a context of 200,000 tokens holds (about 4 bytes a token,
and a result is clipped far below that), and reading more would be felt."""

BYTE_ORDER_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
"""The marks of the encodings that are known by their mark alone."""

Newline: TypeAlias = Literal["\n", "\r\n", "\r", "mixed"]

_CONTROL_BYTES = frozenset(range(0x20)) - set(b"\t\n\r\f\b\x1b")


class NotText(Exception):
    """The file is no text file: it is binary, or no regular file at all. The message says which, without the path."""


class FileTooLarge(Exception):
    """The file is larger than the caller takes, mostly `MAXIMUM_BYTES`. The message names the size, without the path."""


class NotEncodable(Exception):
    """The text has characters that the file's encoding does not know."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text. Line ends in `text` are `\\n`, except in a file that mixes them: there they stand as they are."""

    text: str
    sha256: str
    encoding: str = "utf-8"
    newline: Newline = "\n"


def text_sha256(text: str) -> str:
    """The hash by which texts are compared (hex)."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def normalise_newlines(text: str) -> tuple[str, Newline]:
    """The text with `\\n` at its line ends, and the line ends that it had; mixed line ends are left alone."""
    returns = text.count("\r")
    if not returns:
        return text, "\n"
    if text.count("\r\n") == returns == text.count("\n"):
        return text.replace("\r\n", "\n"), "\r\n"
    if "\n" not in text:
        return text.replace("\r", "\n"), "\r"
    return text, "mixed"


def read_text(path: Path) -> TextFile:
    """Reads a text file at a resolved path; no link on the way is followed.

    Raises `NotText`, `FileTooLarge`, `LedElsewhere`, `FileNotFoundError`, `IsADirectoryError`, `PermissionError` or another `OSError`.
    """
    try:
        with open_regular(path) as file:
            _check_size(os.fstat(file.fileno()).st_size)
            data = file.read(MAXIMUM_BYTES + 1)
    except NotRegular as error:
        raise NotText(error.strerror) from error
    _check_size(len(data))  # it may have grown meanwhile
    return text_of(data)


def text_of(data: bytes) -> TextFile:
    """The text that bytes hold. Raises `NotText`."""
    decoded, encoding = _decode(data)
    text, newline = normalise_newlines(decoded)
    return TextFile(text, text_sha256(text), encoding, newline)


def _check_size(size: int) -> None:
    if size > MAXIMUM_BYTES:
        raise FileTooLarge(f"{size:,} bytes; files over {MAXIMUM_BYTES:,} are not read whole")


def write_text(path: Path, text: str, like: TextFile | None, own_writes: OwnWrites) -> None:
    """Writes `text` in the encoding and with the line ends of `like` (UTF-8 and `\\n` without one), atomically.

    The new text is written beside the file and then takes its place, so that a crash leaves the old text or the new one.
    The mode is kept, missing folders are made. The path is resolved: no link is followed. The write is noted in `own_writes` before it
    can be seen.
    Raises `NotEncodable`, `LedElsewhere`, `PermissionError` (also for a file marked read-only) or another `OSError`.
    """
    data = bytes_of(text, like)
    replace_regular(path, data, lambda status: own_writes.about_to_replace(path, status, data))


def bytes_of(text: str, like: TextFile | None) -> bytes:
    """The text in the encoding and with the line ends of `like` (UTF-8 and `\\n` without one). Raises `NotEncodable`."""
    if like is None:
        return text.encode("utf-8")
    if like.newline in ("\r\n", "\r"):
        text = text.replace("\r\n", "\n").replace("\n", like.newline)
    try:
        return BYTE_ORDER_MARKS.get(like.encoding, b"") + text.encode(like.encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise NotEncodable(f"the file is in {like.encoding}, which has no {character!r}; convert the file to UTF-8 first") from error


def _decode(data: bytes) -> tuple[str, str]:
    if data.startswith(codecs.BOM_UTF8):
        return _decode_as(data, "utf-8-sig"), "utf-8-sig"
    for encoding, mark in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding), encoding
    if b"\0" in data:
        raise NotText("a binary file")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        if any(byte in _CONTROL_BYTES for byte in data):
            raise NotText("a binary file") from None
        return data.decode("latin-1"), "latin-1"  # every byte comes back as it was


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise NotText(f"marked as {encoding}, but not valid in it") from None
    if "\0" in text:
        raise NotText("a binary file")
    return text


class OwnWrites:
    """The state in which we left each file that we wrote. A file is ours as long as it is still in that state."""

    def __init__(self) -> None:
        self._left: OrderedDict[Path, tuple[tuple[int, int, int], bytes]] = OrderedDict()
        """For each file its identity, size and time, and the digest of its content."""

    def about_to_replace(self, path: Path, replacement: os.stat_result, data: bytes) -> None:
        """Notes that a file with that status and content is about to become `path`: it keeps its identity, size and time when it is
        moved."""
        self._left[path] = _identity(replacement), hashlib.sha256(data).digest()
        self._left.move_to_end(path)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)

    def is_ours(self, path: Path) -> bool:
        """Whether the file is as we left it; False if someone changed or removed it since."""
        left = self._left.get(path)
        return left is not None and left[0] == _state(path)

    def holds_ours(self, path: Path) -> bool:
        """Whether the file has the content that we wrote last: its time, by which `is_ours` goes, can be set back. For another thread."""
        left = self._left.get(path)
        if left is None:
            return False
        try:
            with open_regular(path) as file:
                return hashlib.sha256(file.read()).digest() == left[1]
        except OSError:
            return False


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        return _identity(path.stat())
    except OSError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size

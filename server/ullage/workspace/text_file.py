"""Text files on disk: read with their encoding and line ends, written back whole or not at all.

Which files may be touched is a question of `folders.py`; what an open editor has instead, one of `files.py`.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.workspace.own_writes import OwnWrites

MAXIMUM_BYTES = 10_000_000
"""Larger files are not read whole: it is fifty times what a context of 200,000 tokens holds (about 4 bytes a token,
and a result is clipped far below that), and reading it would be felt."""

TEMPORARY_PREFIX = ".ullage-write-"
"""How the names of files begin that are about to replace another one; the watcher leaves them out."""

BYTE_ORDER_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
"""Of the encodings that are only known by their mark."""

Newline: TypeAlias = Literal["\n", "\r\n", "mixed"]


class NotText(Exception):
    """Not a text file: binary, or no regular file at all. The message says which, without the path."""


class TooLarge(Exception):
    """Over `MAXIMUM_BYTES`. The message names the size, without the path."""


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
    """The text with `\\n` at its line ends, and what stood there; mixed line ends are left alone."""
    returns = text.count("\r")
    if not returns:
        return text, "\n"
    if text.count("\r\n") == returns == text.count("\n"):
        return text.replace("\r\n", "\n"), "\r\n"
    return text, "mixed"


def read_text(path: Path) -> TextFile:
    """Reads a text file.

    Raises `NotText`, `TooLarge`, `FileNotFoundError`, `IsADirectoryError`, `PermissionError` or another `OSError`.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(path)
    if not stat.S_ISREG(status.st_mode):
        raise NotText("not a regular file (a device, pipe or socket)")
    if status.st_size > MAXIMUM_BYTES:
        raise TooLarge(f"{status.st_size:,} bytes; files over {MAXIMUM_BYTES:,} are not read whole")
    decoded, encoding = _decode(path.read_bytes())
    text, newline = normalise_newlines(decoded)
    return TextFile(text, text_sha256(text), encoding, newline)


def write_text(path: Path, text: str, like: TextFile | None, own_writes: OwnWrites) -> None:
    """Writes `text` in the encoding and with the line ends of `like` (UTF-8 and `\\n` without one), atomically.

    The new text is written beside the file and then takes its place, so that a crash leaves the old text or the new one.
    The mode is kept, a symbolic link keeps pointing where it points, missing folders are made. The write is noted in
    `own_writes` before it can be seen.
    Raises `NotEncodable`, `PermissionError` (also for a file marked read-only) or another `OSError`.
    """
    target = path.resolve()
    data = _encode(text, like)
    mode = _writable_mode(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o666 if mode is None else 0o600)) as file:
            file.write(data)
        if mode is not None:
            temporary.chmod(mode)
        own_writes.about_to_replace(target, temporary)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _writable_mode(target: Path) -> int | None:
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK) or not mode & 0o222:
        raise PermissionError(13, "The file is read-only", str(target))
    return mode


def _encode(text: str, like: TextFile | None) -> bytes:
    if like is None:
        return text.encode("utf-8")
    if like.newline == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
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


_CONTROL_BYTES = frozenset(range(0x20)) - set(b"\t\n\r\f\b\x1b")

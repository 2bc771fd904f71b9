"""The JSON objects of a file, line by line, plain or compressed, with one line in memory at a time."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ullage.context.blocks import Json
from ullage.replay.readers.flaws import CUT_LINE, DAMAGED_ARCHIVE, LONG_LINE, NO_JSON, NOT_UTF8, Tally
from ullage.replay.readers.values import JsonObject, NotJson, parse

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A longer line is passed over, so that memory is bounded."""

_GZIP, _XZ, _BZ2 = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def json_objects(path: Path, tally: Tally) -> Iterator[JsonObject]:
    """The objects in the order of their lines; what is none is counted in `tally`. Raises `OSError`."""
    for line in _lines(path, tally):
        value = _value(line, tally)
        if isinstance(value, dict):
            yield value


def _value(line: bytes, tally: Tally) -> Json:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        tally.count(NOT_UTF8)
        text = line.decode("utf-8", "replace")
    try:
        value = parse(text)
    except NotJson:
        tally.count(NO_JSON if line.endswith(b"\n") else CUT_LINE)
        return None
    if not isinstance(value, dict):
        tally.count(NO_JSON)
    return value


def _lines(path: Path, tally: Tally) -> Iterator[bytes]:
    """The lines that are not blank, each with its line end."""
    with _opened(path) as file:
        at_start = True
        while line := _next_line(file, tally):
            if at_start:
                line = line.removeprefix(_BYTE_ORDER_MARK)
                at_start = False
            if len(line) > LONGEST_LINE:
                tally.count(LONG_LINE)
                while line and not line.endswith(b"\n"):
                    line = _next_line(file, tally)
            elif not line.isspace():
                yield line


def _next_line(file: BinaryIO, tally: Tally) -> bytes:
    try:
        return file.readline(LONGEST_LINE + 1)
    except (EOFError, lzma.LZMAError, zlib.error):
        tally.count(DAMAGED_ARCHIVE)
    except OSError as error:
        if error.errno is not None:
            raise
        tally.count(DAMAGED_ARCHIVE)  # gzip and bz2 report damage as an OSError without a number
    return b""


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        start = file.read(len(_XZ))
    if start.startswith(_GZIP):
        return cast("BinaryIO", gzip.open(path, "rb"))
    if start.startswith(_XZ):
        return cast("BinaryIO", lzma.open(path, "rb"))
    if start.startswith(_BZ2):
        return cast("BinaryIO", bz2.open(path, "rb"))
    return path.open("rb")

"""Whether git tracks anything under a name, told from its list of files (`.git/index`) alone: nothing is run, and nothing else is read."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from ullage.workspace.without_links import open_regular

MOST_BYTES = 500_000_000

_HASHES = (20, 32)
"""Bytes of a hash in it: SHA-1 or SHA-256."""

_HEADER = struct.Struct(">4sII")
_EXTENDED = 0x4000
_PARTIAL = frozenset({b"link", b"sdir"})
"""Extensions that say that not all files stand in it by their names."""


def may_name(index: Path, name: str) -> bool:
    """Whether a file of which `name` is a part of the path may be tracked. True where the list cannot be read whole; False where there is
    none: then nothing is tracked. Case does not count."""
    try:
        with open_regular(index) as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    for size in _HASHES:
        try:
            return any(name.casefold() in part.casefold() for part in _names(content, size))
        except (_Unreadable, struct.error, IndexError, ValueError):
            continue
    return True


class _Unreadable(Exception):
    pass


def _names(content: bytes, hash_size: int) -> Iterator[str]:
    """The paths in it. Raises where it is no such list, of a version in which paths do not stand whole, or a part of one."""
    signature, version, count = _HEADER.unpack_from(content)
    if signature != b"DIRC" or version not in (2, 3) or len(content) > MOST_BYTES:
        raise _Unreadable
    names: list[str] = []
    place = _HEADER.size
    for _ in range(count):
        flags = place + 40 + hash_size
        start = flags + (4 if struct.unpack_from(">H", content, flags)[0] & _EXTENDED else 2)
        end = content.index(b"\0", start)
        names.append(content[start:end].decode("utf-8", "surrogateescape"))
        place += (end - place) // 8 * 8 + 8
    while place < len(content) - hash_size:
        extension, size = struct.unpack_from(">4sI", content, place)
        if extension in _PARTIAL:
            raise _Unreadable
        place += 8 + size
    if place != len(content) - hash_size:
        raise _Unreadable
    yield from names

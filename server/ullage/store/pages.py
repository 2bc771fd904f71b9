"""Reading rows out of the bytes of a database file and its write-ahead log without SQLite, whatever is damaged around them.

SQLite finds a row by the schema, the root page, inner pages and the head of its page: damage in any of them hides whole pages of sound
rows. Here rows are looked for by the form of their record header in every image of every page, and the sum of a row says whether it is one
(`schema.py`). The format is SQLite's own: https://sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ullage.store.schema import SUM_BYTES, EntryRow, PromptRow, Raw, Row, SessionRow, ValueRow

DEFAULT_PAGE = 4096
"""The bytes of a page; what SQLite takes, and Ullage sets nothing else."""

_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)

_MOST_BODY = 512 * 1024 * 1024
"""The most bytes of a row; a length beyond it is damage."""

_ID = bytes([13 + 2 * 16])
"""The serial type of a session's id, which has 16 characters."""
_SUM = bytes([12 + 2 * SUM_BYTES])
_BEGINNINGS = {
    "entry": re.compile(rb"\x00" + _ID + rb"(?=[\x01-\x06\x08\x09][\x01-\x09])"),
    "prompt": re.compile(rb"\x00(?=[\x0d-\x7f]" + _ID + rb")"),
}
"""Patterns of what comes behind the length of a record header of some kind: its first serial types. Texts in the log hold no such small
bytes, and a pattern that begins with one letter is looked for quickly."""

_ENDS = {
    "session": (re.compile(_SUM + rb"(?=" + _SUM + rb")"), 2, range(7, 12)),
    "session of version 1": (re.compile(rb"\x07(?=\x07)"), 2, range(5, 10)),
    "value": (re.compile(_SUM), 1, range(4, 9)),
}
"""Of each other kind, what its headers end with, how many bytes that are, and how long such a header may be."""

_MOST_SUBSTITUTES = 50
"""How many pages of a long row are tried as they were before, one at a time."""


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row, or what looks like one. `is_newest`: whether it is in the image of its page that counts."""

    row: Row
    is_newest: bool


@dataclass(frozen=True, slots=True)
class WalFrames:
    """The frames of a write-ahead log: page and image, in order. `current` of them belong to its newest cycle; `committed` is how many of
    those a commit stands behind."""

    images: Sequence[tuple[int, bytes]]
    current: int
    committed: int


@dataclass(slots=True)
class Images:
    """All images of all pages: by page, newest first."""

    page_size: int
    of_page: dict[int, list[bytes]] = field(default_factory=dict[int, list[bytes]])


def wal_frames(wal: bytes, page_size: int = DEFAULT_PAGE) -> WalFrames:
    """The frames that are in a write-ahead log, whether SQLite would take them or not."""
    frames: list[tuple[int, bytes]] = []
    salts: list[bytes] = []
    commits: list[bool] = []
    for start in range(_WAL_HEADER, len(wal) - _FRAME_HEADER - page_size + 1, _FRAME_HEADER + page_size):
        page, size_after = struct.unpack_from(">II", wal, start)
        salts.append(wal[start + 8 : start + 16])
        commits.append(size_after != 0)
        body = start + _FRAME_HEADER
        frames.append((page, wal[body : body + page_size]))
    newest = _salts_in_force(wal, salts)
    current = max((place for place, each in enumerate(salts, 1) if each == newest), default=0)
    committed = max((place for place in range(1, current + 1) if commits[place - 1] and salts[place - 1] == newest), default=0)
    return WalFrames(frames, current, committed)


def _salts_in_force(wal: bytes, salts: Sequence[bytes]) -> bytes | None:
    if len(wal) < _WAL_HEADER or not salts:
        return None
    if _header_is_whole(wal[:_WAL_HEADER]):
        return wal[16:24]
    # The header is damaged. Each cycle begins with the first frame; two frames that agree are not both damaged.
    return salts[0] if len(salts) == 1 or salts[0] == salts[1] or len(salts) == 2 else salts[1]


def _header_is_whole(header: bytes) -> bool:
    magic = struct.unpack_from(">I", header)[0]
    if magic not in _WAL_MAGIC:
        return False
    first = second = 0
    words = struct.unpack(f"{'>' if magic & 1 else '<'}6I", header[:24])
    for left, right in zip(words[::2], words[1::2], strict=True):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return struct.unpack_from(">II", header, 24) == (first, second)


def found_rows(database: bytes, wal: bytes) -> Iterator[FoundRow]:
    """Finds everything in the two files that has the form of a row; the caller looks at the sums. Newest images come first."""
    page_size = _page_size(database)
    images = Images(page_size)
    frames = wal_frames(wal, page_size)
    older: list[tuple[int, bytes]] = []
    newest: dict[int, bytes] = {}
    for place, (page, image) in enumerate(frames.images):
        if place < frames.current:
            if page in newest:
                older.append((page, newest[page]))
            newest[page] = image
        else:
            older.append((page, image))
    for start in range(0, len(database), page_size):
        page, image = start // page_size + 1, database[start : start + page_size]
        if page in newest:
            older.append((page, image))
        else:
            newest[page] = image
    for page, image in newest.items():
        images.of_page[page] = [image]
    for page, image in older:
        images.of_page.setdefault(page, []).append(image)
    for image in newest.values():
        yield from (FoundRow(row, is_newest=True) for row in _rows_in(image, images))
    for _, image in older:
        yield from (FoundRow(row, is_newest=False) for row in _rows_in(image, images))


def _page_size(database: bytes) -> int:
    size = struct.unpack_from(">H", database, 16)[0] if len(database) >= 18 else 0
    return size if size in (512, 1024, 2048, 4096, 8192, 16384, 32768) else DEFAULT_PAGE


def _rows_in(image: bytes, images: Images) -> Iterator[Row]:
    for kind, start in _starts(image):
        types = _serial_types(image, start)
        row = None if types is None else _row(kind, image, start, types, images)
        if row is not None:
            yield row


def _starts(image: bytes) -> Iterator[tuple[str, int]]:
    """The places in the page where the header of a record may begin, each with the kind of the record."""
    for kind, pattern in _BEGINNINGS.items():
        for match in pattern.finditer(image):
            if match.start():
                yield kind, match.start() - 1
    for kind, (pattern, ending, lengths) in _ENDS.items():
        for match in pattern.finditer(image):
            end = match.start() + ending
            for length in lengths:
                if length <= end and image[end - length] == length:
                    yield kind.split()[0], end - length


def _serial_types(image: bytes, start: int) -> list[int] | None:
    end = start + image[start]
    if end > len(image):
        return None
    types: list[int] = []
    at = start + 1
    while at < end:
        value, at = _varint(image, at)
        types.append(value)
    return types if at == end else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        if at >= len(data):
            return value, at + 1
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return value, at
    return (value << 8 | data[at], at + 1) if at < len(data) else (value, at + 1)


_COLUMNS: Mapping[str, str] = {"entry": "ntirtb", "session": "ttrrbb", "prompt": "ntttb", "value": "ttb"}
"""What the columns of each kind of row hold, a letter each: nothing, text, whole number, time, bytes."""
_FITS: Mapping[str, Callable[[int], bool]] = {
    "n": lambda kind: kind == 0,
    "t": lambda kind: kind >= 13 and kind % 2 == 1,
    "i": lambda kind: kind in (1, 2, 3, 4, 5, 6, 8, 9),
    "r": lambda kind: kind in (1, 2, 3, 4, 5, 6, 7, 8, 9),
    "b": lambda kind: kind >= 12 and kind % 2 == 0,
}
_NO_BYTES = 12


def _row(kind: str, image: bytes, start: int, types: Sequence[int], images: Images) -> Row | None:
    columns = _COLUMNS[kind]
    sums = columns.count("b")
    if len(types) == len(columns) - sums:  # of version 1, which had no sums
        types = [*types, *[_NO_BYTES] * sums]
    if len(types) != len(columns) or not all(_FITS[column](each) for column, each in zip(columns, types, strict=True)):
        return None
    sizes = [_size(each) for each in types]
    length = image[start] + sum(sizes)
    if length > _MOST_BODY:
        return None
    row: Row | None = None
    for payload in _payloads(image, start, length, images):
        row = _made(kind, types, sizes, payload, image[start])
        if row.is_whole:
            return row
    return row


def _size(kind: int) -> int:
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind] if kind < 12 else (kind - 12) // 2


def _payloads(image: bytes, start: int, length: int, images: Images) -> Iterator[bytes]:
    """The bytes of the record; where it goes on in other pages first with these as they are now, then with one of them as it was before."""
    usable = images.page_size
    if length <= usable - 35:
        if start + length <= len(image):
            yield image[start : start + length]
        return
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    if local > usable - 35:
        local = least
    if start + local + 4 > len(image):
        return
    head, rest = image[start : start + local], length - local
    first = struct.unpack_from(">I", image, start + local)[0]
    pages = -(-rest // (usable - 4))
    chain = _chain(first, pages, images, {})
    if len(chain) == pages:
        yield head + b"".join(part for _, part in chain)[:rest]
    others = ((place, other) for place, (page, _) in enumerate(chain) for other in range(1, len(images.of_page[page])))
    for place, other in islice(others, _MOST_SUBSTITUTES):
        again = _chain(first, pages, images, {place: other})
        if len(again) == pages:
            yield head + b"".join(part for _, part in again)[:rest]


def _chain(first: int, pages: int, images: Images, other: Mapping[int, int]) -> list[tuple[int, bytes]]:
    chain: list[tuple[int, bytes]] = []
    page = first
    while len(chain) < pages and page in images.of_page:
        image = images.of_page[page][other.get(len(chain), 0)]
        chain.append((page, image[4:]))
        page = struct.unpack_from(">I", image)[0] if len(image) >= 4 else 0
    return chain


def _made(kind: str, types: Sequence[int], sizes: Sequence[int], payload: bytes, at: int) -> Row:
    values: list[Raw] = []
    for each, size in zip(types, sizes, strict=True):
        values.append(_value(each, payload[at : at + size]))
        at += size
    match kind, values:
        case "entry", [_, bytes(session_id), int(seq), int() | float() as moment, bytes(body), bytes(check)]:
            return EntryRow(session_id, seq, float(moment), body, check)
        case "session", [
            bytes(session_id),
            bytes(title),
            int() | float() as created,
            int() | float() as updated,
            bytes(check),
            bytes(second),
        ]:
            return SessionRow(session_id, title, float(created), float(updated), check, second)
        case "prompt", [_, bytes(prompt_id), bytes(session_id), bytes(body), bytes(check)]:
            return PromptRow(prompt_id, session_id, body, check)
        case "value", [bytes(key), bytes(value), bytes(check)]:
            return ValueRow(key, value, check)
        case _:
            raise AssertionError("the types of the columns were looked at")


def _value(kind: int, data: bytes) -> Raw:
    match kind:
        case 0:
            return None
        case 7:
            return struct.unpack(">d", data.ljust(8, b"\0"))[0]
        case 8 | 9:
            return kind - 8
        case 1 | 2 | 3 | 4 | 5 | 6:
            return int.from_bytes(data, "big", signed=True)
        case _:
            return data

"""The text of a document that is being edited: a change costs what it changes, however long the text is.

The text is cut into lines when it is first changed at a place; from then on a change replaces some lines in the list of them. The whole
is put together again when somebody asks for it. Lines end with `\\n`, `\\r\\n` or `\\r` (LSP 3.17, Text Documents) and at nothing else:
`str.splitlines` also cuts at form feeds and other signs that no editor takes for a line end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

Units: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""What a client counts characters in."""

Position: TypeAlias = tuple[int, int]
"""A line and a place in it, both from 0."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

STRETCH = 262_144
"""Characters that are cut into lines at one go, some milliseconds: between two others have their turn."""


class DocumentText:
    """A text that changes place by place. `units` are those of the positions."""

    def __init__(self, text: str, units: Units = "utf-16") -> None:
        self._units: Units = units
        self._whole: str | None = text
        self._lines: list[str] | None = None

    @property
    def whole(self) -> str:
        """All of it, put together where it was changed since."""
        if self._whole is None:
            self._whole = "".join(self._lines or ())
        return self._whole

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends: the live list."""
        if self._lines is None:
            self._lines = _cut(self.whole)
        return self._lines

    @property
    def is_cut(self) -> bool:
        """Whether its lines are known, so that a change costs little."""
        return self._lines is not None

    def copy(self) -> DocumentText:
        """Another one that goes on by itself; copies no text."""
        other = DocumentText("", self._units)
        other._whole, other._lines = self._whole, None if self._lines is None else self._lines.copy()
        return other

    def replace(self, text: str) -> None:
        """Another text in the place of all."""
        self._whole, self._lines = text, None

    def change(self, start: Position, end: Position, text: str) -> None:
        """Puts `text` in the place of a range. What lies behind the end of a line counts as its end, as the protocol says."""
        lines = self._lines if self._lines is not None else _cut(self.whole)
        first, begins = self._place(lines, start)
        last, ends = self._place(lines, end)
        if (last, ends) < (first, begins):
            last, ends = first, begins
        before = lines[first][:begins] if first < len(lines) else ""
        after = lines[last][ends:] if last < len(lines) else ""
        if not before and first > 0:  # a line before that ends with `\\r` is one with a `\\n` that follows now
            first -= 1
            before = lines[first]
        lines[first : last + 1] = _cut(f"{before}{text}{after}")
        self._lines, self._whole = lines, None

    def _place(self, lines: Sequence[str], position: Position) -> Position:
        """The line and the index in it, in characters of Python; behind the last line for what is behind the text."""
        number, character = position
        if number >= len(lines):
            return len(lines), 0
        line = lines[number]
        return number, min(index_of(line, character, self._units), len(line.rstrip("\r\n")))


def changed(text: DocumentText, changes: Iterable[object]) -> str | None:
    """The whole after several changes as they came over the wire, one after the other; None where one is malformed. Changes `text`."""
    for each in changes:
        match each:
            case {
                "range": {
                    "start": {"line": int(first), "character": int(start)},
                    "end": {"line": int(last), "character": int(end)},
                },
                "text": str(new),
            } if min(first, start, last, end) >= 0:
                text.change((first, start), (last, end), new)
            case {"text": str(new)} if not isinstance(each, dict) or "range" not in each:
                text.replace(new)
            case _:
                return None
    return text.whole


def index_of(line: str, units: int, kind: Units) -> int:
    """The index of the character that begins after so many units; the next one's where that is within a character."""
    if kind == "utf-32" or line.isascii():
        return min(units, len(line))
    head = line[:units]  # a character takes at least one unit
    index = bisect_left(range(len(head) + 1), units, key=lambda length: _units_of(head[:length], kind))
    return min(index, len(head))


def _units_of(text: str, kind: Units) -> int:
    if kind == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text with their ends, as editors count them."""
    return tuple(_cut(text))


def _cut(text: str) -> list[str]:
    lines: list[str] = []
    for stretch in _stretches(text):
        lines += _LINE.findall(stretch)
    return lines


def _stretches(text: str) -> Iterable[str]:
    """The text in parts that end with a `\\n`, but for the last."""
    start = 0
    while len(text) - start > STRETCH:
        end = text.find("\n", start + STRETCH) + 1
        if not end:
            break
        yield text[start:end]
        start = end
    yield text[start:]

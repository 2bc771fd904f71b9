"""The smallest whole-line edit that turns one text into another, in an editor's own units."""

from __future__ import annotations

from lsprotocol.types import Position, Range, TextEdit
from pygls.workspace import PositionCodec

from ullage.lsp.document_text import lines_of


def edit_between(old: str, new: str, codec: PositionCodec) -> TextEdit | None:
    """One edit of the lines that differ, so that the rest of the document keeps its marks; None where nothing differs."""
    if old == new:
        return None
    before, after = lines_of(old), lines_of(new)
    shorter = min(len(before), len(after))
    first = 0
    while first < shorter and before[first] == after[first]:
        first += 1
    if first == len(before) and first > 0 and not _is_ended(before[-1]):
        first -= 1  # there is no line after an unended one to insert at
    same_at_end = 0
    while same_at_end < shorter - first and before[-1 - same_at_end] == after[-1 - same_at_end]:
        same_at_end += 1
    end = _end_of(before, codec) if same_at_end == 0 else Position(len(before) - same_at_end, 0)
    return TextEdit(Range(Position(first, 0), end), "".join(after[first : len(after) - same_at_end]))


def _end_of(lines: tuple[str, ...], codec: PositionCodec) -> Position:
    if not lines or _is_ended(lines[-1]):
        return Position(len(lines), 0)
    return Position(len(lines) - 1, codec.client_num_units(lines[-1]))


def _is_ended(line: str) -> bool:
    return line.endswith(("\n", "\r"))

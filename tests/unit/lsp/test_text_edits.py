"""The edit that is sent turns one text into the other, in any editor that follows the protocol."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range, TextDocumentContentChangePartial, TextEdit
from pygls.workspace import PositionCodec

from ullage.lsp.documents import EditorDocument, lines_of
from ullage.lsp.editor import edit_between

CODEC = PositionCodec()
texts = st.lists(st.sampled_from(["a", "b", "é", "\U0001f600", "\n", "\r\n", "\r", "\x0c", "\u2028", "\x85", " "]), max_size=14).map(
    "".join
)


def apply(text: str, edit: TextEdit) -> str:
    """As the specification says it, independent of how the edit was made: offsets in UTF-16 units, lines end at \\n, \\r\\n, \\r."""
    lines = lines_of(text)

    def offset(position: Position) -> int:
        if position.line == len(lines):
            assert position.character == 0
            assert not lines or lines[-1].endswith(("\n", "\r")), "there is no such line"
            return sum(len(line.encode("utf-16-le")) // 2 for line in lines)
        assert position.line < len(lines)
        return sum(len(line.encode("utf-16-le")) // 2 for line in lines[: position.line]) + position.character

    units = text.encode("utf-16-le")
    start, end = offset(edit.range.start) * 2, offset(edit.range.end) * 2
    assert start <= end
    return (units[:start] + edit.new_text.encode("utf-16-le") + units[end:]).decode("utf-16-le")


@given(texts, texts)
def test_an_edit_turns_one_text_into_the_other(old: str, new: str) -> None:
    edit = edit_between(old, new, CODEC)
    if edit is None:
        assert old == new
    else:
        assert apply(old, edit) == new


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", TextEdit(Range(Position(1, 0), Position(2, 0)), "B\n")),
        ("a\nb\n", "a\nb\nc\n", TextEdit(Range(Position(2, 0), Position(2, 0)), "c\n")),
        ("a\n\U0001f600", "a\nb", TextEdit(Range(Position(1, 0), Position(1, 2)), "b")),
        ("a", "a\nb", TextEdit(Range(Position(0, 0), Position(0, 1)), "a\nb")),
        ("", "a", TextEdit(Range(Position(0, 0), Position(0, 0)), "a")),
        ("a\r\nb\r\n", "a\r\n", TextEdit(Range(Position(1, 0), Position(2, 0)), "")),
    ],
)
def test_only_the_lines_that_differ_are_touched(old: str, new: str, edit: TextEdit) -> None:
    assert edit_between(old, new, CODEC) == edit


@given(texts)
def test_lines_together_are_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text


def test_typing_after_a_form_feed_goes_where_the_user_typed() -> None:
    document = EditorDocument("file:///a.txt", "one\x0c\u2028\ntwo\n", 1)
    document.apply_change(TextDocumentContentChangePartial(Range(Position(1, 0), Position(1, 3)), "TWO"))
    assert document.source == "one\x0c\u2028\nTWO\n"

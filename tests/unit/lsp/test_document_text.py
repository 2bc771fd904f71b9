"""A document after any changes reads as the naive way says, and a change costs what it changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.types import Position, Range, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument
from pygls.workspace import PositionCodec

from tests.deep import many
from tests.work import check_linear, work_of
from ullage.lsp.documents import LONGEST, STRETCH, DocumentText, EditorDocument, Units, index_of, lines_of

PARTS = ["a", "bc", "é", "中", "\U0001f600", "\U0001f600\U0001f600", "\n", "\r\n", "\r", "\x0c", "\u2028", "\x85", "\ud83d", "", " "]
texts = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)
positions = st.tuples(st.integers(0, 8), st.integers(0, 12))
changes = st.lists(st.tuples(positions, positions, texts), max_size=6)
kinds = st.sampled_from(["utf-8", "utf-16", "utf-32"])


def units_of(character: str, kind: Units) -> int:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[kind]
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[kind]
    return len(character.encode(codec, "surrogatepass")) // width


def naive(text: str, line: int, place: int, kind: Units) -> int:
    """The index in the whole text, by going through it character by character."""
    lines = lines_of(text)
    if line >= len(lines):
        return len(text)
    before = sum(map(len, lines[:line]))
    passed = 0
    for index, character in enumerate(lines[line]):
        if passed >= place or character in "\r\n":
            return before + index
        passed += units_of(character, kind)
    return before + len(lines[line])


@given(texts, changes, kinds)
def test_changes_give_what_the_naive_way_gives(text: str, made: list[tuple[tuple[int, int], tuple[int, int], str]], kind: Units) -> None:
    document = DocumentText(text, kind)
    for one, other, new in made:
        start = naive(text, *one, kind)
        end = max(start, naive(text, *other, kind))
        document.change(one, other, new)
        text = text[:start] + new + text[end:]
        assert "".join(document.lines) == text
        assert tuple(document.lines) == lines_of(text)
    assert document.whole == text


@pytest.mark.parametrize(
    ("line", "units", "kind", "index"),
    [
        ("abc", 2, "utf-16", 2),
        ("a\U0001f600b", 1, "utf-16", 1),
        ("a\U0001f600b", 2, "utf-16", 2),  # within the pair: behind it
        ("a\U0001f600b", 3, "utf-16", 2),
        ("a\U0001f600b", 4, "utf-16", 3),
        ("a\U0001f600b", 99, "utf-16", 3),
        ("aéb", 3, "utf-8", 2),
        ("a\U0001f600b", 2, "utf-32", 2),
    ],
)
def test_characters_are_counted_in_the_units_of_the_client(line: str, units: int, kind: Units, index: int) -> None:
    assert index_of(line, units, kind) == index


@given(st.lists(st.sampled_from(["a\n", "b\r", "c\r\n", "d" * 40]), max_size=40).map("".join))
def test_a_long_text_is_cut_in_stretches_to_the_same_lines(text: str) -> None:
    padded = "x" * STRETCH + text + "y" * STRETCH + text
    assert "".join(lines_of(padded)) == padded
    assert len(lines_of(padded)) <= 2 + 2 * len(text)
    assert all("\n" not in line[:-1] and "\r" not in line.rstrip("\r\n") for line in lines_of(padded))


def key(line: int, character: int) -> TextDocumentContentChangePartial:
    return TextDocumentContentChangePartial(Range(Position(line, character), Position(line, character)), "x")


def test_a_key_costs_no_more_in_a_longer_document() -> None:
    def keys(lines: int) -> Callable[[], object]:
        document = EditorDocument("file:///a.txt", "a line of text\n" * lines, 1)
        document.apply_change(key(3, 1))

        def run() -> None:
            for number in range(50):
                document.apply_change(key(lines // 2, number % 10))

        return run

    assert work_of(keys(many(4_000, deep=100_000))) <= work_of(keys(100))


def test_many_changes_cost_in_proportion() -> None:
    def of(count: int) -> Callable[[], object]:
        document = EditorDocument("file:///a.txt", "a line of text\n" * 1_000, 1)

        def run() -> None:
            for number in range(count):
                document.apply_change(key(number % 1_000, 2))

        return run

    check_linear(of, 500)


def test_a_document_that_is_too_long_is_not_kept() -> None:
    document = EditorDocument("file:///a.txt", "x" * (LONGEST + 1), 1)
    assert (document.is_mirrored, document.source) == (False, "")
    document.apply_change(key(0, 1))
    assert not document.is_mirrored
    document.apply_change(TextDocumentContentChangeWholeDocument("short again"))
    assert (document.is_mirrored, document.source) == (True, "short again")


@pytest.mark.parametrize("encoding", [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf32, None])
def test_a_document_counts_as_was_agreed(encoding: types.PositionEncodingKind | None) -> None:
    codec = PositionCodec(encoding) if encoding else PositionCodec()
    document = EditorDocument("file:///a.txt", "é\U0001f600!\n", 1, position_codec=codec)
    behind = {types.PositionEncodingKind.Utf8: 6, types.PositionEncodingKind.Utf32: 2, None: 3}[encoding]
    document.apply_change(key(0, behind))
    assert document.source == "é\U0001f600x!\n"

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.context.logs import calls, prompt, returned, says, session
from ullage.context.entries import Clipped, Entry, EntryPinned, FilePinned, FileTouch, ToolReturned
from ullage.context.view.pins import Pins, pinned_entries, pins

# 1 the prelude, 2 a prompt, 3 two calls, 4 and 5 their results, 6 a last word
TURN: Sequence[Entry] = (prompt("go"), calls("t1", "t2"), returned("t1", "one"), returned("t2", "two"), says("done"))


def read(id: str, path: str) -> ToolReturned:
    return ToolReturned(id, "read_file", "text", False, 4, touched=(FileTouch(path, "read", "0"),))


@pytest.mark.parametrize(
    ("pinned", "stay"),
    [
        ((), set[int]()),
        ((EntryPinned(2, True),), {2}),
        ((EntryPinned(4, True),), {3, 4, 5}),
        ((EntryPinned(3, True),), {3, 4, 5}),
        ((EntryPinned(4, True), EntryPinned(4, False)), set[int]()),
        ((EntryPinned(6, True), EntryPinned(2, True)), {2, 6}),
    ],
)
def test_what_the_api_wants_together_stays_together(pinned: Sequence[Entry], stay: set[int]):
    assert pinned_entries(session(*TURN, *pinned)) == stay


def test_of_a_pinned_file_the_newest_text_stays():
    entries = session(
        prompt("go"),
        calls("t1"),
        read("t1", "a.py"),
        calls("t2"),
        read("t2", "a.py"),
        calls("t3"),
        read("t3", "b.py"),
        FilePinned("a.py", True),
    )
    assert pinned_entries(entries) == {5, 6}


def test_what_shortened_a_pinned_result_stays_with_it():
    entries = session(prompt("go"), calls("t1"), returned("t1", "long"), Clipped(4, "short", "file"), says("done"), EntryPinned(4, True))
    assert pinned_entries(entries) == {3, 4, 5}


def test_the_last_word_on_a_pin_counts():
    said = session(EntryPinned(2, True), FilePinned("a", True), EntryPinned(2, False), EntryPinned(5, True), FilePinned("a", False))
    assert pins(said) == Pins(frozenset({5}))

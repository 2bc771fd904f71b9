from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from tests.unit.context.logs import calls, prompt, returned, says, session
from ullage.context.entries import Clipped, Entry, EntryPinned, FilePinned, FileTouch, ToolReturned, TouchKind
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


def touched(id: str, kind: TouchKind, *, partial: bool = False) -> ToolReturned:
    return ToolReturned(id, "tool", "text", False, 4, touched=(FileTouch("a.py", kind, "0", partial),))


@pytest.mark.parametrize(
    ("happened", "stay"),
    [
        (("read", "edited"), (0, 1)),
        (("read", "edited", "edited", "read"), (3,)),
        (("created", "edited"), (0, 1)),
        (("edited", "edited"), (0, 1)),
        (("read", "edited", "part", "part"), (0, 1, 3)),
        (("part", "edited", "part", "edited"), (2, 3)),
        (("read", "edited", "deleted"), (2,)),
    ],
)
def test_of_a_pinned_file_that_was_changed_its_text_and_the_changes_stay(happened: Sequence[str], stay: Sequence[int]):
    entries: list[Entry] = [prompt("go")]
    for index, kind in enumerate(happened):
        told = touched(f"t{index}", "read", partial=True) if kind == "part" else touched(f"t{index}", cast(TouchKind, kind))
        entries += [calls(f"t{index}"), told]
    expected = {seq for index in stay for seq in (3 + 2 * index, 4 + 2 * index)}
    assert pinned_entries(session(*entries, FilePinned("a.py", True))) == expected


def test_what_shortened_a_pinned_result_stays_with_it():
    entries = session(prompt("go"), calls("t1"), returned("t1", "long"), Clipped(4, "short", "file"), says("done"), EntryPinned(4, True))
    assert pinned_entries(entries) == {3, 4, 5}


def test_the_last_word_on_a_pin_counts():
    said = session(EntryPinned(2, True), FilePinned("a", True), EntryPinned(2, False), EntryPinned(5, True), FilePinned("a", False))
    assert pins(said) == Pins(frozenset({5}))

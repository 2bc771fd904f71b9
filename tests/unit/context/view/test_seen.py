"""Which files' texts the model has in view, from the log alone."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import calls, compaction, prompt, returned, says, session
from ullage.context.compaction_entries import Cleared, RestoredFile, Summarised
from ullage.context.entries import Clipped, Entry, FileTouch, ToolReturned, TouchKind
from ullage.context.view.fates import touches_in_view, whole_in_view
from ullage.context.view.projection import Projection

READS: list[Entry] = [prompt("Read"), calls("t1", "t2"), returned("t1", "text", "a.py"), returned("t2", "text", "b.py")]
"""`a.py` in entry 4, `b.py` in entry 5."""


def seen(*more: Entry) -> list[tuple[str, bool]]:
    return [(touch.path, touch.partial) for touch in touches_in_view(Projection(session(*READS, *more)))]


def test_what_was_read_is_seen():
    assert seen() == [("a.py", False), ("b.py", False)]


def test_what_was_cleared_is_not():
    assert seen(says("Done"), compaction("c", cleared=[Cleared(4, "gone")])) == [("b.py", False)]


def test_what_was_summarised_is_not_but_what_was_restored_is():
    restored = [RestoredFile("b.py", "<file/>", "", "0" * 64, whole=False), RestoredFile("gone.py", "<file/>", "deleted", "")]
    summarised = compaction("c", summarised=Summarised(6, "What was"), restored=restored)
    assert seen(says("Done"), summarised) == [("b.py", True)]


def test_of_a_clipped_read_only_a_part_is_seen():
    assert seen(Clipped(4, "te", "out/t1.txt")) == [("a.py", True), ("b.py", False)]


def test_an_edit_is_known_however_its_result_was_clipped():
    edit = FileTouch("a.py", "edited", "0" * 64)
    result = ToolReturned("t1", "edit_file", "Edi", is_error=False, characters=9, full_output="out/t1.txt", touched=(edit,))
    assert touches_in_view(Projection(session(prompt("Go"), calls("t1"), result))) == [edit]


def touched(path: str, kind: TouchKind, sha256: str, *, partial: bool = False) -> list[Entry]:
    id = f"{path} {kind} {sha256}"
    result = ToolReturned(id, kind, "text", is_error=False, characters=4, touched=(FileTouch(path, kind, sha256, partial),))
    return [calls(id), result]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([touched("a.py", "read", "1")], {"a.py": "1"}),
        ([touched("a.py", "created", "1")], {"a.py": "1"}),
        ([touched("a.py", "read", "1", partial=True)], {}),
        ([touched("a.py", "edited", "2")], {}),
        ([touched("a.py", "read", "1"), touched("a.py", "edited", "2")], {"a.py": "2"}),
        ([touched("a.py", "read", "1"), touched("a.py", "read", "1", partial=True)], {"a.py": "1"}),
        ([touched("a.py", "read", "1"), touched("a.py", "deleted", "")], {}),
    ],
)
def test_of_an_edit_alone_the_model_knows_a_part_of_the_file(steps: list[list[Entry]], expected: dict[str, str]):
    assert whole_in_view(Projection(session(prompt("Go"), *(entry for step in steps for entry in step)))) == expected

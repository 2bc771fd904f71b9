"""What happened to files."""

from __future__ import annotations

import pytest

from tests.unit.context.work import calls_of, edited, ran, read
from ullage.context.entries import Entry
from ullage.context.summary.file_history import FileFact, FileHistory, file_history


def history(*steps: list[Entry]) -> dict[str, FileFact]:
    return {fact.path: fact for fact in file_history(calls_of(*steps))}


def test_reads_and_edits_are_counted():
    fact = history(read("a.py"), edited("a.py"), read("a.py"), edited("a.py"))["a.py"]
    assert (fact.reads, fact.edits, fact.changed, fact.created) == (2, 2, True, False)
    assert (fact.seq, fact.changed_seq) == (8, 8)


def test_changed_files_come_first_then_the_last_touched():
    facts = history(edited("old.py"), read("seen.py"), edited("new.py"), read("late.py"))
    assert list(facts) == ["new.py", "old.py", "late.py", "seen.py"]


def test_a_file_is_deleted_only_as_long_as_it_is():
    gone = history(edited("a.py", kind="created"), edited("a.py", kind="deleted"))["a.py"]
    back = history(edited("a.py", kind="deleted"), edited("a.py", kind="created"))["a.py"]
    assert (gone.deleted, back.deleted) == (True, False)
    assert gone.created


def test_what_the_last_edits_define_stands_newest_first_and_goes_with_the_file():
    steps = [edited("a.py", "", f"def read_{name}():\n    pass\n") for name in "pqrstu"]
    assert history(*steps)["a.py"].brought == ("read_u", "read_t", "read_s", "read_r")
    assert history(*steps, edited("a.py", kind="deleted"))["a.py"].brought == ()


@pytest.mark.parametrize("settled_after", range(1, 7))
def test_when_calls_are_let_go_of_changes_nothing(settled_after: int):
    whole, parted = FileHistory(), FileHistory()
    steps = [edited("a.py", "", f"def read_{name}():\n    pass\n") for name in "pqrstu"]
    for number, call in enumerate(calls_of(*steps), 1):
        whole.add(call)
        parted.add(call)
        if number == settled_after:
            parted.settle()
    assert parted.facts() == whole.facts()


def test_the_place_of_an_edit_is_its_first_new_line():
    fact = history(edited("a.py", "def f():\n    return 1\n", "def f():\n    # why\n    return 2\n"))["a.py"]
    assert fact.place == "# why"


def test_the_place_of_a_read_is_its_lines():
    assert history(read("a.py", offset=10, limit=5))["a.py"].place == "lines 10–14"
    assert history(read("a.py"))["a.py"].place == ""


def test_a_read_does_not_hide_where_the_file_was_edited():
    assert history(edited("a.py", "", "new line"), read("a.py", offset=1, limit=2))["a.py"].place == "new line"


def test_commands_touch_no_files():
    assert history(ran("rm a.py")) == {}

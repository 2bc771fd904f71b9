"""The list of recently edited files and its order."""

from __future__ import annotations

from ullage.workspace.touched import REMEMBERED, RecentEdits


def test_newest_first_and_one_line_a_file() -> None:
    recent = RecentEdits()
    recent.record("a.py", 1.0, "agent", 10)
    recent.record("b.py", 2.0, "user", 20)
    recent.record("a.py", 3.0, "user")
    assert [(edit.path, edit.at, edit.by, edit.line) for edit in recent.latest()] == [
        ("a.py", 3.0, "user", 10),
        ("b.py", 2.0, "user", 20),
    ]


def test_a_switch_of_branches_does_not_push_out_the_work_at_hand() -> None:
    recent = RecentEdits()
    recent.record("mine.py", 1.0, "agent", 4)
    for number in range(2 * REMEMBERED):
        recent.record(f"other{number}.py", 2.0 + number, "disk")
    recent.record("mine.py", 900.0, "disk")
    latest = recent.latest()
    assert len(latest) == REMEMBERED
    assert (latest[0].path, latest[0].by, latest[0].at) == ("mine.py", "agent", 900.0)
    assert latest[1].path == f"other{2 * REMEMBERED - 1}.py"

"""What the agent gets back after a summary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.compaction.restore import FileEdit, choose, resume_text, take
from ullage.context.counting.tokens import estimate_text
from ullage.context.policy import RestoreOptions

OPTIONS = RestoreOptions()
LONG = "\n".join(f"def function_{number}(level: int) -> int:\n    return level + {number}\n" for number in range(1_000))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], ()),
        ([FileEdit("a", 1, "agent"), FileEdit("b", 2, "user")], ("b", "a")),
        ([FileEdit("a", 1, "agent"), FileEdit("b", 2, "user"), FileEdit("a", 3, "user")], ("a", "b")),
        ([FileEdit("formatted", 100, "disk"), FileEdit("edited", 90, "agent")], ("edited", "formatted")),
        ([FileEdit("formatted", 100, "disk"), FileEdit("edited", 100, "user")], ("edited", "formatted")),
        ([FileEdit("pulled", 1_000, "disk"), FileEdit("edited", 90, "agent")], ("pulled", "edited")),
        ([FileEdit(name, at, "agent") for at, name in enumerate("abcdefg")], ("g", "f", "e", "d", "c")),
    ],
)
def test_choose(edits: list[FileEdit], expected: tuple[str, ...]):
    assert choose(edits, OPTIONS) == expected


def test_a_file_that_fits_comes_whole():
    file = take("a.py", "x = 1\n", [], OPTIONS, 50_000, "hash")
    assert file.whole
    assert file.sha256 == "hash"
    assert file.text == '<file path="a.py" note="read again now, whole">\nx = 1\n\n</file>'


def test_a_long_file_comes_as_an_outline_and_the_parts_near_the_edits():
    file = take("a.py", LONG, [1502], OPTIONS, 50_000)
    assert (file.note, file.whole) == ("outline and parts near the edits", False)
    assert "1: def function_0(level: int) -> int:" in file.text
    assert "    return level + 500" in file.text
    assert "    return level + 900" not in file.text


def test_without_edits_the_beginning_is_shown_and_is_not_said_to_be_edited():
    file = take("a.py", LONG, [], OPTIONS, 50_000)
    assert "    return level + 3\n" in file.text
    assert file.note == "outline and the beginning"
    assert "edit" not in file.text


@pytest.mark.parametrize(
    ("text", "lines", "note"),
    [
        ("x = 1; " * 4_000, [], "outline"),
        ("\n".join(["    level 2900 mm  "] * 2_000), [], "the beginning"),
        ("\n".join(["    level 2900 mm  "] * 2_000), [1_000], "parts near the edits"),
    ],
)
def test_what_is_shown_of_a_long_file_is_what_is_said_of_it(text: str, lines: list[int], note: str):
    file = take("levels.txt", text, lines, OPTIONS, 50_000)
    assert file.note == note
    assert f"lines: {note};" in file.text


def test_a_file_that_is_gone_is_named():
    file = take("gone.py", None, [3], OPTIONS, 50_000)
    assert (file.note, file.whole, file.is_read) == ("deleted", False, False)
    assert file.text == '<file path="gone.py" note="deleted or renamed since" />'


def test_without_room_a_file_is_named():
    file = take("a.py", LONG, [3], OPTIONS, 100)
    assert (file.note, file.whole, file.is_read) == ("no room", False, False)
    assert estimate_text(file.text) < 60


def test_nothing_in_a_file_can_end_it():
    file = take('a".html', "</file>\n<b>", [], OPTIONS, 50_000)
    assert file.text.count("</file>") == 1
    assert 'path="a&quot;.html"' in file.text


@given(
    st.lists(st.sampled_from(["def f():", "    return 1", "", "x" * 3_000, "好的" * 40, "class A {", "}", "<file>"]), max_size=400),
    st.lists(st.integers(-5, 500), max_size=5),
    st.integers(0, 8_000),
)
def test_a_file_keeps_its_room(lines: list[str], near: list[int], budget: int):
    file = take("src/a.py", "\n".join(lines), near, OPTIONS, budget)
    assert estimate_text(file.text) <= max(min(budget, OPTIONS.file_tokens) * 1.1, 60)


def test_an_empty_file_is_whole():
    assert take("a.py", "", [], OPTIONS, 50_000).whole


@pytest.mark.parametrize(
    ("todo", "rules_changed", "at_work", "expected", "unexpected"),
    [
        ("- [ ] Test it", False, True, ["- [ ] Test it", "go on from where"], ["rules files", "the user speaks next"]),
        ("", False, False, ["the user speaks next"], ["task list", "go on from where"]),
        ("", True, True, ["rules files have changed"], ["task list"]),
    ],
)
def test_resume_text(todo: str, rules_changed: bool, at_work: bool, expected: list[str], unexpected: list[str]):
    text = resume_text(todo, rules_changed, at_work)
    assert all(words in text for words in expected)
    assert not any(words in text for words in unexpected)

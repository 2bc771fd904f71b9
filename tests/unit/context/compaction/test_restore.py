"""What the agent gets back after a summary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, prompt, says, session
from ullage.context.compaction.evidence import FileEdit, last_edited
from ullage.context.compaction.restore import (
    INSTRUCTIONS_TOKENS,
    SEEN_RUN,
    SMALL_FILE,
    VIEW_RUN,
    Choosing,
    FileNow,
    LookedAt,
    looked_at,
    resume_text,
    take,
)
from ullage.context.compaction.seen import SeenText
from ullage.context.compaction_entries import RestoredFile, Summarised
from ullage.context.counting.tokens import estimate_text
from ullage.context.policy import RestoreOptions
from ullage.context.view.projection import Projection

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
    assert last_edited(edits, OPTIONS) == expected


def lines_of(text: str, near: int = 0, seen: str = "", in_view: str = "") -> LookedAt:
    """What was seen: `seen` with entry 1."""
    return looked_at(text, near, SeenText([(1, seen)], SEEN_RUN), SeenText([(1, in_view)], VIEW_RUN))


def taken(path: str, text: str, near: int = 0, *, seen: str = "", in_view: str = "", room: int = 50_000) -> RestoredFile:
    return take(path, text, lines_of(text, near, seen, in_view), OPTIONS, room, "hash")


def test_a_file_that_fits_comes_whole():
    file = taken("a.py", "x = 1\n")
    assert file.whole
    assert file.sha256 == "hash"
    assert file.text == '<file path="a.py" note="read again now, whole">\nx = 1\n\n</file>'


def test_of_a_long_file_come_the_part_near_the_edit_and_an_outline_of_the_rest():
    file = taken("a.py", LONG, 1502)
    assert (file.note, file.whole) == ("the parts seen and edited last and an outline", False)
    assert "1: def function_0(level: int) -> int:" in file.text
    assert "    return level + 500" in file.text
    assert "    return level + 520" not in file.text


def test_of_a_long_file_come_the_lines_that_were_seen_however_edits_have_moved_them():
    part = "\n".join(f"  {number}→{line}" for number, line in enumerate(LONG.split("\n")[1200:1260], 7))
    file = taken("a.py", LONG, seen=part)
    assert file.note == "the parts seen last and an outline"
    assert all(f"    return level + {number}\n" in file.text for number in range(400, 420))
    assert "return level + 390" not in file.text
    assert "1204: " not in file.text  # the outline is of the rest


def test_what_was_seen_last_comes_first_where_there_is_not_room_for_all():
    lines = LONG.split("\n")
    seen = SeenText([(1, LONG), (7, "\n".join(lines[2400:2430]))], SEEN_RUN)
    file = take("a.py", LONG, looked_at(LONG, 0, seen), OPTIONS, 2_000)
    assert "return level + 805\n" in file.text
    assert "return level + 3\n" in file.text
    assert "return level + 700\n" not in file.text


def test_a_file_of_which_little_was_seen_comes_whole_only_where_it_is_small():
    text = "\n".join(f"def function_{number}(level: int) -> int:\n    return level + {number}\n" for number in range(150))
    seen = "\n".join(text.split("\n")[:30])
    assert estimate_text(text) > SMALL_FILE
    assert not taken("a.py", text, seen=seen).whole
    assert taken("a.py", text, seen=text).whole
    assert taken("a.py", text[:2_000], seen=seen).whole


def test_lines_that_stand_in_view_are_not_shown_again():
    lines = LONG.split("\n")[:90]
    file = taken("a.py", "\n".join(lines), in_view="\n".join(lines[30:60]))
    assert (file.note, file.whole) == ("without what is in view already", False)
    assert "lines 1–30:\n" in file.text
    assert "lines 61–90:\n" in file.text
    assert "function_15" not in file.text
    assert taken("a.py", "\n".join(lines), in_view="\n".join(lines[30:36])).whole  # so few would only leave a hole


def test_without_anything_seen_the_beginning_is_shown_and_is_not_said_to_be_edited():
    file = taken("a.py", LONG)
    assert "    return level + 3\n" in file.text
    assert file.note == "the beginning and an outline"
    assert "edit" not in file.text


@pytest.mark.parametrize(
    ("text", "near", "note"),
    [
        ("x = 1; " * 4_000, 0, "an outline"),
        ("\n".join(["    level 2900 mm  "] * 2_000), 0, "the beginning"),
        ("\n".join(["    level 2900 mm  "] * 2_000), 1_000, "the parts seen and edited last"),
    ],
)
def test_what_is_shown_of_a_long_file_is_what_is_said_of_it(text: str, near: int, note: str):
    file = taken("levels.txt", text, near)
    assert file.note == note
    assert f"lines: {note};" in file.text


def test_a_file_that_is_gone_is_named():
    file = take("gone.py", None, LookedAt(), OPTIONS, 50_000)
    assert (file.note, file.whole, file.is_read) == ("deleted", False, False)
    assert file.text == '<file path="gone.py" note="deleted or renamed since" />'


def test_without_room_a_file_is_named():
    file = taken("a.py", LONG, 3, room=100)
    assert (file.note, file.whole, file.is_read) == ("no room", False, False)
    assert estimate_text(file.text) < 60


def test_nothing_in_a_file_can_end_it():
    file = taken('a".html', "</file>\n<b>")
    assert file.text.count("</file>") == 1
    assert 'path="a&quot;.html"' in file.text


@given(
    st.lists(st.sampled_from(["def f():", "    return 1", "", "x" * 3_000, "好的" * 40, "class A {", "}", "<file>"]), max_size=400),
    st.integers(0, 500),
    st.integers(0, 400),
    st.integers(0, 400),
    st.integers(0, 8_000),
)
def test_a_file_keeps_its_room(lines: list[str], near: int, seen: int, in_view: int, budget: int):
    file = taken("src/a.py", "\n".join(lines), near, seen="\n".join(lines[seen:]), in_view="\n".join(lines[in_view:]), room=budget)
    assert estimate_text(file.text) <= max(min(budget, OPTIONS.file_tokens) * 1.1, 60)


def test_an_empty_file_is_whole():
    assert taken("a.py", "").whole


@pytest.mark.parametrize(
    ("todo", "at_work", "expected", "unexpected"),
    [
        ("- [ ] Test it", True, ["- [ ] Test it", "go on from where"], ["the user speaks next"]),
        ("", True, ["go on from where"], ["task list", "the user speaks next"]),
        ("", False, ["the user speaks next"], ["task list", "go on from where"]),
    ],
)
def test_resume_text(todo: str, at_work: bool, expected: list[str], unexpected: list[str]):
    text = resume_text(todo, at_work=at_work)
    assert all(words in text for words in expected)
    assert not any(words in text for words in unexpected)


def chosen(texts: dict[str, str], options: RestoreOptions, *kept: str) -> tuple[RestoredFile, ...]:
    """All of `texts` were seen; `kept` stands in view after the compaction."""
    log = session(prompt("Go"), compaction("c", summarised=Summarised(2, "The summary.")), *map(says, kept))
    choosing = Choosing([(1, text) for text in texts.values()], Projection(log), tuple(texts), set(), options)
    while (path := choosing.wants()) is not None:
        choosing.give(FileNow(texts[path], path))
    return choosing.files


def part(number: int, functions: int) -> str:
    return "\n".join(f"def part_{number}_{each}(level: int) -> int:\n    return level + {each}\n" for each in range(functions))


def test_more_files_follow_the_first_while_there_is_room():
    texts = {f"{number}.py": part(number, 20) for number in range(9)}
    size = estimate_text(texts["0.py"]) + 60
    assert len(chosen(texts, RestoreOptions(files=5, more_files=2))) == 7
    assert len(chosen(texts, RestoreOptions(files=5, more_files=2, total_tokens=5 * size))) == 5
    assert [file.note for file in chosen(texts, RestoreOptions(files=2, total_tokens=size))] == ["whole", "no room"]


def test_a_long_file_leaves_something_for_the_others():
    texts = {"long.py": LONG, **{f"{number}.py": part(number, 8) for number in range(4)}}
    found = chosen(texts, RestoreOptions(file_tokens=12_000, total_tokens=6_000))
    assert [(file.path, file.is_read) for file in found] == [(path, True) for path in texts]
    assert sum(estimate_text(file.text) for file in found) <= 6_000


def test_a_file_that_stands_in_view_altogether_is_left_out():
    texts = {"a.py": part(1, 12), "b.py": part(2, 12)}
    assert [file.path for file in chosen(texts, OPTIONS, f"Here it is:\n{texts['a.py']}")] == ["b.py"]


def test_a_file_that_says_how_to_work_leaves_room_for_the_work():
    roomy = RestoreOptions(file_tokens=50_000)
    shown = {path: take(path, LONG, lines_of(LONG, seen=LONG), roomy, 50_000) for path in ("notes.md", ".agents/notes.md")}
    assert shown["notes.md"].whole
    assert not shown[".agents/notes.md"].whole
    assert estimate_text(shown[".agents/notes.md"].text) <= INSTRUCTIONS_TOKENS

"""Edits: one exact place, only over text that was seen, and help where it misses."""

from __future__ import annotations

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.workspace.text_file import text_sha256

CODE = "def level(tank):\n    if tank.empty:\n        return 0\n    return tank.depth\n\n\ndef room(tank):\n    return 0\n"


@pytest.fixture
async def read(workplace: Workplace) -> Workplace:
    workplace.put({"tank.py": CODE})
    await workplace.call("read_file", path="tank.py")
    return workplace


async def test_the_one_place_is_replaced(read: Workplace) -> None:
    outcome = await read.call("edit_file", path="tank.py", old_text="tank.depth", new_text="tank.depth - 1")
    after = CODE.replace("tank.depth", "tank.depth - 1")
    assert outcome.content == "Edited `tank.py` at line 4."
    assert read.text("tank.py") == after
    assert (outcome.touched[0].kind, outcome.touched[0].sha256, outcome.line) == ("edited", text_sha256(after), 4)
    assert outcome.diff is not None
    assert outcome.diff.old_text == "def level(tank):\n    if tank.empty:\n        return 0\n    return tank.depth\n\n\ndef room(tank):"


async def test_edits_follow_one_another_without_reading_again(read: Workplace) -> None:
    await read.call("edit_file", path="tank.py", old_text="tank.depth", new_text="tank.height")
    outcome = await read.call("edit_file", path="tank.py", old_text="tank.height", new_text="tank.width")
    assert not outcome.is_error
    assert "tank.width" in read.text("tank.py")


async def test_every_place_is_replaced_on_demand(read: Workplace) -> None:
    outcome = await read.call("edit_file", path="tank.py", old_text="return 0", new_text="return 1", replace_all=True)
    assert outcome.content == "Edited `tank.py` in 2 places."
    assert read.text("tank.py").count("return 1") == 2


@pytest.mark.parametrize(
    ("old_text", "words"),
    [
        ("return 0", "occurs 2 times in `tank.py` (lines 3, 8)"),
        (
            "  if tank.empty:\n    return 0",
            "same words are there with other spaces, indentation or line ends:\n     1\tdef level(tank):",
        ),
        ("     2\t    if tank.empty:", "It has line numbers in it"),
        (
            "return tank.dpeth",
            "The closest lines are:\n     2\t    if tank.empty:\n     3\t        return 0\n     4\t    return tank.depth",
        ),
        ("zzz qqq xxx", "Nothing similar is in it"),
        ("", "is empty"),
    ],
)
async def test_a_miss_says_what_is_there(read: Workplace, old_text: str, words: str) -> None:
    outcome = await read.call("edit_file", path="tank.py", old_text=old_text, new_text="x")
    assert outcome.is_error
    assert words in outcome.content
    assert read.text("tank.py") == CODE


@pytest.mark.parametrize("end", ["\r", "\r\n"])
async def test_a_file_keeps_its_line_ends(workplace: Workplace, end: str) -> None:
    (workplace.root / "old.txt").write_bytes(f"one{end}two{end}three{end}".encode())
    await workplace.call("read_file", path="old.txt")
    outcome = await workplace.call("edit_file", path="old.txt", old_text="one\ntwo", new_text="1\n2")
    assert not outcome.is_error
    assert (workplace.root / "old.txt").read_bytes() == f"1{end}2{end}three{end}".encode()


async def test_a_miss_in_a_file_that_mixes_its_line_ends_says_so(workplace: Workplace) -> None:
    (workplace.root / "mixed.txt").write_bytes(b"one\rtwo\nthree\r")
    await workplace.call("read_file", path="mixed.txt")
    outcome = await workplace.call("edit_file", path="mixed.txt", old_text="one\ntwo", new_text="1\n2")
    assert "other spaces, indentation or line ends:\n     1\tone\n     2\ttwo" in outcome.content


async def test_an_edit_that_changes_nothing_is_an_error(read: Workplace) -> None:
    assert (await read.call("edit_file", path="tank.py", old_text="tank", new_text="tank")).is_error


async def test_unseen_text_is_shown_instead_of_edited(workplace: Workplace) -> None:
    workplace.put({"tank.py": CODE})
    refused = await workplace.call("edit_file", path="tank.py", old_text="tank.depth", new_text="x")
    assert refused.is_error
    assert "has not been read yet" in refused.content
    assert "     4\t    return tank.depth" in refused.content
    assert not (await workplace.call("edit_file", path="tank.py", old_text="tank.depth", new_text="x")).is_error


async def test_stale_text_is_refused_with_the_text_now(read: Workplace) -> None:
    read.put({"tank.py": CODE + "# formatted\n"})
    refused = await read.call("edit_file", path="tank.py", old_text="tank.depth", new_text="x")
    assert refused.is_error
    assert "changed since you last saw it" in refused.content
    assert "# formatted" in refused.content
    assert read.text("tank.py") == CODE + "# formatted\n"


async def test_unsaved_text_is_edited_in_the_editor(workplace: Workplace) -> None:
    workplace.put({"tank.py": CODE})
    path = workplace.root / "tank.py"
    workplace.editor.documents[path] = CODE + "# typed\n"
    await workplace.call("read_file", path="tank.py")
    outcome = await workplace.call("edit_file", path="tank.py", old_text="# typed", new_text="# typed and edited")
    assert "stays unsaved in the editor" in outcome.content
    assert workplace.editor.documents[path] == CODE + "# typed and edited\n"
    assert workplace.text("tank.py") == CODE


async def test_what_the_user_types_meanwhile_wins(read: Workplace) -> None:
    path = read.root / "tank.py"
    read.editor.documents[path] = CODE
    read.editor.typed_meanwhile = True
    outcome = await read.call("edit_file", path="tank.py", old_text="tank.depth", new_text="x")
    assert outcome.is_error
    assert "Read it again" in outcome.content
    assert read.text("tank.py") == CODE


async def test_windows_line_ends_are_no_obstacle(workplace: Workplace) -> None:
    workplace.put({"a.txt": "a\r\nb\r\nc\r\n"})
    await workplace.call("read_file", path="a.txt")
    await workplace.call("edit_file", path="a.txt", old_text="a\r\nb", new_text="a\r\nB")
    assert (workplace.root / "a.txt").read_bytes() == b"a\r\nB\r\nc\r\n"


async def test_a_missing_file_is_named(workplace: Workplace) -> None:
    outcome = await workplace.call("edit_file", path="nope.py", old_text="a", new_text="b")
    assert outcome.is_error
    assert "`nope.py` does not exist" in outcome.content


async def test_text_that_the_editor_formatted_has_to_be_read_again(read: Workplace) -> None:
    read.editor.documents[read.root / "tank.py"] = CODE
    read.editor.saves, read.editor.formats_to = True, CODE.replace("tank.depth", "(tank.width)")
    outcome = await read.call("edit_file", path="tank.py", old_text="tank.depth", new_text="tank.width")
    assert "read it again before the next edit" in outcome.content
    assert outcome.diff is not None
    assert "(tank.width)" in outcome.diff.new_text
    refused = await read.call("edit_file", path="tank.py", old_text="tank.width", new_text="tank.height")
    assert refused.is_error
    assert "return (tank.width)" in refused.content


async def test_mixed_line_ends_are_matched_and_kept(workplace: Workplace) -> None:
    workplace.put({"a.txt": "one\r\ntwo\r\nthree\nfour\n"})
    await workplace.call("read_file", path="a.txt")
    await workplace.call("edit_file", path="a.txt", old_text="one\ntwo", new_text="1\n2")
    outcome = await workplace.call("edit_file", path="a.txt", old_text="three\nfour", new_text="3\n4")
    assert not outcome.is_error
    assert (workplace.root / "a.txt").read_bytes() == b"1\r\n2\r\n3\n4\n"

"""Reading files: numbers, parts, unsaved text, and what cannot be read."""

from __future__ import annotations

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.workspace.text_file import MAXIMUM_BYTES, text_sha256


async def test_lines_are_numbered_and_noted_as_seen(workplace: Workplace) -> None:
    workplace.put({"src/tank.py": "a\n\nb\n"})
    outcome = await workplace.call("read_file", path="src/tank.py")
    assert outcome.content == "     1\ta\n     2\t\n     3\tb"
    (touch,) = outcome.touched
    assert (touch.path, touch.kind, touch.sha256, touch.partial) == ("src/tank.py", "read", text_sha256("a\n\nb\n"), False)
    assert workplace.reads.standing("src/tank.py", touch.sha256) == "current"


async def test_a_part_says_how_to_go_on(workplace: Workplace) -> None:
    workplace.put({"a.py": "".join(f"line {number}\n" for number in range(1, 11))})
    outcome = await workplace.call("read_file", path="a.py", offset=4, limit=2)
    assert outcome.content == "     4\tline 4\n     5\tline 5\n(Lines 4 to 5 of 10. Go on with offset=6.)"
    assert outcome.touched[0].partial


async def test_a_long_file_stays_within_bounds(workplace: Workplace) -> None:
    workplace.put({"a.py": "x" * 5_000 + "\n" + "word " * 20_000 + "\n" + "short line of text\n" * 9_000})
    outcome = await workplace.call("read_file", path="a.py")
    assert len(outcome.content) < 25_000
    assert "[3,000 more characters]" in outcome.content
    assert "Go on with offset=" in outcome.content
    assert outcome.touched[0].partial


async def test_unsaved_text_wins_and_is_said_to(workplace: Workplace) -> None:
    workplace.put({"a.py": "disk\n"})
    workplace.editor.documents[workplace.root / "a.py"] = "typed\n"
    outcome = await workplace.call("read_file", path="a.py")
    assert outcome.content == "(Unsaved text from the editor; on disk it is different.)\n     1\ttyped"


async def test_an_empty_file_is_said_to_be(workplace: Workplace) -> None:
    workplace.put({"empty": ""})
    outcome = await workplace.call("read_file", path="empty")
    assert (outcome.content, outcome.is_error) == ("(The file is empty.)", False)


async def check_refusal(workplace: Workplace, path: str, words: str) -> None:
    outcome = await workplace.call("read_file", path=path)
    assert outcome.is_error
    assert words in outcome.content
    assert not outcome.touched


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing.py", "`missing.py` does not exist"),
        ("src/tnak.py", "Similar names there: `src/tank.py`"),
        ("src", "is a folder. Use list_files"),
        ("src/tank.py/x", "cannot be there"),
        ("../x", "outside the workspace"),
        (".ullage/ullage.db", "belongs to Ullage itself"),
        ("image.png", "is a binary file, not text"),
        ("huge.log", "is too large (10,000,001 bytes"),
    ],
)
async def test_what_cannot_be_read_says_why(workplace: Workplace, path: str, words: str) -> None:
    workplace.put({"src/tank.py": "a\n"})
    (workplace.root / "image.png").write_bytes(b"\x89PNG\0")
    with (workplace.root / "huge.log").open("wb") as file:
        file.truncate(MAXIMUM_BYTES + 1)
    await check_refusal(workplace, path, words)


async def test_an_offset_behind_the_end_says_where_the_end_is(workplace: Workplace) -> None:
    workplace.put({"a.py": "1\n2\n"})
    outcome = await workplace.call("read_file", path="a.py", offset=3)
    assert outcome.is_error
    assert "only 2 lines" in outcome.content

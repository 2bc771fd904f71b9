"""Where names stand, and to which files they belong."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import reply
from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.entries import Attachment, Entry, FileTouch, Notice, ToolReturned, TurnEnded, UserPrompt
from ullage.context.summary.mentions import files_of, mentions_in


def belonging(entry: Entry, input: dict[str, Json] | None = None) -> set[tuple[str, tuple[str, ...]]]:
    """Each name of an entry with the files of its mention."""
    return {(name, mention.files) for mention in mentions_in(entry, input or {}) for name in mention.words.names}


def called(**input: Json) -> Entry:
    return reply(ToolUse("t", "some_tool", input))


def returned(content: str, *paths: str) -> ToolReturned:
    return ToolReturned(
        "t", "some_tool", content, is_error=False, characters=len(content), touched=tuple(FileTouch(p, "read", "") for p in paths)
    )


@pytest.mark.parametrize(
    ("input", "files"),
    [
        ({"path": "src/a.py"}, ("src/a.py",)),
        ({"file_path": "/w/a.py", "old_string": "x"}, ("/w/a.py",)),
        ({"command": "cat src/a.py | wc"}, ("src/a.py",)),
        ({"cmd": "cd x && sed -n '1,20p' b.py c.py"}, ("b.py", "c.py")),
        ({"command": "cat > a.py <<EOF"}, ()),
        ({"command": "make test"}, ()),
        ({"path": 3}, ()),
        ({}, ()),
    ],
)
def test_the_files_that_a_call_is_about(input: dict[str, Json], files: tuple[str, ...]):
    assert files_of(input) == files


def test_what_a_call_writes_belongs_to_its_file():
    assert belonging(called(path="a.py", new_text="read_level")) == {("read_level", ("a.py",))}
    assert belonging(called(file_path="a.py", edits=[{"old_string": "tank_level", "new_string": "read_level"}])) == {
        ("tank_level", ("a.py",)),
        ("read_level", ("a.py",)),
    }


def test_what_a_call_returns_belongs_to_its_file():
    assert belonging(returned("read_level", "a.py")) == {("read_level", ("a.py",))}
    assert belonging(returned("read_level"), {"command": "cat b.py"}) == {("read_level", ("b.py",))}
    assert belonging(returned("read_level")) == {("read_level", ())}


def test_a_matched_line_belongs_to_the_file_that_it_was_found_in():
    found = belonging(returned("src/a.py:3: read_level\nsrc/b.py-4-tank_level\nno match"))
    assert ("read_level", ("src/a.py",)) in found
    assert ("tank_level", ("src/b.py",)) in found
    assert ("tank_level", ("src/a.py",)) not in found


def test_an_attachment_belongs_to_its_file():
    assert belonging(UserPrompt("p", "see maxLevel", (Attachment("a.py", "read_level"),))) == {("maxLevel", ()), ("read_level", ("a.py",))}


def test_what_is_written_counts_more_than_what_is_returned_and_a_crowd_less():
    def weight(entry: Entry) -> float:
        return next(mention.weight for mention in mentions_in(entry, {}) if "read_level" in mention.words.names)

    crowd = " ".join(f"name_{number}" for number in range(100))
    assert weight(UserPrompt("p", "read_level")) > weight(called(path="a.py", new_text="read_level")) > weight(returned("read_level"))
    assert weight(returned("read_level")) > weight(returned(f"read_level {crowd}"))


def test_what_says_nothing_is_left_out():
    assert mentions_in(reply(Text("Plain words.")), {}) == ()
    assert mentions_in(TurnEnded("end_turn"), {}) == ()
    assert mentions_in(Notice("rules", "useTabs"), {})[0].words.names == {"useTabs"}


@pytest.mark.parametrize("text", ["DB_PASSWORD=correctHorse_9", "api_key: '0123456789abcdef'", "NPM_TOKEN=a1b2c3d4e5f6"])
def test_a_secret_is_no_name(text: str):
    entries: list[Entry] = [returned(text), UserPrompt("p", text), called(path="a.py", new_text=text), called(command=f"export {text}")]
    secret = text.strip("'").replace("'", "").replace(": ", "=").partition("=")[2]
    assert all(secret not in {name for name, _ in belonging(entry)} for entry in entries)

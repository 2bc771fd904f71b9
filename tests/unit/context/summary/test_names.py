"""What one entry mentions, and how likely the names and files are needed again."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import reply, says
from tests.unit.context.work import asked, edited, ran, read, work
from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.entries import Attachment, Entry, FileTouch, Notice, ToolReturned, TurnEnded, UserPrompt
from ullage.context.summary.facts import Reading
from ullage.context.summary.names import NamesInUse, files_of, mentions_in, names_in_use


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


def test_what_a_call_asks_for_is_named_as_well():
    assert belonging(called(command="make", arguments={"only": ["read_level"]})) == {("read_level", ())}
    assert belonging(called(path="a.py", new_text="", pattern="read_level")) == {("read_level", ("a.py",))}


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


def found(*steps: Entry | list[Entry]) -> NamesInUse:
    return names_in_use(Reading().of(work(*steps)))


def ranked(weights: NamesInUse) -> list[str]:
    return sorted(weights.names, key=lambda name: -weights.names[name])


def test_the_user_counts_more_than_output_and_now_more_than_then():
    weights = found(says("oldName"), *(says("nothing") for _ in range(300)), ran("ls", "fromOutput"), asked("look at fromUser"))
    assert ranked(weights) == ["fromUser", "fromOutput", "oldName"]


def test_what_was_said_long_ago_is_not_among_them():
    assert "oldName" not in found(says("oldName"), *(says("nothing") for _ in range(500))).names


def test_a_file_raises_the_names_that_belong_to_it():
    weights = found(ran("ls", "someName"), read("a.py", "itsName"), edited("a.py"), edited("a.py"))
    assert ranked(weights)[0] == "itsName"
    assert set(weights.belonging["itsName"]) == {"a.py"}
    assert "someName" not in weights.belonging


def test_a_file_is_one_however_its_path_begins():
    weights = found(read("/home/me/work/src/a.py"), says("In src/a.py and a.py"), edited("work/src/a.py"))
    assert set(weights.files) == {"src/a.py"}
    assert weights.paths["src/a.py"] == "src/a.py"


def test_a_file_without_a_folder_is_its_own_where_it_was_worked_on():
    weights = found(edited("a.py", "", "readLevel"), edited("src/a.py", "", "tank_level"))
    assert set(weights.files) == {"a.py", "src/a.py"}
    assert set(weights.belonging["readLevel"]) == {"a.py"}


def test_paths_are_shown_from_the_root_of_the_work_where_that_can_be_told():
    weights = found(says("See /home/me/work/src/a.py and /home/me/work/lib/b.py"), read("src/a.py"), says("/etc/c.conf"))
    assert weights.paths == {"src/a.py": "src/a.py", "lib/b.py": "lib/b.py", "etc/c.conf": "/etc/c.conf"}


def test_nothing_was_seen():
    assert not found().names

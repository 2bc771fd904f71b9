"""Names and files that may be needed again."""

from __future__ import annotations

from tests.unit.context.logs import says
from tests.unit.context.work import asked, edited, ran, read, work
from ullage.context.entries import Entry
from ullage.context.summary.names import NamesInUse, names_in_use
from ullage.context.summary.reading import Reading


def found(*steps: Entry | list[Entry]) -> NamesInUse:
    return names_in_use(Reading().of(work(*steps)))


def ranked(weights: NamesInUse) -> list[str]:
    return sorted(weights.names, key=lambda name: -weights.names[name])


def test_where_a_name_was_seen_last():
    assert found(says("readLevel"), says("nothing"), ran("ls", "readLevel readLevel"), says("on")).last_seqs == {"readLevel": 4}


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

"""Which files and names there is room for, and where each name stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import says
from tests.unit.context.work import asked, calls_of, edited, ran, read, work
from ullage.context.entries import Entry
from ullage.context.summary.facts import Reading
from ullage.context.summary.file_history import file_history
from ullage.context.summary.names import OWN_ENTRIES, names_in_use
from ullage.context.summary.sections import FILES_WITH_NAMES, IDS, NAMES_AT_A_FILE, NAMES_ELSEWHERE, FilesWithNames, Focus, places

ROOM = 10_000


def placed(*steps: Entry | list[Entry], standing: str = "", focus: str = "", characters: int = ROOM) -> FilesWithNames:
    found = names_in_use(Reading().of(work(*steps)))
    return places(found, file_history(calls_of(*steps)), standing, Focus(focus), characters)


def names_at(found: FilesWithNames) -> dict[str, set[str]]:
    return {place.path: set(place.names) for place in found.places}


def test_a_name_stands_at_the_file_that_it_belongs_to():
    found = placed(edited("src/a.py", "", "readLevel"), says("otherName"))
    assert names_at(found) == {"src/a.py": {"readLevel"}}
    assert found.elsewhere == ("otherName",)


def test_a_name_that_was_only_seen_needs_no_place_and_a_hash_does():
    found = placed(read("src/b.py", "tank_level"), ran("git log", "0629d16 feat: read levelOfTank"))
    assert names_at(found) == {"src/b.py": set()}
    assert (found.elsewhere, found.ids) == ((), ("0629d16",))


def test_a_name_that_was_written_long_ago_needs_none_either():
    found = placed(edited("src/a.py", "", "readLevel"), *(says("nothing") for _ in range(2 * OWN_ENTRIES)))
    assert names_at(found) == {"src/a.py": set()}


def test_of_many_names_a_few_stand_at_each_file():
    names = (" ".join(f"readLevel{letter}{number}" for number in range(50)) for letter in "abcdefghijklmnop")
    found = placed(*(edited(f"src/{text[9]}.py", "", text) for text in names))
    assert max(len(place.names) for place in found.places) == NAMES_AT_A_FILE
    assert sum(bool(place.names) for place in found.places) == FILES_WITH_NAMES


def test_a_file_that_only_stood_in_a_listing_long_ago_is_no_file_of_this_work():
    found = placed(ran("make", "vendor/lib/x.py src/b.py"), *(says("nothing") for _ in range(2 * OWN_ENTRIES)), edited("src/a.py"))
    assert set(names_at(found)) == {"src/a.py", "src/b.py"}


def test_a_name_of_many_files_stands_at_none():
    files = "abcdefgh"
    found = placed(*(edited(f"{letter}.py", "", f"readLevel level_of_{letter}") for letter in files))
    assert names_at(found) == {f"{letter}.py": {f"level_of_{letter}"} for letter in files}
    assert found.elsewhere == ("readLevel",)


def test_first_stands_what_the_edits_of_a_file_define():
    used = " ".join(f"level_of_{number}" for number in range(9))
    found = placed(edited("src/a.py", "", f"def read_datum(tank):\n    return {used}\n\n\nclass DatumPlate:\n    pass\n"))
    assert found.places[0].names[:2] == ("read_datum", "DatumPlate")


def test_folders_of_one_file_each_take_room_too():
    folders = [ran("cat src/very/long/folder/of/tank", f"src/very/long/folder/of/tank{number}/level.py") for number in range(40)]
    found = placed(*folders, characters=800)
    assert 0 < sum(len(place.path) for place in found.places) < 1_000


def test_it_stands_again_at_another_file_that_is_worked_on():
    found = placed(edited("a.py", "", "readLevel"), edited("b.py", "", "readLevel"))
    assert names_at(found) == {"a.py": {"readLevel"}, "b.py": {"readLevel"}}


def test_what_the_reader_has_before_them_needs_no_room():
    found = placed(says("otherName in gauge.py and readLevel"), standing="otherName, gauge.py")
    assert found.elsewhere == ("readLevel",)
    assert found.places == ()


def test_but_it_is_said_to_which_file_it_belongs():
    assert names_at(placed(edited("a.py", "", "readLevel"), standing="readLevel")) == {"a.py": {"readLevel"}}


def test_changed_files_come_first_and_always():
    found = placed(edited("old.py"), read("seen.py"), edited("new.py"), characters=0)
    assert [place.path for place in found.places] == ["new.py", "old.py"]


def test_two_files_with_the_same_end_are_both_there():
    found = placed(edited("one/src/a.py"), edited("two/src/a.py"))
    assert {place.path for place in found.places} == {"one/src/a.py", "two/src/a.py"}


def test_thousands_of_changed_files_are_counted():
    found = placed(*(edited(f"src/module_{number}.py") for number in range(3_000)))
    assert len(found.places) + found.changed_left_out == 3_000
    assert found.changed_left_out > 0


def test_what_the_focus_speaks_of_comes_first():
    crowd = [ran("ls", f"name_{number} dir/file_{number}.py") for number in range(100)]
    assert "pumpPower" not in placed(ran("ls", "pumpPower src/pump.py"), *crowd, characters=200).elsewhere
    favoured = placed(ran("ls", "pumpPower src/pump.py"), *crowd, focus="the pump", characters=200)
    assert "pumpPower" in favoured.elsewhere
    assert "src/pump.py" in names_at(favoured)


def test_of_files_that_were_only_listed_those_beside_the_ones_that_are_worked_on_come_first():
    listed = ran("ls", " ".join(f"{folder}/part_{number}.py" for number in range(40) for folder in ("docs", "src", "vendor")))
    found = placed(listed, edited("src/tank.py"), characters=400)
    assert {place.path.partition("/")[0] for place in found.places} == {"src"}
    assert len(found.places) > 10


names = st.sampled_from([f"{word}_{number}" for word in ("tank", "gauge", "valve") for number in range(30)])
files = st.sampled_from([f"{folder}/{name}.py" for folder in ("src", "lib") for name in "abcdef"])


def written(path: str, name: str) -> list[Entry]:
    return edited(path, "", name)


def seen(path: str, name: str) -> list[Entry]:
    return read(path, name)


def told(name: str) -> list[Entry]:
    return [asked(f"See {name}")]


def matched(path: str, name: str) -> list[Entry]:
    return ran("grep", f"{path}:3: {name}")


steps = st.one_of(st.builds(written, files, names), st.builds(seen, files, names), st.builds(told, names), st.builds(matched, files, names))


@given(st.lists(steps, max_size=40), st.integers(0, 1_000))
def test_the_room_is_kept_and_nothing_stands_twice_at_one_place(history: list[list[Entry]], characters: int):
    found = placed(*history, characters=characters)
    required = sum(len(place.path) for place in found.places if place.fact is not None and place.fact.changed)
    assert sum(len(place.path) for place in found.places) <= max(characters, 0) + required + 20 * len(found.places)
    assert sum(len(place.names) for place in found.places) <= NAMES_AT_A_FILE * FILES_WITH_NAMES
    assert len(found.elsewhere) <= NAMES_ELSEWHERE
    assert len(found.ids) <= IDS
    paths = [place.path for place in found.places]
    assert len(paths) == len(set(paths))
    for place in found.places:
        assert len(place.names) == len(set(place.names))

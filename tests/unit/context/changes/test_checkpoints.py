"""Going back gives every file what it held before its first change since, whatever happened to it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Uncovered
from ullage.context.changes.checkpoints import FORWARD, checkpoints, way_back
from ullage.context.entries import Entry, Logged, ToolReturned, UserPrompt

contents = st.sampled_from([None, *(FileVersion(f"{number:064x}", number) for number in range(4))])


def logged(*entries: Entry) -> list[Logged]:
    return [Logged(number, float(number), entry) for number, entry in enumerate(entries, 1)]


def returned(*files: ChangedFile, uncovered: tuple[Uncovered, ...] = ()) -> ToolReturned:
    return ToolReturned("t", "bash", "x", False, 1, changed=files, uncovered=uncovered)


A, B = FileVersion("a" * 64, 1), FileVersion("b" * 64, 1)


def test_a_turn_that_changed_no_file_has_no_checkpoint() -> None:
    entries = logged(UserPrompt("p1", "Look"), returned(), UserPrompt("p2", "Change"), returned(ChangedFile("a", A, B)))
    assert [(each.id, each.title, each.at, each.files) for each in checkpoints(entries)] == [("p2", "Change", 3.0, 1)]
    assert way_back(entries, "p1") is None


def test_a_prompt_that_joins_a_turn_is_part_of_it() -> None:
    entries = logged(
        UserPrompt("p1", "Change"),
        returned(ChangedFile("a", A, B)),
        UserPrompt("p2", "More", steering=True),
        returned(ChangedFile("b", None, A)),
    )
    assert [(each.id, each.files) for each in checkpoints(entries)] == [("p1", 2)]


def test_a_call_that_was_cut_off_counts_for_its_turn() -> None:
    entries = logged(UserPrompt("p1", "Change"), FilesChanged((ChangedFile("a", A, None),), "t1", (Uncovered("b", "a link"),)))
    way = way_back(entries, "p1")
    assert way is not None
    assert [(each.path, each.then, each.known) for each in way.files] == [("a", A, None)]
    assert [each.path for each in way.uncovered] == ["b"]


def test_after_going_back_there_is_a_way_forward_again() -> None:
    entries = logged(
        UserPrompt("p1", "Change"), returned(ChangedFile("a", A, B)), FilesChanged((ChangedFile("a", B, A),), None, gone_back_to="p1")
    )
    forward = checkpoints(entries)[-1]
    assert (forward.id, forward.title, forward.forward) == (f"{FORWARD}3", "Change", True)
    way = way_back(entries, forward.id)
    assert way is not None
    assert [(each.then, each.known) for each in way.files] == [(B, A)]
    assert len(checkpoints(logged(UserPrompt("p1", "Change"), FilesChanged((ChangedFile("a", B, A),), None)))) == 0


@given(st.lists(st.tuples(st.booleans(), st.dictionaries(st.sampled_from("abc"), contents, min_size=1), st.booleans()), min_size=1))
def test_the_way_back_leads_to_what_there_was(steps: list[tuple[bool, dict[str, FileVersion | None], bool]]) -> None:
    """Turns change files, and the user does in between. Files that the agent touched since come back as they were before it did."""
    disk: dict[str, FileVersion | None] = dict.fromkeys("abc")
    entries: list[Entry] = []
    first_touched: dict[str, dict[str, FileVersion | None]] = {}
    for number, (by_agent, contents, new_turn) in enumerate(steps):
        if new_turn or number == 0:
            entries.append(UserPrompt(f"p{number}", "x"))
            first_touched[f"p{number}"] = {}
        if by_agent:
            entries.append(returned(*(ChangedFile(path, disk[path], now) for path, now in contents.items())))
            for touched in first_touched.values():
                for path in contents:
                    touched.setdefault(path, disk[path])
        disk |= contents
    for checkpoint in checkpoints(logged(*entries)):
        way = way_back(logged(*entries), checkpoint.id)
        assert way is not None
        assert {each.path: each.then for each in way.files} == first_touched[checkpoint.id]

"""The fold that tells which changes of the agent are open."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Reviewed, Uncovered
from ullage.context.changes.review import CarriedText, Review, SettledChange, settled
from ullage.context.entries import Entry, Logged, ToolReturned, UserPrompt

TEXTS: dict[str, str] = {}


def version(text: str | None) -> FileVersion | None:
    if text is None:
        return None
    TEXTS[sha256(text.encode()).hexdigest()] = text
    return FileVersion(sha256(text.encode()).hexdigest(), len(text))


def text_of(of: FileVersion) -> str | None:
    return TEXTS.get(of.sha256)


def changed(before: str | None, after: str | None, path: str = "a.py", tool_use_id: str | None = "toolu_1") -> FilesChanged:
    return FilesChanged((ChangedFile(path, version(before), version(after)),), tool_use_id)


def went_back(before: str | None, after: str | None) -> FilesChanged:
    return replace(changed(before, after, tool_use_id=None), gone_back_to="p1")


def review_of(*entries: Entry) -> Review:
    review = Review()
    for seq, entry in enumerate(entries, 1):
        review.add(Logged(seq, float(seq), entry))
    return review


def open_of(*entries: Entry) -> SettledChange:
    return settled(review_of(*entries).open["a.py"], text_of)


def test_changes_that_follow_each_other_are_one() -> None:
    assert open_of(changed("1\n", "2\n"), changed("2\n", "3\n")) == SettledChange(version("1\n"), version("3\n"))


def test_a_change_that_is_taken_back_by_the_agent_is_none() -> None:
    assert not review_of(changed("1\n", "2\n"), changed("2\n", "1\n")).open
    assert not review_of(changed(None, "2\n"), changed("2\n", None)).open


def test_what_a_call_changed_stands_in_its_result() -> None:
    result = ToolReturned("toolu_1", "edit_file", "done", False, 4, changed=changed("1\n", "2\n").files)
    assert open_of(result) == SettledChange(version("1\n"), version("2\n"))


def test_what_the_user_edited_in_between_is_theirs() -> None:
    first = changed("a\nb\nc\nd\n", "A\nb\nc\nd\n")
    second = changed("A\nb\nc\nmine\n", "A\nb\nC\nmine\n")
    assert open_of(first, second) == SettledChange(CarriedText("a\nb\nc\nmine\n"), version("A\nb\nC\nmine\n"))


def test_a_hunk_in_which_the_user_edited_is_theirs_from_then_on() -> None:
    first = changed("a\nb\nc\nd\n", "A\nb\nc\nD\n")
    second = changed("mine\nb\nc\nD\n", "mine\nb\nC\nD\n")
    assert open_of(first, second) == SettledChange(CarriedText("mine\nb\nc\nd\n"), version("mine\nb\nC\nD\n"))


def test_after_a_review_everything_begins_with_what_it_says() -> None:
    first = changed("1\n", "2\n")
    kept = Reviewed("a.py", version("2\n"), version("2\n"), "kept", 1)
    assert not review_of(first, kept).open
    assert open_of(first, kept, changed("2\n", "3\n")) == SettledChange(version("2\n"), version("3\n"))
    undone = Reviewed("a.py", version("1\n"), version("1\n2\n"), "undone", 1)
    assert open_of(first, undone) == SettledChange(version("1\n"), version("1\n2\n"))


def test_going_back_to_the_baseline_closes_the_change_and_going_forward_opens_it_again() -> None:
    entries = changed("1\n", "2\n"), went_back("2\n", "1\n")
    assert not review_of(*entries).open
    assert open_of(*entries, went_back("1\n", "2\n")) == SettledChange(version("1\n"), version("2\n"))


def test_going_back_to_a_turn_in_between_leaves_what_came_before_it() -> None:
    first, second = changed("a\nb\nc\n", "A\nb\nc\n"), changed("A\nb\nc\n", "A\nb\nC\n")
    back = went_back("A\nb\nC\n", "A\nb\nc\n")
    assert open_of(first, second, back) == SettledChange(version("a\nb\nc\n"), version("A\nb\nc\n"))
    forward = went_back("A\nb\nc\n", "A\nb\nC\n")
    assert open_of(first, second, back, forward) == SettledChange(version("a\nb\nc\n"), version("A\nb\nC\n"))


def test_what_was_kept_is_not_opened_by_going_back() -> None:
    kept = Reviewed("a.py", version("2\n"), version("2\n"), "kept", 1)
    assert not review_of(changed("1\n", "2\n"), kept, went_back("2\n", "1\n")).open
    assert not review_of(changed("1\n", "2\n"), kept, went_back("2\n", "1\n"), went_back("1\n", "2\n")).open


def test_what_the_user_changed_through_ullage_is_no_change_of_the_agent() -> None:
    assert not review_of(changed("1\n", "2\n", tool_use_id=None)).open
    assert not review_of(changed("1\n", "2\n"), changed("2\n", "1\n", tool_use_id=None)).open


def test_without_the_texts_what_the_user_had_is_accepted() -> None:
    gone = FileVersion("0" * 64, 3)
    entries = changed("1\n", "2\n"), FilesChanged((ChangedFile("a.py", gone, version("3\n")),), "toolu_2")
    assert open_of(*entries) == SettledChange(gone, version("3\n"))


def test_a_file_that_the_user_deleted_and_the_agent_made_anew_is_a_new_one() -> None:
    assert open_of(changed("1\n", "2\n"), changed(None, "3\n")) == SettledChange(None, version("3\n"))


def test_of_a_turn_the_first_version_and_the_last_count() -> None:
    steering = UserPrompt("p2", "and that", steering=True)
    one = FilesChanged(changed("1\n", "2\n").files, "toolu_1", (Uncovered("big.bin", "larger than 5 MB"),))
    review = review_of(UserPrompt("p1", "do it"), one, steering, changed("2\n", "3\n"), UserPrompt("p3", "more"), changed("3\n", "4\n"))
    first, second = review.turns.values()
    assert (first.turn_id, first.title, first.at) == ("p1", "do it", 1.0)
    assert first.files == {"a.py": ChangedFile("a.py", version("1\n"), version("3\n"))}
    assert list(first.uncovered) == ["big.bin"]
    assert second.turn_id == "p3"


@given(st.lists(st.text(alphabet="ab\n", max_size=8), min_size=2, max_size=6))
def test_without_edits_of_the_user_the_first_text_is_the_baseline(texts: list[str]) -> None:
    entries = [changed(before, after) for before, after in pairwise(texts)]
    review = review_of(*entries)
    if texts[0] == texts[-1]:
        assert not review.open
    else:
        assert settled(review.open["a.py"], text_of).agents == version(texts[-1])


@given(st.lists(st.tuples(st.text(alphabet="ab\n", max_size=8), st.text(alphabet="ab\n", max_size=8)), min_size=1, max_size=5))
def test_the_agents_version_is_always_what_it_left_last(edits: list[tuple[str, str]]) -> None:
    review = review_of(*(changed(before, after) for before, after in edits))
    if "a.py" in review.open:
        assert settled(review.open["a.py"], text_of).agents == version(edits[-1][1])

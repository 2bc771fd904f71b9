"""Comparing and joining texts by lines."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.changes.merging import differences, joined, lines_of, merged, regions

LINE = st.sampled_from(["a\n", "b\n", "c\n", "\n", "    return\n", "d\r\n"])
TEXTS = st.lists(LINE, max_size=12).flatmap(lambda lines: st.sampled_from(["", "end", "a"]).map(lambda end: "".join([*lines, end])))


def merge(base: str, ours: str, theirs: str, *, ours_win: bool = True) -> str:
    texts = lines_of(base), lines_of(ours), lines_of(theirs)
    wins = ("ours", "conflict") if ours_win else ("ours",)
    return merged(*texts, regions(*texts), lambda region: region.by in wins)


@given(st.text(alphabet="ab\r\n\x0b\x85\u2028"))
def test_lines_are_the_whole_text(text: str) -> None:
    assert joined([lines_of(text)]) == text
    assert all("\n" not in line[:-1] for line in lines_of(text))


def test_lines_end_where_an_editor_ends_them() -> None:
    assert lines_of("a\r\nb\rc\nd\x0be\u2028f") == ("a\r\n", "b\r", "c\n", "d\x0be\u2028f")
    assert joined([["a"], ["b"]]) == "a\nb"


@given(TEXTS, TEXTS)
def test_differences_are_all_that_differs(old: str, new: str) -> None:
    before, after = lines_of(old), lines_of(new)
    found = differences(before, after)
    pieces: list[tuple[str, ...]] = []
    at = 0
    for change in found:
        pieces += [before[at : change.old.start], after[change.new.start : change.new.end]]
        at = change.old.end
    assert "".join("".join(piece) for piece in [*pieces, before[at:]]) == new
    assert all(one.old.end < other.old.start and one.new.end < other.new.start for one, other in pairwise(found))


@given(TEXTS, TEXTS)
def test_merging_with_an_unchanged_side_gives_the_other(base: str, changed: str) -> None:
    assert merge(base, changed, base) == changed
    assert merge(base, base, changed) == changed
    assert merge(base, changed, changed) == changed


@given(TEXTS, TEXTS, TEXTS)
def test_the_sides_are_equal_in_a_merge_without_conflicts(base: str, ours: str, theirs: str) -> None:
    texts = lines_of(base), lines_of(ours), lines_of(theirs)
    if all(region.by != "conflict" for region in regions(*texts)):
        assert merge(base, ours, theirs) == merge(base, ours, theirs, ours_win=False)


@given(TEXTS, TEXTS, TEXTS)
def test_regions_are_in_order_and_never_overlap(base: str, ours: str, theirs: str) -> None:
    found = regions(lines_of(base), lines_of(ours), lines_of(theirs))
    for one, other in pairwise(found):
        assert one.base.end <= other.base.start
        assert one.ours.end <= other.ours.start
        assert one.theirs.end <= other.theirs.start


def test_changes_in_different_places_are_both_taken() -> None:
    assert merge("1\n2\n3\n4\n5\n", "1\ntwo\n3\n4\n5\n", "1\n2\n3\n4\nfive\n") == "1\ntwo\n3\n4\nfive\n"


def test_a_line_that_was_put_beside_a_change_is_apart_from_it() -> None:
    found = regions(lines_of("1\n2\n3\n"), lines_of("1\ntwo\n3\n"), lines_of("1\n2\nmore\n3\n"))
    assert [region.by for region in found] == ["ours", "theirs"]


def test_two_insertions_at_one_place_are_in_conflict() -> None:
    assert [region.by for region in regions(("1\n",), ("1\n", "2\n"), ("1\n", "3\n"))] == ["conflict"]


def test_no_two_lines_become_one() -> None:
    assert merge("a\nb\n", "a", "a\nb\nc\n") == "a\nc\n"


def test_large_texts_take_no_longer_than_to_read_them() -> None:
    """Blank lines are what difflib alone is slow with: here it would take minutes."""
    before = [line for index in range(30_000) for line in (f"line {index}\n", "\n")]
    after = [line.replace("line 7", "row 7") for line in before]
    began = perf_counter()
    found = differences(before, after)
    assert perf_counter() - began < 5
    assert sum(len(change.old) for change in found) >= sum(line.startswith("line 7") for line in before)
    assert differences(["x\n"] * 20_000, ["y\n"] * 20_000)

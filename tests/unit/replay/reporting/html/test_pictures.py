"""What the pictures are drawn from: fewer points without losing a peak, round marks, labels that do not cover each other."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.made_up_runs import many, run
from ullage.replay.measuring.comparison import choose, compared
from ullage.replay.reporting.html.bars import scatter
from ullage.replay.reporting.html.markup import marks, short
from ullage.replay.reporting.html.sessions import curves, points_for, thinned


@given(st.lists(st.integers(0, 10**6), max_size=400), st.integers(2, 100))
def test_thinning_keeps_the_extremes_and_the_order(values: list[int], points: int):
    kept = thinned(values, points)
    assert len(kept) <= max(points, 2)
    assert [place for place, _ in kept] == sorted({place for place, _ in kept})
    assert all(values[place] == value for place, value in kept)
    if values:
        shown = [value for _, value in kept]
        assert (min(shown), max(shown)) == (min(values), max(values))


@given(st.floats(0.001, 10**9), st.integers(2, 8), st.floats(0, 0.99))
def test_marks_are_few_and_within(largest: float, about: int, share: float):
    smallest = largest * share
    found = marks(largest, about, smallest)
    assert len(found) <= about * 2 + 1
    assert all(smallest - largest * 1e-6 <= value <= largest * (1 + 1e-6) for value in found)


def test_short_numbers():
    assert [short(value) for value in (0, 7, 950, 1_000, 12_345, 1_500_000, 10**9)] == ["0", "7", "950", "1K", "12.3K", "1.5M", "1,000M"]
    edges = (999.4, 999.7, 9_995, 999_499, 999_999, 999_600_000)
    assert [short(value) for value in edges] == ["999", "1K", "9.99K", "999K", "1M", "1,000M"]


def test_curves_of_many_runs_have_few_points_and_of_few_runs_many():
    assert points_for(1_000) < points_for(100) <= points_for(1)


def test_upkeep_is_told_but_not_marked():
    made = run("three-layer", "s", 100)
    upkeep = replace(made, compactions=tuple(replace(each, upkeep=True) for each in made.compactions))
    assert 'class="summary"' in curves([made], 100, "s1")
    drawn = curves([upkeep], 100, "s1")
    assert 'class="summary"' not in drawn
    assert f"0 compactions, upkeep before {len(made.compactions)} calls" in drawn


def test_a_context_far_beyond_the_window_leaves_the_others_their_room():
    endless, usual = run("none", "s", 1_000, line=10**9), run("codex", "s", 1_000)
    assert max(point.context_tokens for point in endless.requests) > 1_000_000
    drawn = curves([endless, usual], 100, "s1")
    assert "requests too long for the window" in drawn
    assert ">200K<" in drawn
    assert ">1M<" not in drawn


def test_names_beside_dots_do_not_cover_each_other():
    _, runs = many(3)
    comparison = compared(runs)
    picture = scatter(comparison, choose(comparison))
    assert picture is not None
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="of-\w+">([^<]+)<', picture)
    boxes = [(float(x), float(y), float(x) + 6 * len(name), float(y) + 12) for x, y, name in labels]
    assert len(boxes) > 5
    for index, (left, top, right, bottom) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom in boxes[:index]:
            assert left >= other_right or other_left >= right or top >= other_bottom or other_top >= bottom

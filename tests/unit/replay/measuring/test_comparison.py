"""Which policy is said to cost least, to keep most and to be the one to take; and which are ruled out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.made_up_runs import run
from ullage.context.blocks import Usage
from ullage.recorded.retention import KindRetention, by_kind
from ullage.replay.measuring.comparison import OPTIMUM, choose, compared, keeps_more
from ullage.replay.measuring.runs import RequestPoint, Retained, Run
from ullage.replay.pricing.cost import Dollars


def outcome(policy: str, dollars: float, gone: int, session: str = "s", **others: Any) -> Run:
    """A run that cost so much in a hundred requests, and after whose compactions so many needed facts were gone."""
    kept = Retained(1, {**by_kind(()), "path": KindRetention(in_view=10_000 - gone, lost=gone)})
    point = RequestPoint(1, 0.0, 50_000, Usage(50_000, 100), True)
    made = Run(policy, session, (point,) * 100, usage=Usage(50_000, 100), dollars=Dollars(input=dollars), retained=kept)
    return replace(made, **others)


@pytest.mark.parametrize(
    ("runs", "cheapest", "keeps_most", "best", "front"),
    [
        ([("a", 1, 900), ("b", 2, 100), ("c", 9, 0)], "a", "c", "b", "abc"),
        ([("a", 1, 900), ("b", 8, 800), ("c", 9, 0)], "a", "c", "c", "abc"),
        ([("a", 1, 900), ("b", 2, 950), ("c", 9, 0)], "a", "c", "c", "ac"),
        ([("a", 1, 700), ("b", 2, 950), ("c", 9, 0)], "a", "c", "a", "ac"),
        ([("a", 1, 100), ("b", 2, 950)], "a", "a", "a", "a"),
        ([("a", 1, 100), ("b", 1, 50)], "b", "b", "b", "b"),
        ([("a", 1, 100), (OPTIMUM, 0.5, 0)], "a", "a", "a", "a"),
    ],
    ids=[
        "between",
        "the dear end",
        "of two the dearer",
        "of two the cheaper",
        "one beats all",
        "as dear but keeps more",
        "the optimum is no choice",
    ],
)
def test_what_is_chosen(runs: list[tuple[str, float, int]], cheapest: str, keeps_most: str, best: str | None, front: str):
    choice = choose(compared(outcome(*each) for each in runs))
    assert choice.cheapest is not None
    assert choice.keeps_most is not None
    assert (choice.cheapest.policy, choice.keeps_most.policy) == (cheapest, keeps_most)
    assert (choice.best.policy if choice.best else None) == best
    assert [each.policy for each in choice.front] == list(front)


def test_the_choice_does_not_depend_on_who_else_stands_for_it():
    two = [outcome("a", 100, 50), outcome("b", 130, 10)]
    for others in ([], [outcome("c", 400, 0)], [outcome("c", 90, 5_000)]):
        choice = choose(compared([*two, *others]))
        assert choice.best is not None
        assert choice.best.policy == "b", "50 requests at a dollar are more than 30 dollars and 10 requests at 1.30"


def test_a_session_without_token_counts_is_in_no_sum():
    comparison = compared([outcome("a", 1, 5), outcome("optimum", 1, 5), Run("a", "t")])
    assert dict(comparison.left_out) == {"t": "none of its requests has a token count"}
    assert comparison.optimum is not None
    assert comparison.optimum.failures == ()


def test_costs_that_can_hardly_be_told_apart_are_named():
    choice = choose(compared([outcome("a", 1.0, 5), outcome("b", 1.01, 5), outcome("c", 1.5, 5)]))
    assert [each.policy for each in choice.about_as_cheap] == ["b"]


@pytest.mark.parametrize(
    ("flawed", "why"),
    [
        (Run("b", "s", failure="division by zero"), "it failed in 1 of 1 sessions"),
        (outcome("b", 0.1, 0, requests=(RequestPoint(1, 0.0, 300_000, Usage(1, 1), False),)), "1 of its 1 requests would not have fitted"),
        (outcome("b", 0.1, 0, violations=("a result without its call",)), "rules of the API (a result without its call)"),
    ],
    ids=["failed", "too long", "broken rules"],
)
def test_who_could_not_have_carried_the_sessions_is_ruled_out(flawed: Run, why: str):
    choice = choose(compared([outcome("a", 1.0, 5), flawed]))
    assert choice.cheapest is not None
    assert choice.cheapest.policy == "a"
    assert why in choice.ruled_out["b"]


def test_without_prices_there_is_no_cheapest():
    unpriced = [replace(outcome(name, 0.0, gone)) for name, gone in (("a", 5), ("b", 3))]
    choice = choose(compared(unpriced))
    assert (choice.cheapest, choice.front, choice.best) == (None, (), None)
    assert choice.keeps_most is not None
    assert choice.keeps_most.policy == "b"


def test_blanks_for_summaries_say_nothing_of_what_is_kept():
    blank = run("a", "s", 200)
    blank = replace(blank, compactions=tuple(replace(each, stood_in="blank") for each in blank.compactions))
    choice = choose(compared([blank, run("b", "s", 200)]))
    assert choice.cheapest is not None
    assert (choice.keeps_most, choice.best) == (None, None)


def test_what_upkeep_forgets_is_not_taken_for_kept():
    made = run("a", "s", 200, price=0.1)
    every_call = replace(made, retained=Retained(), compactions=tuple(replace(each, upkeep=True) for each in made.compactions * 5))
    choice = choose(compared([every_call, run("b", "s", 200, keeps=0.5), run("c", "s", 200, keeps=0.9)]))
    assert choice.cheapest is not None
    assert choice.cheapest.policy == "a"
    assert "before " in choice.cheapest.unjudged
    assert choice.keeps_most is not None
    assert choice.keeps_most.policy == "c"
    assert "a" not in [each.policy for each in choice.front]


def test_a_session_that_no_policy_got_through_is_in_no_sum():
    comparison = compared(
        [outcome("a", 1, 5), outcome("a", 2, 5, "t", failure="x"), outcome("b", 3, 5), outcome("b", 4, 5, "t", failure="y")]
    )
    assert comparison.sessions == ("s",)
    assert list(comparison.left_out) == ["t"]
    assert [each.total for each in comparison.by_cost()] == [1, 3]
    assert not choose(comparison).ruled_out


def test_a_policy_without_a_run_of_a_session_is_not_cheaper_for_it():
    comparison = compared([outcome("a", 1, 5), outcome("a", 1, 5, "t"), outcome("b", 1.5, 5)])
    assert "b" in choose(comparison).ruled_out


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 5_000)), min_size=1, max_size=20))
def test_the_front_goes_one_way_and_nothing_is_clearly_better_than_all_of_it(points: list[tuple[int, int]]):
    runs = [outcome(f"p{index}", dollars, gone) for index, (dollars, gone) in enumerate(points)]
    comparison = compared(runs)
    choice = choose(comparison)
    front = choice.front
    for before, after in pairwise(front):
        assert before.total < after.total
        assert keeps_more(after, before)
    for each in comparison.standings:
        assert each in front or not all(each.total * 1.02 < other.total for other in front)
        assert not keeps_more(each, front[-1])
        assert any(other.total <= each.total * 1.021 and not keeps_more(each, other) for other in front)


def test_what_chance_would_make_is_no_difference():
    choice = choose(compared([outcome("a", 100, 8), outcome("b", 110, 6), outcome("c", 130, 0)]))
    assert [each.policy for each in choice.front] == ["a", "c"]
    choice = choose(compared([outcome("a", 100, 800), outcome("b", 101, 600)]))
    assert [each.policy for each in choice.front] == ["b"]
    assert [each.policy for each in choice.about_as_cheap] == ["b"]


def test_sums_are_those_of_the_runs():
    runs = [run("a", f"s{index}", 100, seed=index) for index in range(3)]
    (sum_of,) = compared(runs).standings
    assert sum_of.total == pytest.approx(sum(each.total for each in runs))
    assert sum_of.compactions + sum_of.upkeep == sum(len(each.compactions) for each in runs)
    assert sum_of.retained == sum((each.retained for each in runs), Retained())

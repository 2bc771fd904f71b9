from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, prompt, session
from ullage.context.blocks import Text, Usage
from ullage.context.compaction.economy import (
    ECONOMIES,
    FETCHED_AGAIN_CALLS,
    FETCHED_AGAIN_TOKENS,
    FETCHING_OUTPUT_TOKENS,
    NONE_YET,
    SUMMARY_OUTPUT_TOKENS,
    USUAL_LEFT,
    CarriedTokens,
    Economy,
    EconomyOptions,
    Refetched,
    Refetching,
    Terms,
    forgetting,
    in_all,
    is_cold,
    pays,
    pays_before_cold,
    pays_when_cold,
    price,
    saved_before_cold,
    saved_by_carrying_less,
    saved_when_cold,
    since,
    threshold_before_step,
    took,
)
from ullage.context.compaction_entries import Compaction, FetchedAgain, Rung, Snipped, Summarised
from ullage.context.entries import AssistantReply, Forked, Logged

TERMS = Terms(read=0.1, write=1.25, output=5.0)
FIXED = 10_000


def replied(tokens: int) -> AssistantReply:
    return AssistantReply("r", (Text("yes"),), "m", "end_turn", Usage(tokens, 10))


def made(estimated_after: int) -> Compaction:
    return replace(compaction("c"), summarised=Summarised(1, "In short: go."), estimated_after=estimated_after)


def carried(entries: Sequence[Logged], active: Sequence[Compaction]) -> CarriedTokens:
    found = since(active, FIXED)
    for logged in entries:
        found = found.and_then(logged)
    return found


def test_before_any_compaction_what_one_usually_leaves_is_taken():
    found = carried(session(prompt("go"), replied(20_000), replied(40_000)), ())
    left = FIXED + USUAL_LEFT
    assert (found.beyond, found.left) == (40_000 - left, left)


def wrote(tokens: int, policy: str = "ullage", rung: Rung = "model") -> Compaction:
    return replace(made(1), usage=Usage(100, tokens), policy=policy, rung=rung)


@pytest.mark.parametrize(
    ("earlier", "tokens"),
    [
        ([], None),
        ([made(1)], None),
        ([wrote(900, rung="digest")], None),  # what failed before it took this
        ([wrote(900, policy="codex")], None),
        ([wrote(900), wrote(300, rung="api"), wrote(400)], 400),
        ([wrote(9_000), wrote(9_000), wrote(9_000), *(wrote(tokens) for tokens in (1, 2, 3, 4, 5))], 3),
    ],
)
def test_what_summaries_take_is_learned_from_those_that_were_written(earlier: list[Compaction], tokens: int | None):
    assert took(earlier, "ullage") == tokens


def test_the_cache_lives_from_the_start_of_a_request_which_is_right_after_what_was_logged_before_its_reply():
    entries = session(prompt("go"), replied(20_000), prompt("on"), replied(40_000), prompt("more"))
    assert carried(entries, ()).last_at == entries[-3].at


def test_a_fork_has_carried_nothing_yet_and_finds_the_cache_as_its_original_left_it():
    asked = [Logged(1, 10.0, prompt("Look")), Logged(2, 12.0, replied(90_000))]
    before = carried(asked, ())
    assert before.beyond > 0
    forked = before.and_then(Logged(3, 400.0, Forked("a", "Tanks", used_at=380.0)))
    assert (forked.beyond, forked.left, forked.last_at) == (0, before.left, 380.0)
    assert before.and_then(Logged(3, 400.0, Forked("a", "Tanks", used_at=5.0))).last_at == 10.0
    assert carried([Logged(1, 10.0, prompt("Look")), Logged(2, 400.0, Forked("a", "Tanks", used_at=380.0))], ()).last_at == 0.0


def test_after_a_compaction_it_counts_from_there_with_what_it_left():
    found = carried(session(prompt("go"), replied(16_000), replied(20_000)), (made(15_000),))
    assert (found.beyond, found.left) == (1_000 + 5_000, 15_000)


def test_what_is_left_after_a_message_was_taken_out_tells_nothing_of_a_summary():
    taken_out = replace(compaction("x"), snipped=Snipped(1, 1, "[Taken out]"), estimated_after=90_000)
    assert since((taken_out,), FIXED).left == FIXED + USUAL_LEFT
    assert since((made(15_000), taken_out), FIXED).left == 15_000


def test_a_compaction_costs_its_summary_and_writing_what_is_left():
    assert price(100_000, FIXED, 30_000, TERMS, by_model=False) == pytest.approx(1.15 * 20_000)
    assert price(100_000, FIXED, 30_000, TERMS, by_model=True) == pytest.approx(1.15 * 20_000 + 10_000 + 5 * SUMMARY_OUTPUT_TOKENS)


@pytest.mark.parametrize(("beyond", "expected"), [(424_999, False), (425_000, True)])
def test_the_cheapest_compacts_where_carrying_has_cost_as_much(beyond: int, expected: bool):
    so_far = CarriedTokens(beyond, 30_000)
    assert pays(100_000, FIXED, so_far, TERMS, ECONOMIES["cheapest"], by_model=False) is expected


@pytest.mark.parametrize(("beyond", "expected"), [(849_999, False), (850_000, True)])
def test_the_balanced_waits_for_twice_that(beyond: int, expected: bool):
    so_far = CarriedTokens(beyond, 30_000)
    assert pays(100_000, FIXED, so_far, TERMS, ECONOMIES["balanced"], by_model=False) is expected


def test_the_fullest_never_compacts_to_save():
    so_far = CarriedTokens(10**9, 30_000, 1.0)
    assert not pays(150_000, FIXED, so_far, TERMS, ECONOMIES["fullest"], by_model=False)
    assert not pays_when_cold(150_000, so_far, TERMS, ECONOMIES["fullest"])
    assert not pays_before_cold(150_000, FIXED, so_far, TERMS, ECONOMIES["fullest"], by_model=False)


@pytest.mark.parametrize(("used", "expected"), [(39_999, False), (40_000, True)])
def test_with_little_to_gain_it_does_not_compact(used: int, expected: bool):
    so_far = CarriedTokens(10**9, 30_000, 1.0)
    assert pays(used, FIXED, so_far, TERMS, ECONOMIES["cheapest"], by_model=False) is expected


def test_forgetting_costs_the_requests_that_fetch_it_again_and_what_they_bring():
    each = 0.1 * 30_000 + 5 * FETCHING_OUTPUT_TOKENS
    assert forgetting(30_000, TERMS) == pytest.approx(1.25 * FETCHED_AGAIN_TOKENS + FETCHED_AGAIN_CALLS * each)
    assert in_all(100_000, FIXED, 30_000, TERMS, by_model=True) == pytest.approx(
        price(100_000, FIXED, 30_000, TERMS, by_model=True) + forgetting(30_000, TERMS)
    )


@pytest.mark.parametrize(("used", "expected"), [(45_599, False), (45_600, True)])
def test_on_a_cold_cache_it_compacts_where_writing_less_is_worth_what_is_forgotten(used: int, expected: bool):
    so_far = CarriedTokens(10**9, 30_000, 1.0)
    assert pays_when_cold(used, so_far, TERMS, ECONOMIES["balanced"]) is expected


@given(used=st.integers(0, 500_000), left=st.integers(0, 100_000), beyond=st.integers(0, 10**8), by_model=st.booleans())
def test_whatever_is_made_to_save_saves_with_what_forgetting_costs_counted_in(used: int, left: int, beyond: int, by_model: bool):
    so_far, options = CarriedTokens(beyond, left, 1.0), ECONOMIES["cheapest"]
    if pays(used, FIXED, so_far, TERMS, options, by_model=by_model):
        assert saved_by_carrying_less(used, FIXED, so_far, TERMS, by_model=by_model) >= 0
    if pays_before_cold(used, FIXED, so_far, TERMS, options, by_model=by_model):
        assert saved_before_cold(used, FIXED, left, TERMS, by_model=by_model) >= 0
    if pays_when_cold(used, so_far, TERMS, options):
        assert saved_when_cold(used, left, TERMS) >= 0


def test_before_the_cache_goes_it_compacts_where_writing_less_saves_more_than_it_costs():
    so_far = CarriedTokens(0, 30_000, 1.0)
    assert not pays_before_cold(55_000, FIXED, so_far, TERMS, ECONOMIES["balanced"], by_model=True)
    assert pays_before_cold(90_000, FIXED, so_far, TERMS, ECONOMIES["balanced"], by_model=True)


@pytest.mark.parametrize(("now", "last", "cold"), [(300.0, 0.0, False), (400.0, 100.0, False), (400.1, 100.0, True)])
def test_the_cache_lives_five_minutes(now: float, last: float, cold: bool):
    assert is_cold(now, last) is cold


def total(growth: int, requests: int, left: int, options: EconomyOptions) -> float:
    """What an evenly growing session costs when it compacts by program where that pays."""
    used, so_far, cost = left, CarriedTokens(0, left), 0.0
    for _ in range(requests):
        if pays(used, 0, so_far, TERMS, options, by_model=False):
            cost += in_all(used, 0, left, TERMS, by_model=False)
            used, so_far = left, CarriedTokens(0, left)
        cost += TERMS.read * (used - left)
        used += growth
        so_far = CarriedTokens(so_far.beyond + max(0, used - growth - left), left, 0.0)
    return cost


@given(growth=st.integers(500, 4_000), left=st.integers(15_000, 60_000))
def test_the_cheapest_is_within_a_tenth_of_the_best_even_schedule(growth: int, left: int):
    """The least possible is √(2 · price · read · growth) a request, for a schedule that may compact between two requests."""
    requests = 2_000
    least = requests * sqrt(2 * in_all(0, 0, left, TERMS, by_model=False) * TERMS.read * growth)
    assert total(growth, requests, left, ECONOMIES["cheapest"]) <= 1.1 * least
    assert total(growth, requests, left, ECONOMIES["balanced"]) <= 1.2 * least


@pytest.mark.parametrize(
    ("economy", "step", "line"),
    [("balanced", 100_000, 100_000), ("cheapest", None, 167_000), ("fullest", 100_000, 167_000), ("balanced", 500_000, 167_000)],
)
def test_the_line_is_not_beyond_the_size_at_which_prices_rise_unless_nothing_is_to_be_saved(economy: Economy, step: int | None, line: int):
    assert threshold_before_step(167_000, step, ECONOMIES[economy]) == line


def test_what_compactions_really_brought_about_counts_from_the_third_on():
    found = NONE_YET
    for tokens, calls in ((1_000, 1), (0, 0)):
        found = found.after(FetchedAgain("c", (), 1, tokens, calls, 8))
    assert found.usual is None
    found = found.after(FetchedAgain("c", (), 1, 500, 2, 8))
    assert found.usual == Refetching(500, 1)
    assert found.after(None) == found
    assert found.after(FetchedAgain("c", (), 0, 0, 0, 0)) == found, "nothing was said after it"
    assert found + found == Refetched(6, 3_000, 6)


def test_a_workspace_where_little_is_fetched_again_compacts_earlier_to_save():
    forgets_nothing = replace(TERMS, refetching=Refetching(0, 0))
    assert forgetting(30_000, forgets_nothing) == 0
    left, used = 30_000, 60_000
    beyond = int(in_all(used, FIXED, left, forgets_nothing, by_model=True) / TERMS.read) + 1
    so_far = CarriedTokens(beyond, left)
    assert pays(used, FIXED, so_far, forgets_nothing, ECONOMIES["cheapest"], by_model=True)
    assert not pays(used, FIXED, so_far, TERMS, ECONOMIES["cheapest"], by_model=True)
    forgets_much = replace(TERMS, refetching=Refetching(30_000, 12))
    assert saved_when_cold(used, left, forgets_much) < saved_when_cold(used, left, TERMS) < saved_when_cold(used, left, forgets_nothing)

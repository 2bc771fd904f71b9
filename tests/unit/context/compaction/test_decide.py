"""The decision whether to compact: it goes by what the gauge says, and says why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.compaction.decide import (
    Compact,
    Decision,
    EarlySaving,
    Fullness,
    Hold,
    Postponed,
    Prepare,
    Refuse,
    State,
    Wait,
    decide,
    decide_after_refusal,
    decide_after_turn,
    decide_in_pause,
    may_save,
    next_compaction,
)
from ullage.context.compaction.economy import When
from ullage.context.compaction_entries import Trigger
from ullage.context.counting.accounting import Counted
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE

WINDOW, LINE, FIXED = 200_000, 160_000, 10_000
HELD = 196_000
"""From so many tokens on, no call is made."""


def full(used: int, fixed: int = FIXED) -> Fullness:
    return Fullness(Counted(used, 0, (("system", fixed), ("user", used - fixed)), None), used, LINE, WINDOW, WINDOW)


states = st.builds(
    State,
    st.sampled_from([ULLAGE, NONE]),
    st.builds(full, st.integers(FIXED, WINDOW) | st.sampled_from([LINE - 500, LINE, LINE + 5_000, HELD - 500, HELD, WINDOW])),
    auto=st.booleans(),
    replied=st.booleans(),
    left_by_newest=st.sampled_from([0, 50_000, LINE]),
    grown_since_undo=st.sampled_from([None, 0, 30_000, 90_000]),
    rests=st.sampled_from([0.0, 60.0]),
    nothing_below=st.sampled_from([0, LINE + 5_000]),
    by_model=st.booleans(),
    prepared=st.booleans(),
    saving=st.sampled_from([None, EarlySaving("prompt", 0.1), EarlySaving("pause", 0.1), EarlySaving("prompt", 0.1, "turn")]),
)


@given(states, st.sampled_from([0, 500, 60_000]))
def test_it_compacts_at_the_line_exactly_where_the_gauge_says_so(state: State, more: int):
    decision = decide(state, more)
    tokens = state.full.used + more
    due = next_compaction(state).is_due(tokens) and (tokens >= LINE or state.is_held(more))
    asked_again = bool(more) or state.is_held(more) or tokens >= state.nothing_below
    assert (isinstance(decision, Compact) and decision.trigger == "threshold") == (due and asked_again)


@given(states, st.sampled_from([0, 500, 60_000]), st.booleans())
def test_no_call_is_made_that_the_window_cannot_hold(state: State, more: int, tried: bool):
    decision = decide(state, more, tried=tried)
    assert decision.why
    if state.is_held(more):
        assert isinstance(decision, Compact | Hold)
        assert not (tried and isinstance(decision, Compact)), "it is tried once at a boundary"
    elif tried:
        assert isinstance(decision, Wait | Prepare)


def test_where_the_window_is_as_good_as_full_one_has_to_come_about():
    assert decide(State(ULLAGE, full(LINE))) == Compact("threshold", "threshold")
    assert decide(State(ULLAGE, full(HELD))) == Compact("threshold", "threshold", must=True)


def test_over_the_threshold_it_says_that_more_has_to_come_only_where_the_newest_one_left_much():
    over = State(ULLAGE, full(LINE + 10_000))
    assert (next_compaction(over).why, next_compaction(over).at) == ("threshold", LINE)
    left = replace(over, left_by_newest=LINE + 5_000)
    assert (next_compaction(left).why, next_compaction(left).at) == ("grown", LINE + 13_000)


@pytest.mark.parametrize(("used", "more"), [(HELD, 0), (HELD - 40_000, 40_000)])
def test_where_one_was_tried_in_vain_a_full_window_holds_the_call_and_a_token_less_lets_it_go(used: int, more: int):
    held = decide(State(ULLAGE, full(used)), more, tried=True)
    assert isinstance(held, Hold)
    assert f"{HELD:,} of {WINDOW:,}" in held.why
    assert not isinstance(decide(State(ULLAGE, full(used - 1)), more, tried=True), Hold)


def test_what_the_user_undid_is_not_made_again_before_much_more_has_come():
    """Neither at the threshold nor to save."""
    undone = State(ULLAGE, full(LINE), grown_since_undo=0)
    assert not isinstance(decide(undone), Compact)
    assert not isinstance(decide(undone, 500), Compact)
    assert decide(replace(undone, grown_since_undo=LINE // 4)) == Compact("threshold", "threshold")
    assert decide(replace(undone, full=full(HELD))) == Compact("threshold", "undone", must=True)
    low = State(ULLAGE, full(100_000))
    assert (may_save(low), may_save(replace(low, grown_since_undo=0))) == (True, False)


def test_one_that_saves_is_made_with_a_prompt_only_and_by_program_where_none_is_prepared():
    state = State(ULLAGE, full(100_000), saving=EarlySaving("prompt", 0.1))
    assert decide(state, 500) == Compact("economy", "saves", by_program=True, saves=0.1)
    assert isinstance(decide(state), Wait)


@pytest.mark.parametrize(
    ("pays", "postponed", "prepared", "trigger", "in_pause"),
    [
        ("now", "none", False, "economy", Prepare),
        ("now", "none", True, None, Compact),
        ("now", "session", False, None, Wait),
        ("pause", "none", False, None, Prepare),
        ("pause", "none", True, None, Compact),
        ("cold", "none", True, None, Wait),
        ("cold later", "none", False, None, Wait),
    ],
)
def test_while_nobody_asks_it_prepares_and_compacts_only_what_saves_by_then(
    pays: When, postponed: Postponed, prepared: bool, trigger: Trigger | None, in_pause: type[Decision]
):
    saving = EarlySaving("prompt" if prepared else "pause", 0.1, postponed, pays)
    state = State(ULLAGE, full(100_000), prepared=prepared, saving=saving)
    decision = decide_after_turn(state)
    assert (decision.trigger if isinstance(decision, Prepare) else None) == trigger
    assert isinstance(decide_in_pause(state), in_pause)


def test_after_a_turn_one_is_prepared_where_the_next_would_usually_cross_the_threshold():
    decision = decide_after_turn(State(ULLAGE, full(LINE - 5_000), usual_growth=5_000))
    assert isinstance(decision, Prepare)
    assert decision.trigger == "idle"
    assert isinstance(decide_after_turn(State(ULLAGE, full(LINE - 5_001), usual_growth=5_000)), Wait)


def test_one_is_prepared_near_the_line_where_a_model_writes_it():
    assert isinstance(decide(State(ULLAGE, full(144_000), by_model=True)), Prepare)
    assert isinstance(decide(State(ULLAGE, full(143_999), by_model=True)), Wait)
    assert isinstance(decide(State(ULLAGE, full(144_000), by_model=False)), Wait)


def test_where_instructions_alone_are_over_the_line_it_says_so_and_compacts_nothing():
    decision = decide(State(ULLAGE, full(170_000, fixed=165_000)))
    assert isinstance(decision, Refuse)
    assert "165,000" in decision.why


def test_after_a_refusal_a_policy_without_a_line_compacts_nothing_by_itself():
    assert decide_after_refusal(State(ULLAGE, full(100_000))) == Compact("reactive", "refused", must=True)
    assert isinstance(decide_after_refusal(State(NONE, full(100_000))), Refuse)

"""The cheapest schedule of compactions, held against every schedule there is on small sessions."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.working import working_session
from ullage.context.counting.prompt_cache import Ttl
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.recorded.transcript import Source, Transcript
from ullage.replay.measuring.runs import Run
from ullage.replay.pricing.cost import PricedCall, dollars_of
from ullage.replay.simulating.optimum import RequestStep, ScheduleCosts, best_schedule, cheapest_of, steps_of
from ullage.replay.simulating.outcome import Leaves
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import outcome_of

MODELS = ("claude-opus-4-5", "claude-haiku-5-5", "claude-sonnet-4-5")


@st.composite
def sessions(draw: st.DrawFn) -> list[RequestStep]:
    """A few requests that mostly grow, now and then after a long pause or with another model."""
    system = draw(st.sampled_from([0, 900, 9_000]))
    steps: list[RequestStep] = []
    at, context = 1_000.0, system + draw(st.integers(0, 30_000))
    window = draw(st.sampled_from([60_000, 200_000]))
    ttls: list[Ttl] = ["5m", "1h"]
    ttl = draw(st.sampled_from(ttls))
    for seq in range(1, draw(st.integers(1, 7)) + 1):
        shared = draw(st.sampled_from([context, context, context, system])) if steps else draw(st.sampled_from([0, system]))
        steps.append(RequestStep(seq, at, draw(st.sampled_from(MODELS)), ttl, context, min(shared, context), system, 500, window))
        at += draw(st.sampled_from([10.0, 299.0, 300.0, 4_000.0]))
        context += draw(st.integers(0, 50_000))
    return steps


LEAVES = st.builds(
    Leaves,
    policy=st.just("tried"),
    context=st.integers(1_000, 60_000),
    asks=st.booleans(),
    question=st.integers(0, 3_000),
    answer=st.integers(0, 5_000),
    own_text=st.none() | st.integers(0, 40_000),
    check=st.sampled_from([0, 500]),
)


@given(sessions(), LEAVES, st.booleans())
def test_no_schedule_is_cheaper(steps: list[RequestStep], leaves: Leaves, writes_cost: bool):
    choice = ScheduleCosts(steps, leaves, writes_cost=writes_cost)
    places = range(1, len(steps))
    every = chain.from_iterable(combinations(places, count) for count in range(len(steps)))
    best = min((choice.cost_of(each) for each in every), key=lambda each: (each.unfit, each.dollars))
    found = choice.cheapest()
    assert found.unfit == best.unfit
    assert found.dollars == pytest.approx(best.dollars)
    assert choice.cost_of(found.places).dollars == pytest.approx(found.dollars)


@given(sessions(), LEAVES, st.booleans())
def test_its_run_has_its_schedule_and_its_cost(steps: list[RequestStep], leaves: Leaves, writes_cost: bool):
    choice = ScheduleCosts(steps, leaves, writes_cost=writes_cost)
    schedule = choice.cheapest()
    run = choice.run("session", schedule)
    assert run.total == pytest.approx(schedule.dollars)
    assert len(run.compactions) == len(schedule.places)
    assert [point.context_tokens for point in run.requests] == [point.usage.total_input_tokens for point in run.requests]
    assert sum(not point.fits for point in run.requests) == schedule.unfit


def steady(count: int, gap: float, growth: int = 5_000) -> list[RequestStep]:
    return [
        RequestStep(
            index + 1,
            1_000.0 + gap * index,
            MODELS[0],
            "5m",
            20_000 + growth * index,
            20_000 + growth * max(index - 1, 0),
            20_000,
            0,
            200_000,
        )
        for index in range(count)
    ]


def test_where_compacting_is_dear_it_is_left():
    assert ScheduleCosts(steady(10, 10.0), Leaves("p", 60_000, asks=True, answer=20_000)).cheapest().places == ()


def test_after_a_pause_that_empties_the_cache_it_pays():
    steps = [
        *steady(20, 10.0)[:12],
        *(RequestStep(s.seq, s.at + 5_000, s.model, s.ttl, s.context, s.shared, s.system, 0, s.window) for s in steady(24, 10.0)[12:]),
    ]
    assert ScheduleCosts(steps, Leaves("p", 25_000)).cheapest().places[0] <= 12
    assert 12 in ScheduleCosts(steps, Leaves("p", 25_000)).cheapest().places


def test_the_window_is_kept_where_it_can_be():
    steps = steady(60, 10.0)
    found = ScheduleCosts(steps, Leaves("p", 30_000, asks=True, answer=5_000)).cheapest()
    assert found.places
    assert found.unfit == 0


def test_a_long_session_is_looked_at_in_steps(monkeypatch: pytest.MonkeyPatch):
    choice = ScheduleCosts(steady(60, 10.0), Leaves("p", 30_000, asks=True, answer=5_000))
    exact = choice.cheapest()
    monkeypatch.setattr("ullage.replay.simulating.optimum.MOST_PLACES", 20)
    coarse = choice.cheapest()
    assert all(place % 3 == 0 for place in coarse.places)
    assert exact.dollars <= coarse.dollars <= exact.dollars * 1.05
    assert choice.cost_of(coarse.places).dollars == pytest.approx(coarse.dollars)


def test_a_session_without_requests_has_a_schedule():
    choice = ScheduleCosts([], Leaves("p", 1_000))
    assert choice.cheapest().places == ()
    assert choice.run("session", choice.cheapest()).requests == ()


def test_the_cheapest_run_is_taken():
    steps = steady(30, 10.0)
    dear, cheap = (ScheduleCosts(steps, Leaves("p", tokens)) for tokens in (60_000, 25_000))
    runs = [choice.run("session", choice.cheapest()) for choice in (dear, cheap)]
    (best,) = cheapest_of([*runs, Run("broken", "session", failure="no")])
    assert best.total == runs[1].total < runs[0].total
    assert list(cheapest_of([Run("broken", "session", failure="no")])) == []


def test_a_call_costs_what_the_price_list_says():
    choice = ScheduleCosts(steady(3, 10.0), Leaves("p", 25_000))
    calls = [PricedCall(MODELS[0], choice.request(0, index)) for index in range(3)]
    assert choice.cost_of(()).dollars == pytest.approx(dollars_of(calls).total)


@pytest.mark.parametrize("seconds", [20.0, 301.0, 4_000.0])
@pytest.mark.parametrize("source", ["claude-code", "codex"])
def test_without_compactions_it_costs_what_the_simulation_says(seconds: float, source: Source):
    session = PreparedSession(working_session(seconds=seconds, source=source))
    choice = ScheduleCosts(tuple(steps_of(session, ReplaySettings())), Leaves("p", 30_000), writes_cost=source != "codex")
    assert choice.cost_of(()).dollars == pytest.approx(outcome_of(session, NONE).run.total)


def test_no_policy_is_cheaper_than_the_optimum():
    session = PreparedSession(working_session(turns=14))
    outcomes = [outcome_of(session, each) for each in (ULLAGE, NONE)]
    (best,) = best_schedule(session, outcomes, ULLAGE, ReplaySettings())
    assert best.policy == "optimum"
    assert all(best.total <= outcome.run.total for outcome in outcomes)
    assert [point.seq for point in best.requests] == [point.seq for point in outcomes[0].run.requests]


def test_an_optimum_needs_no_policy_beside_it():
    session = PreparedSession(working_session(turns=14))
    (best,) = best_schedule(session, (), ULLAGE, ReplaySettings())
    assert best.compactions
    assert list(best_schedule(PreparedSession(transcript_without_requests()), (), ULLAGE, ReplaySettings())) == []


def transcript_without_requests() -> Transcript:
    return Transcript("session", "claude-code", (), (), (), ())

"""A policy of which the engine fails, or finds nothing to do, in a live session: Ullage's program summary stands in for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.session.engines import AsksModel, GivesRubbish, KeepsUp, Raises, SummarisesBeforeCalls, policy
from tests.unit.session.filling import WINDOW, fill, make_project
from tests.unit.session.harness import compactions, stage
from tests.unit.session.other_policies import ended_well, one_turn_of_reads, telling, under
from ullage.context.engines.engine import Occasion, Unchanging
from ullage.context.moves.plan import Plan
from ullage.context.policy import FixedTokens


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.mark.parametrize("engine", [Raises("plan"), Raises("summarise"), GivesRubbish()])
async def test_where_an_engine_fails_at_the_line_ullages_digest_stands_in(folder: Path, engine: AsksModel) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(engine)]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await one_turn_of_reads(here, session, 4)
        [card, *_] = compactions(session)
        assert (card.status, card.trigger, card.rung) == ("completed", "threshold", "digest")
        assert "The policy tried failed: " in " ".join(card.skipped)
        assert here.made(session)[0].policy == "ullage"
        assert ended_well(session)
        gauge = session.snapshot().gauge
        assert gauge.used < gauge.threshold
        assert here.refused() == []


async def test_what_a_summary_cost_counts_though_the_engine_could_not_use_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(Raises("summarise"))]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill(here, session, 1)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.rung == "digest"
        assert card.cost is not None
        assert card.cost == pytest.approx(here.fake.requests[-1].dollars)


async def test_an_engine_that_fails_three_times_is_left_alone_for_a_while(folder: Path) -> None:
    engine = Raises("plan")
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(engine)]) as here:
        session = await here.new()
        for _ in range(5):
            await fill(here, session, 1)
            session.compact()
            await here.idle(session)
        assert engine.calls.count("plan") == 3
        assert [card.rung for card in compactions(session)] == ["digest"] * 5
        assert "it is not asked at the moment" in " ".join(compactions(session)[-1].skipped)


@pytest.mark.parametrize(("engine", "said"), [(Raises("upkeep"), "no such thing"), (SummarisesBeforeCalls(), "it wants a summary")])
async def test_where_upkeep_fails_the_turn_goes_on_and_it_is_said_three_times_at_most(folder: Path, engine: AsksModel, said: str) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(engine, full_at=FixedTokens(50_000))]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 5)
        assert ended_well(session)
        cards = compactions(session)
        assert [(card.status, card.trigger) for card in cards] == [("failed", "upkeep")] * 3
        assert f"The policy tried failed: {'LookupError' if said == 'no such thing' else 'ValueError'}: {said}" in cards[0].error


class _FailsEveryOtherTime(KeepsUp):
    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asks", [])

    asks: list[Occasion]

    def upkeep(self, at: Occasion) -> Plan | None:
        self.asks.append(at)
        if len(self.asks) % 2:
            raise LookupError("no such thing")
        return super().upkeep(at)


async def test_upkeep_that_works_in_between_is_asked_on(folder: Path) -> None:
    async with stage(
        folder, window=WINDOW, settings=under("tried"), extra=[policy(_FailsEveryOtherTime(), full_at=FixedTokens(50_000))]
    ) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 10)
        assert ended_well(session)
        assert [card.status for card in compactions(session)].count("failed") > 3


async def test_where_arriving_fails_the_result_comes_all_the_same(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(Raises("arrive"), full_at=FixedTokens(50_000))]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 3)
        assert ended_well(session)
        assert "2026-01-02" in json.dumps(here.fake.requests[-1].body["messages"])
        assert [card.status for card in compactions(session)] == ["failed"] * 3
        assert "The policy tried failed: LookupError" in compactions(session)[0].error
        assert here.refused() == []


class _Idle(Unchanging):
    """Has a line and nothing to do at it."""

    def plan(self, at: Occasion) -> Plan | None:
        return None


async def test_a_policy_that_finds_nothing_to_do_at_a_full_window_is_stood_in_for(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(_Idle())]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 12)
        assert ended_well(session)
        made = here.made(session)
        assert {(each.trigger, each.rung) for each in made} == {("threshold", "digest")}
        assert made[0].skipped == ("The policy tried found nothing to do",)

"""What a policy does before every call of a live session: shown as one line, undone by name, and free where there is none."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.fake_api import Call, Say, Think
from tests.unit.session.engines import AsksModel, KeepsUp, RepeatsItself, policy
from tests.unit.session.filling import WINDOW, make_project
from tests.unit.session.harness import compactions, notices, rebuilt, stage
from tests.unit.session.other_policies import asks, ended_well, one_turn_of_reads, telling, under
from tests.unit.session.watched_folds import threads_of_folds
from ullage.context.engines.engine import Occasion, Unchanging
from ullage.context.moves.plan import Plan
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import FixedTokens
from ullage.session.settings import Settings
from ullage.session.timeline.items import NoticeItem
from ullage.session.timeline.updates import StateChanged


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def test_upkeep_is_done_before_every_call_and_shown_as_one_line_that_counts(folder: Path) -> None:
    tried = policy(KeepsUp(), full_at=FixedTokens(1_000_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 12)  # 70,000 tokens in a window of 60,000
        made = here.made(session)
        assert {(each.trigger, each.rung, each.policy) for each in made} == {("upkeep", "moves", "tried")}
        assert len(made) == 11
        assert compactions(session) == []
        [line] = notices(session)
        assert (line.level, line.text) == ("info", "Before calls, by the policy tried: 11 tool results set aside")
        assert ended_well(session)
        assert here.refused() == []
        states = [update.state for _, _, update in here.watcher.updates if isinstance(update, StateChanged)]
        assert "compacting" not in states
        assert [item for item in rebuilt(here.watcher, session) if isinstance(item, NoticeItem)] == [line]
        shown = notices(session)
    async with stage(folder, window=WINDOW, extra=[tried]) as again:
        opened = await again.sessions.open(session.id)
        assert notices(opened) == shown


async def test_what_upkeep_makes_of_the_view_is_not_worked_out_on_the_loop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = policy(KeepsUp(), full_at=FixedTokens(1_000_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        session = await here.new()
        folds = threads_of_folds(monkeypatch)
        await one_turn_of_reads(here, session, 4)
        assert len(here.made(session)) == 3
        assert folds
        assert threading.main_thread() not in folds


async def test_a_compaction_at_the_line_comes_with_upkeep_too_and_from_the_background(folder: Path) -> None:
    tried = policy(KeepsUp(), full_at=FixedTokens(16_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        for turn in range(4):
            await one_turn_of_reads(here, session, 2)
            here.fake.enqueue(Say("Done."))
            await here.say(session, f"And so on, {turn}. " * 1_200)
        by_line = [made for made in here.made(session) if made.trigger != "upkeep"]
        assert by_line
        assert {(made.trigger, made.rung) for made in by_line} == {("threshold", "model")}
        assert sum(asks(record.body) for record in here.fake.requests) <= len(by_line) + 1  # one more may be prepared
        assert here.refused() == []


async def test_undo_passes_upkeep_over_unless_it_is_named(folder: Path) -> None:
    tried = policy(KeepsUp(), full_at=FixedTokens(1_000_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await one_turn_of_reads(here, session, 3)
        used = session.snapshot().gauge.used
        session.compact()
        await here.idle(session)
        await session.history.undo()
        assert [card.status for card in compactions(session)] == ["undone"]
        assert session.snapshot().gauge.used == pytest.approx(used, rel=0.1)
        first = here.made(session)[0]
        await session.history.undo(first.id)
        assert notices(session)[0].text == "Before calls, by the policy tried: 1 tool result set aside"
        assert session.snapshot().gauge.used > used + 4_000
        await session.history.redo(first.id)
        assert notices(session)[0].text == "Before calls, by the policy tried: 2 tool results set aside"


async def test_upkeep_that_repeats_itself_begins_no_new_epoch(folder: Path) -> None:
    tried = policy(RepeatsItself())
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 2)
        here.fake.enqueue(Say("One."), Say("Two."), Say("Three."))
        for text in ("One?", "Two?", "Three?"):
            await here.say(session, text)
        assert len(here.made(session)) == 1


async def test_nothing_is_kept_up_where_the_user_wants_no_compaction_by_itself(folder: Path) -> None:
    tried = policy(KeepsUp())
    async with stage(folder, window=WINDOW, settings=Settings(policy_name="tried", auto_compact=False), extra=[tried]) as here:
        session = await here.new()
        await one_turn_of_reads(here, session, 3)
        assert here.made(session) == []


def test_an_engine_without_upkeep_is_never_asked_for_it() -> None:
    assert [engine.keeps_up for engine in (ULLAGE.engine, NONE.engine, AsksModel(), KeepsUp())] == [False, False, False, True]


class _Counting(Unchanging):
    """Has nothing to do, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def plan(self, at: Occasion) -> Plan | None:
        self.asked.append(at.used)
        return None


async def test_a_policy_with_nothing_to_do_is_not_asked_before_every_call(folder: Path) -> None:
    engine = _Counting()
    settings = Settings(policy_name="tried", summary_engine="digest")
    async with stage(folder, window=WINDOW * 3, settings=settings, extra=[policy(engine, full_at=FixedTokens(10_000))]) as here:
        session = await here.new()
        here.fake.enqueue(*[[Think("On."), Call("read_file", {"path": "tank.py"})] for _ in range(12)], Say("Done."))
        await here.say(session, "word " * 12_000)
        assert ended_well(session)
        assert 2 <= len(engine.asked) <= 5  # for the prompt, with it in view, and again once it has grown

"""Another policy than Ullage's own in a live session: chosen while it runs, kept up before every call, and stood in for where it fails."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Fail, Hang, Reply, Rule, Say, Think
from tests.unit.session import engines
from tests.unit.session.engines import PROMPT, AsksModel, GivesRubbish, KeepsUp, Raises, RepeatsItself, SummarisesBeforeCalls, policy
from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import Stage, compactions, items, notices, rebuilt, stage
from tests.unit.session.watched_folds import threads_of_folds
from ullage.context.counting.measured import measured
from ullage.context.counting.tokens import Calibration
from ullage.context.engines.engine import Occasion, Unchanging, has_upkeep
from ullage.context.moves.plan import Plan
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import FixedCharacters, FixedTokens, LineNumbers, Measure, Policy
from ullage.session.compacting import while_editing
from ullage.session.items import AssistantItem, NoticeItem, StateChanged
from ullage.session.session import Session
from ullage.session.settings import Settings

TOLD = "The tank was measured."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def last_text(body: dict[str, Any]) -> str:
    block = body["messages"][-1]["content"][-1]
    return block["text"] if block["type"] == "text" else ""


def asks(body: dict[str, Any]) -> bool:
    return PROMPT in last_text(body)


def telling(text: str = TOLD) -> Rule:
    return Rule(asks, Say(text))


def under(name: str) -> Settings:
    return Settings(policy_name=name)


async def one_turn_of_reads(here: Stage, session: Session, count: int) -> None:
    reads = [[Think("On."), Call("read_file", {"path": "readings.csv"})] for _ in range(count)]
    here.fake.enqueue(*reads, Say("Done."))
    await here.say(session, f"Read it {count} times")


def ended_well(session: Session) -> bool:
    last = items(session)[-1]
    return isinstance(last, AssistantItem) and last.text == "Done."


# Choosing one


async def test_a_policy_that_is_chosen_while_a_turn_runs_decides_at_the_next_boundary(folder: Path) -> None:
    tried = policy(AsksModel(), full_at=FixedTokens(12_000))
    async with stage(folder, window=WINDOW, extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill(here, session, 2)
        line = session.snapshot().gauge.line
        here.fake.enqueue(Hang(Reply((Think("Hm."), Call("read_file", {"path": "tank.py"})))), Say("Done."))
        await session.prompt("And the tank")
        await here.fake.until_held()
        here.use_policy("tried")
        gauge = session.snapshot().gauge
        assert (gauge.line, gauge.policy) == (12_000, "tried")
        assert line > 12_000
        assert here.made(session) == []
        here.fake.release()
        await here.idle(session)
        [made] = here.made(session)
        assert (made.policy, made.trigger, made.rung) == ("tried", "threshold", "model")
        assert ended_well(session)
        assert here.refused() == []
        here.use_policy("ullage")
        assert session.snapshot().gauge.line == line


async def test_a_name_that_nobody_has_leaves_the_default_in_force(folder: Path) -> None:
    async with stage(folder, settings=under("nobody")) as here:
        assert (await here.new()).snapshot().gauge.policy == "ullage"


async def test_what_was_prepared_under_another_policy_is_given_up(folder: Path) -> None:
    tried = policy(AsksModel(), full_at=FixedTokens(40_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(Rule(asks, Hang(Reply((Say(TOLD),)))))
        session = await here.new()
        while session.snapshot().gauge.level == "normal":
            await fill(here, session, 1)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Ready?")
        await here.fake.until_held()  # the summary is in work
        here.use_policy("ullage")
        here.fake.add_rules(summaries())
        session.compact()
        await here.idle(session)
        [made] = here.made(session)
        assert made.policy == "ullage"


# What is measured


@pytest.mark.parametrize(("measure", "characters"), [("messages", 60_000), ("characters / 4", 24_000)])
async def test_the_gauge_shows_the_policys_own_measure(folder: Path, measure: Measure, characters: int) -> None:
    line = LineNumbers(FixedCharacters(characters))
    tried = Policy("tried", "", (), AsksModel(), line, measure)
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill(here, session, 2)
        gauge = session.snapshot().gauge
        assert (gauge.policy, gauge.measure, gauge.line) == ("tried", measure, characters // 4)
        messages = session._conversation.projection.messages  # pyright: ignore[reportPrivateUsage]
        calibration = here.sessions._around.calibrations.get(here.settings.model_name, Calibration())  # pyright: ignore[reportPrivateUsage]
        assert gauge.used == measured(measure, 0, messages, calibration)
        await one_turn_of_reads(here, session, 2)
        assert [made.trigger for made in here.made(session)][:1] == ["threshold"]


# Before every call


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
    assert [has_upkeep(engine) for engine in (ULLAGE.engine, NONE.engine, AsksModel(), KeepsUp())] == [False, False, False, True]


# Never


async def test_none_holds_at_the_window_and_compacts_when_it_is_asked_to(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("none")) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await one_turn_of_reads(here, session, 12)
        assert here.made(session) == []
        [notice] = notices(session)
        assert "The context is full" in notice.text
        assert "choose another policy than none" in notice.text
        assert not session.snapshot().gauge.auto
        assert not session.near_the_line()
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung, card.skipped) == ("completed", "model", ())


async def test_none_does_not_compact_because_the_api_refuses(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("none")) as here:
        session = await here.new()
        await fill(here, session, 1)
        here.fake.enqueue(Fail(400, "invalid_request_error", "prompt is too long: 50000 tokens > 40000 maximum"))
        await here.say(session, "Go on")
        assert here.made(session) == []
        assert "choose another policy than none" in notices(session)[-1].text


# Engines that fail


@pytest.mark.parametrize("engine", [Raises("plan"), Raises("handoff"), GivesRubbish()])
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
        assert gauge.used < gauge.line
        assert here.refused() == []


async def test_what_a_summary_cost_counts_though_the_engine_could_not_use_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(Raises("handoff"))]) as here:
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


async def test_a_line_over_the_window_is_the_window(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(AsksModel(), full_at=FixedTokens(500_000))]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await one_turn_of_reads(here, session, 12)
        assert ended_well(session)
        assert {(each.policy, each.trigger, each.rung) for each in here.made(session)} == {("tried", "threshold", "model")}


# What follows a summary


async def test_a_policy_that_restores_nothing_says_nothing_of_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(AsksModel())]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        here.editor.texts[(folder / "tank.py").resolve()] = "CAPACITY = 321\n"
        here.sessions.document_changed((folder / "tank.py").resolve(), "changed", 1)
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        [made] = here.made(session)
        assert (made.restored, made.resume) == ((), "")
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Still there?")
        said = [block["text"] for message in here.fake.requests[-1].body["messages"] for block in message["content"] if "text" in block]
        assert said[:2] == [f"So far: {TOLD}", "Understood."]
        assert engines.PROMPT not in said


# What is foreseen


@pytest.mark.parametrize(
    ("engine", "name", "rung"),
    [
        (AsksModel(), "tried", "model"),
        (Raises("plan"), "tried", "digest"),
        (Raises("handoff"), "tried", "digest"),
        (AsksModel(), "none", "model"),
    ],
)
async def test_a_preview_says_what_a_click_would_do(folder: Path, engine: AsksModel, name: str, rung: str) -> None:
    async with stage(folder, window=WINDOW, settings=under(name), extra=[policy(engine)]) as here:
        here.fake.add_rules(summaries(), telling())
        session = await here.new()
        await fill(here, session, 2)
        seen = await session.history.preview()
        assert seen.rung == rung
        assert seen.tokens_after < seen.tokens_before
        session.compact()
        await here.idle(session)
        assert compactions(session)[0].rung == rung


@pytest.mark.parametrize("where", ["plan", "handoff"])
async def test_what_fails_in_a_preview_counts_for_nothing(folder: Path, where: str) -> None:
    engine = Raises(where)
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[policy(engine, full_at=FixedTokens(50_000))]) as here:
        session = await here.new()
        await fill(here, session, 2)
        for _ in range(4):
            assert (await session.history.preview()).rung == "digest"
        before = engine.calls.count(where)
        assert before == 4
        session.compact()
        await here.idle(session)
        assert engine.calls.count(where) == before + 1
        assert "no such thing" in " ".join(compactions(session)[0].skipped)


async def test_while_editing_another_policy_compacts_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(while_editing, "PAUSE_SECONDS", 0.0)
    tried = policy(AsksModel(), full_at=FixedTokens(30_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        while not session.near_the_line():
            await fill(here, session, 1)
        here.sessions.document_changed((folder / "tank.py").resolve(), "changed", 1)
        await here.watcher.until(lambda: [card.status for card in compactions(session)] == ["completed"])
        await here.idle(session)
        [made] = here.made(session)
        assert (made.trigger, made.policy, made.rung) == ("idle", "tried", "model")


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

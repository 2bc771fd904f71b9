"""Another policy than Ullage's own in a live session: chosen while it runs, measured and compacted by its own numbers, and previewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Fail, Hang, Reply, Rule, Say, Think
from tests.unit.session import engines
from tests.unit.session.engines import AsksModel, Raises, policy
from tests.unit.session.filling import WINDOW, fill, fill_to_the_line, is_near_the_threshold, make_project, summaries
from tests.unit.session.harness import compactions, notices, stage
from tests.unit.session.other_policies import TOLD, asks, ended_well, one_turn_of_reads, telling, under
from ullage.context.counting.gauge import measured
from ullage.context.counting.tokens import Calibration
from ullage.context.policy import FixedCharacters, FixedTokens, Measure, Policy, ThresholdOptions
from ullage.session.compacting import controller as controlling


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


# Choosing one


async def test_a_policy_that_is_chosen_while_a_turn_runs_decides_at_the_next_boundary(folder: Path) -> None:
    tried = policy(AsksModel(), full_at=FixedTokens(12_000))
    async with stage(folder, window=WINDOW, extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill(here, session, 2)
        line = session.snapshot().gauge.threshold
        here.fake.enqueue(Hang(Reply((Think("Hm."), Call("read_file", {"path": "tank.py"})))), Say("Done."))
        await session.prompt("And the tank")
        await here.fake.until_held()
        here.use_policy("tried")
        gauge = session.snapshot().gauge
        assert (gauge.threshold, gauge.policy) == (12_000, "tried")
        assert line > 12_000
        assert here.made(session) == []
        here.fake.release()
        await here.idle(session)
        [made] = here.made(session)
        assert (made.policy, made.trigger, made.rung) == ("tried", "threshold", "model")
        assert ended_well(session)
        assert here.refused() == []
        here.use_policy("ullage")
        assert session.snapshot().gauge.threshold == line


async def test_a_name_that_nobody_has_leaves_the_default_in_force(folder: Path) -> None:
    async with stage(folder, settings=under("nobody")) as here:
        assert (await here.new()).snapshot().gauge.policy == "ullage"


async def test_what_was_prepared_under_another_policy_is_given_up(folder: Path) -> None:
    tried = policy(AsksModel(), full_at=FixedTokens(40_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(Rule(asks, Hang(Reply((Say(TOLD),)))))
        session = await here.new()
        await fill_to_the_line(here, session)
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
    line = ThresholdOptions(FixedCharacters(characters))
    tried = Policy("tried", "", (), AsksModel(), line, measure)
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill(here, session, 2)
        gauge = session.snapshot().gauge
        assert (gauge.policy, gauge.measure, gauge.threshold) == ("tried", measure, characters // 4)
        messages = session._conversation.projection.messages  # noqa: SLF001
        calibration = here.sessions._around.calibrations.get(here.settings.model_name, Calibration())  # noqa: SLF001
        assert gauge.used == measured(measure, 0, messages, calibration)
        await one_turn_of_reads(here, session, 2)
        assert [made.trigger for made in here.made(session)][:1] == ["threshold"]


# Before every call


# Never


async def test_none_holds_at_the_window_and_compacts_when_it_is_asked_to(folder: Path) -> None:
    async with stage(folder, window=WINDOW + 6_000, settings=under("none")) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await one_turn_of_reads(here, session, 12)
        assert here.made(session) == []
        [notice] = notices(session)
        assert "The context is full" in notice.text
        assert "choose another policy than none" in notice.text
        assert session.snapshot().gauge.next.why == "off"
        assert not is_near_the_threshold(session)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        # Whether a model's summary still fits beside the last read depends on the length of the tools' descriptions.
        assert (card.status, card.rung in ("model", "digest")) == ("completed", True)


async def test_none_does_not_compact_because_the_api_refuses(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=under("none")) as here:
        session = await here.new()
        await fill(here, session, 1)
        here.fake.enqueue(Fail(400, "invalid_request_error", "prompt is too long: 50000 tokens > 40000 maximum"))
        await here.say(session, "Go on")
        assert here.made(session) == []
        assert "choose another policy than none" in notices(session)[-1].text


async def test_a_line_over_the_window_is_the_window(folder: Path) -> None:
    async with stage(
        folder, window=WINDOW + 2_000, settings=under("tried"), extra=[policy(AsksModel(), full_at=FixedTokens(500_000))]
    ) as here:
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
        (Raises("summarise"), "tried", "digest"),
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


@pytest.mark.parametrize("where", ["plan", "summarise"])
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
    monkeypatch.setattr(controlling, "PAUSE_SECONDS", 0.0)
    tried = policy(AsksModel(), full_at=FixedTokens(30_000))
    async with stage(folder, window=WINDOW, settings=under("tried"), extra=[tried]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        while not is_near_the_threshold(session):
            await fill(here, session, 1)
        here.sessions.document_changed((folder / "tank.py").resolve(), "changed", 1)
        await here.watcher.until(lambda: [card.status for card in compactions(session)] == ["completed"])
        await here.idle(session)
        [made] = here.made(session)
        assert (made.trigger, made.policy, made.rung) == ("idle", "tried", "model")

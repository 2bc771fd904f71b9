"""Compacting before the threshold, where that costs less than carrying on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Hang, Reply, Say
from tests.unit.session.filling import SUMMARY, asks_for_summary, more_readings, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, kept_of, stage
from ullage.context.compaction import economy
from ullage.models.model import Prices
from ullage.session.session import Session
from ullage.session.settings import Settings

BALANCED = Settings(economy="balanced")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "readings.csv").write_text("\n".join(f"2026-01-{n % 28 + 1:02d},{n},{n * 7919 % 1000}" for n in range(600)))
    return made


async def look(here: Stage, session: Session, turns: int) -> None:
    for turn in range(turns):
        here.fake.enqueue(*more_readings(here.folder, 1, 600), Say(f"Seen {turn}."))
        await here.say(session, f"Look at the readings, round {turn}.")


async def chat(here: Stage, session: Session, turns: int) -> None:
    for turn in range(turns):
        here.fake.enqueue(Say(f"Yes, {turn}."))
        await here.say(session, f"Still there? {turn}")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes of a test: a compaction usually leaves little, and little is worth gaining."""
    monkeypatch.setattr(economy, "USUAL_LEFT", 2_000)
    monkeypatch.setattr(economy, "SMALLEST_GAIN", 2_000)
    monkeypatch.setattr(economy, "SUMMARY_OUTPUT_TOKENS", 100)


@pytest.mark.usefixtures("small")
async def test_where_carrying_has_cost_more_than_compacting_it_compacts_without_a_wait(folder: Path) -> None:
    async with stage(folder, settings=Settings(economy="cheapest")) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await look(here, session, 2)
        full = session.snapshot().gauge
        await chat(here, session, 30)
        card = compactions(session)[0]
        assert (card.trigger, card.status, card.rung) == ("economy", "completed", "model")
        assert full.used < 0.5 * full.threshold
        # The summary was asked for while a turn ran or nobody asked anything: never between a prompt and its first request.
        bodies = [request.body for request in here.fake.requests]
        assert sum(asks_for_summary(body) for body in bodies) >= 1


@pytest.mark.usefixtures("small")
async def test_the_fullest_waits_for_the_line(folder: Path) -> None:
    async with stage(folder, settings=Settings(economy="fullest")) as here:
        session = await here.new()
        await look(here, session, 2)
        await chat(here, session, 30)
        assert not compactions(session)


@pytest.mark.usefixtures("small")
async def test_another_policy_saves_only_as_it_says(folder: Path) -> None:
    async with stage(folder, settings=Settings(economy="cheapest", policy_name="claude-code")) as here:
        session = await here.new()
        await look(here, session, 2)
        await chat(here, session, 30)
        assert not compactions(session)


@pytest.mark.usefixtures("small")
async def test_on_a_cold_cache_the_program_compacts_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(folder, settings=BALANCED) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await look(here, session, 2)
        monkeypatch.setattr(economy, "CACHE_SECONDS", -1.0)
        asked = len(here.fake.requests)
        await chat(here, session, 1)
        [card] = compactions(session)
        assert (card.trigger, card.rung) == ("economy", "digest")
        assert len(here.fake.requests) == asked + 1


@pytest.mark.usefixtures("small")
async def test_before_the_cache_goes_cold_it_compacts_while_nobody_asks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(economy, "COOLING_SECONDS", 0.0)
    async with stage(folder, settings=BALANCED) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await look(here, session, 2)
        await here.watcher.until(lambda: any(card.status == "completed" for card in compactions(session)))
        await here.idle(session)
        card = compactions(session)[0]
        assert (card.trigger, card.rung) == ("economy", "model")


@pytest.mark.usefixtures("small")
async def test_a_pause_that_ends_on_a_cold_cache_asks_no_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine slept, say, or the last reply took minutes."""
    monkeypatch.setattr(economy, "COOLING_SECONDS", 0.0)
    monkeypatch.setattr(economy, "CACHE_SECONDS", -1.0)
    async with stage(folder, settings=BALANCED) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await look(here, session, 1)
        monkeypatch.setattr(economy, "COOLING_SECONDS", 240.0)
        await look(here, session, 1)
        session._cooling._cooled()  # noqa: SLF001
        assert not session.busy
        assert not session._controller.slot.begun  # noqa: SLF001
        await chat(here, session, 1)
        assert [card.rung for card in compactions(session)] == ["digest"]
        assert not any(asks_for_summary(request.body) for request in here.fake.requests)


@pytest.mark.usefixtures("small")
async def test_a_prompt_does_not_wait_for_a_summary_that_is_to_save(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(folder, settings=BALANCED) as here:
        here.fake.add_rules(when_asked_for_a_summary(Hang(Reply((Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ==="),))), times=1))
        session = await here.new()
        await look(here, session, 1)
        monkeypatch.setattr(economy, "COOLING_SECONDS", 0.0)
        await look(here, session, 1)
        await here.fake.until_held()
        await chat(here, session, 1)
        assert not compactions(session)
        here.fake.release()
        await chat(here, session, 1)
        await here.watcher.until(lambda: any(card.status == "completed" for card in compactions(session)))
        await here.idle(session)
        assert not here.refused()


@pytest.mark.usefixtures("small")
async def test_what_the_user_undid_is_not_made_again_to_save(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(folder, settings=BALANCED) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await look(here, session, 2)
        monkeypatch.setattr(economy, "CACHE_SECONDS", -1.0)
        await chat(here, session, 1)
        [made] = here.made(session)
        await session.history.undo()
        await chat(here, session, 3)
        assert here.made(session) == [made]


@pytest.mark.usefixtures("small")
async def test_what_cannot_be_written_down_is_not_paid_for_again_and_again(folder: Path) -> None:
    async with stage(folder, settings=Settings(economy="cheapest")) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        (kept_of(folder) / "transcripts").write_text("in the way")
        await look(here, session, 2)
        await chat(here, session, 30)
        assert [card.status for card in compactions(session)] == ["failed"] * len(compactions(session))
        assert 1 <= len(compactions(session)) <= 4
        assert sum(asks_for_summary(request.body) for request in here.fake.requests) <= 4


def _no_terms(self: Prices) -> None:
    return None


async def test_a_model_without_prices_is_never_compacted_to_save(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prices, "terms", _no_terms)
    async with stage(folder, settings=replace(Settings(), economy="cheapest")) as here:
        session = await here.new()
        await look(here, session, 2)
        await chat(here, session, 5)
        assert not compactions(session)

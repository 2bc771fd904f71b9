"""What summaries cost that came to nothing: it counts in the session's cost, once, whatever becomes of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.engines import Raises, policy
from tests.unit.session.filling import WINDOW, asks_for_summary, fill, fill_to_the_line, make_project, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, kept_of, stage
from tests.unit.session.test_full_disk import full_disk
from ullage.context.compaction_entries import SpentInVain
from ullage.session.session import Session
from ullage.session.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def paid(here: Stage) -> float:
    """What the API was paid for messages."""
    return sum(record.dollars for record in here.fake.requests if record.status == 200 and "messages" in (record.body or {}))


def in_vain(session: Session) -> list[SpentInVain]:
    entries = session._conversation.entries  # noqa: SLF001
    return [logged.entry for logged in entries if isinstance(logged.entry, SpentInVain)]


async def prepared(here: Stage, session: Session) -> None:
    """A draft is ready in the background."""
    controller = session._controller  # noqa: SLF001
    controller.prepare()
    if not controller.making.ahead.ready():
        done = asyncio.Event()
        controller.slot.when_done(done.set)
        await done.wait()
    assert controller.making.ahead.ready()


@pytest.mark.parametrize("how", ["excluded", "closed", "policy", "focus"])
async def test_a_draft_that_is_thrown_away_has_cost_what_it_cost(folder: Path, how: str) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        await prepared(here, session)
        assert session.snapshot().gauge.cost != pytest.approx(paid(here))  # not yet known what becomes of it
        match how:
            case "excluded":
                await session.history.exclude(next(item.id for item in session.snapshot().items))
            case "closed":
                await session.close()
            case "policy":
                here.use_policy("codex")
            case _:
                session.compact("the units")
                await here.idle(session)
        assert len(in_vain(session)) == 1
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))


async def test_a_draft_that_serves_counts_once(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        await prepared(here, session)
        session.compact()
        await here.idle(session)
        assert compactions(session)[0].rung == "model"
        assert not in_vain(session)
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))


async def test_what_is_known_of_cost_is_there_after_a_restart_and_in_the_epochs(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        await prepared(here, session)
    async with stage(folder, window=WINDOW, fake=None) as again:
        opened = await again.sessions.open(None)
        [lost] = in_vain(opened)
        assert lost.cost
        cost = opened.snapshot().gauge.cost
        [epoch], _ = await opened.history.epochs()
        assert cost == pytest.approx(epoch.cost)
        assert cost is not None and 0 < lost.cost < cost


async def test_a_summary_after_which_nothing_could_be_compacted_has_cost_what_it_cost_and_is_not_asked_for_again(folder: Path) -> None:
    async with stage(folder, window=16_000) as here:
        here.fake.add_rules(when_asked_for_a_summary(Say("=== RECORD ===\n" + "word " * 4_000 + "\n=== END OF RECORD ===")))
        session = await here.new()
        here.fake.enqueue(Say("Hello."))
        await here.say(session, "Hello")
        for _ in range(2):
            session.compact()
            await here.idle(session)
        assert not here.made(session)
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))


async def test_what_could_not_be_written_down_has_cost_what_it_cost(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        transcripts = kept_of(folder) / "transcripts"
        transcripts.write_text("in the way")
        session.compact()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["failed"]
        assert any(asks_for_summary(record.body) for record in here.fake.requests)
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))
        transcripts.unlink()
        session.compact()
        await here.idle(session)
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))


async def test_what_an_engine_could_not_use_in_the_background_has_cost_what_it_cost(folder: Path) -> None:
    from tests.unit.session.test_policies_live import telling

    async with stage(folder, window=WINDOW, settings=Settings(policy_name="tried"), extra=[policy(Raises("summarise"))]) as here:
        here.fake.add_rules(telling())
        session = await here.new()
        await fill_to_the_line(here, session)
        controller = session._controller  # noqa: SLF001
        await controller.slot.take()
        controller.prepare()
        await controller.slot.take()
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))


async def test_what_could_not_even_be_logged_is_logged_when_the_disk_has_room_again(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        with full_disk(here):
            session.compact()
            await here.idle(session)
        assert not here.made(session)
        assert not in_vain(session)
        await fill(here, session, 1)
        assert len(in_vain(session)) == 1
        assert session.snapshot().gauge.cost == pytest.approx(paid(here))

"""Compactions that are prepared in the background: when they are begun, used, and given up."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from pathlib import Path

import pytest

from tests.fake_api import Call, ErrorAfter, Fail, Hang, Reply, Say
from tests.patience import PATIENCE
from tests.unit.session.filling import (
    SUMMARY,
    WINDOW,
    asks_for_summary,
    compact,
    fill,
    fill_to_the_line,
    in_view,
    is_near_the_threshold,
    make_project,
    summaries,
    when_asked_for_a_summary,
)
from tests.unit.session.harness import Stage, compactions, items, stage
from ullage.context.compaction import making
from ullage.context.compaction.proof import Proof
from ullage.context.compaction_entries import Held, SpentInVain
from ullage.session.compacting import controller as controlling
from ullage.session.session import Session
from ullage.session.timeline.items import UserItem

RECORD = Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ===")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def summary_calls(here: Stage) -> int:
    return sum(asks_for_summary(record.body) for record in here.fake.requests)


async def until_no_draft_is_in_work() -> None:
    """Raises `TimeoutError` where one is begun after the other."""
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):  # the pause in typing, which takes no time here
            await asyncio.sleep(0)
        while drafts := [task for task in asyncio.all_tasks() if task.get_name() == "prepare a compaction"]:
            await asyncio.wait(drafts)
            await asyncio.sleep(0)


async def test_what_could_not_be_prepared_is_not_tried_again_before_there_is_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controlling, "PAUSE_SECONDS", 0.0)
    async with stage(folder, window=16_000) as here:
        session = await here.new()
        here.fake.enqueue(Say("Hello."))
        await here.say(session, "Hello")
        here.sessions.document_changed((folder / "tank.py").resolve(), "changed", 1)
        await until_no_draft_is_in_work()
        assert not is_near_the_threshold(session)
        assert compactions(session) == []
        here.fake.enqueue(Say("More."))
        await here.say(session, "More? " * 2_000)
        assert is_near_the_threshold(session)


async def test_a_session_that_is_closed_asks_the_model_for_nothing_more(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        await until_no_draft_is_in_work()
        before = summary_calls(here)
        here.fake.enqueue(Hang())
        await session.prompt("Wait")
        await here.fake.until_held()
        await session.close()
        await until_no_draft_is_in_work()
        assert summary_calls(here) == before


async def test_the_card_counts_from_what_the_gauge_showed(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        here.fake.enqueue(Say("One."), Say("Two."))
        await here.say(session, "Some words. " * 200)
        before = session.snapshot().gauge
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.tokens_before == before.used
        assert card.tokens_after == session.snapshot().gauge.used


async def test_a_draft_that_tells_of_what_was_excluded_since_is_made_anew(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        told = Say("=== RECORD ===\nPanel seven hides it.\n=== END OF RECORD ===")
        here.fake.add_rules(when_asked_for_a_summary(told, times=1), summaries())
        session = await here.new()
        here.fake.enqueue(Say("I see."))
        await here.say(session, "The gauge is hidden behind panel seven.")
        [gone] = [item for item in items(session) if isinstance(item, UserItem)]
        await fill_to_the_line(here, session)
        await until_no_draft_is_in_work()
        assert summary_calls(here) == 1
        await session.history.exclude(gone.id)
        await compact(here, session)
        assert summary_calls(here) == 2
        assert "anel seven" not in in_view(session)


async def test_what_the_api_refused_is_compacted_for_its_own_size_though_a_draft_is_ready(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        await until_no_draft_is_in_work()
        assert summary_calls(here) == 1
        refusal = Fail(400, "invalid_request_error", "prompt is too long: 70000 tokens > 60000 maximum")
        here.fake.enqueue(refusal, Say("Here."))
        await here.say(session, "More")
        [card] = compactions(session)
        assert (card.trigger, card.status) == ("reactive", "completed")
        assert any(isinstance(logged.entry, SpentInVain) for logged in session.entries)


async def test_the_model_is_asked_no_longer_for_a_draft_that_another_compaction_overtook(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(Hang(Reply((RECORD,)))))
        session = await here.new()
        await fill_to_the_line(here, session)
        await here.fake.until_held()
        here.fake.enqueue(Fail(400, "invalid_request_error", "prompt is too long: 70000 tokens > 60000 maximum"), Say("Here."))
        await here.say(session, "More")
        assert [card.trigger for card in compactions(session)] == ["reactive"]
        [draft] = [record for record in here.fake.requests if asks_for_summary(record.body)]
        async with asyncio.timeout(PATIENCE):
            await draft.ended.wait()


async def test_a_compaction_that_waits_for_its_summary_is_shown(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(Hang(Reply((RECORD,)))))
        session = await here.new()
        await fill_to_the_line(here, session)
        await here.fake.until_held()
        here.fake.enqueue(Say("Answered."))
        await session.prompt("word " * 8_000)
        await here.watcher.until(lambda: [card.status for card in compactions(session)] == ["in_progress"])
        assert session.state == "compacting"
        here.fake.release()
        await here.idle(session)
        assert summary_calls(here) == 1


async def test_a_compaction_that_the_user_asked_for_is_made_though_the_turn_failed(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Hang(Reply((Say("One two three four"),), chunk_size=4, interruption=ErrorAfter(2))))
        await session.prompt("Wait")
        await here.fake.until_held()
        compaction_id = session.compact()
        assert session.compact("the units") == compaction_id
        here.fake.release()
        await here.idle(session)
        assert [(card.id, card.status, card.focus) for card in compactions(session)] == [(compaction_id, "completed", "the units")]


# Proved before it is used


async def draft_then_look_at(here: Stage, session: Session, *names: str) -> None:
    """A draft is made, and then the agent speaks of files that it saw before."""
    await fill_to_the_line(here, session)
    await until_no_draft_is_in_work()
    here.fake.enqueue(Say(f"I think of {', '.join(names)}."))
    await here.say(session, "And?")
    await until_no_draft_is_in_work()


async def test_the_card_says_what_a_draft_was_checked_against(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await draft_then_look_at(here, session, "readings.csv", "readings1.csv", "new.csv")
        here.fake.enqueue(Say("Answered."))
        await here.say(session, "word " * 8_000)
        [card] = compactions(session)
        assert summary_calls(here) == 1
        assert card.checked is not None
        assert (card.checked.ahead, card.checked.paths) == (True, Held(2, 2))
        assert card.checked.messages >= 2  # the prompt and its answer, at least


async def test_what_a_draft_lacks_is_added_to_its_summary(folder: Path) -> None:
    (folder / "notes.txt").write_text("panel_seven_valve is stuck since 4d5e6f7a\n")
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue(Call("read_file", {"path": "notes.txt"}), Say("Seen."))
        await here.say(session, "Look at the notes")
        await draft_then_look_at(here, session, "4d5e6f7a")
        here.fake.enqueue(Say("Answered."))
        await here.say(session, "word " * 8_000)
        [card] = compactions(session)
        assert card.checked is not None and card.checked.hashes.used == 1
        assert "4d5e6f7a" in card.summary


async def test_a_check_that_fails_holds_no_compaction_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Proof:
        raise ZeroDivisionError

    monkeypatch.setattr(making, "prove", fails)
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await draft_then_look_at(here, session, "readings.csv")
        here.fake.enqueue(Say("Answered."))
        await here.say(session, "word " * 8_000)
        [card] = compactions(session)
        assert (card.status, card.checked) == ("completed", None)


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft that lacks anything lacks too much."""
    monkeypatch.setattr(Proof, "lacks_much", property(attrgetter("checked.ahead")))


@pytest.mark.usefixtures("overtaken")
async def test_a_draft_that_was_overtaken_is_made_anew_at_the_threshold(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await draft_then_look_at(here, session, "readings.csv")
        here.fake.enqueue(Say("Answered."))
        await here.say(session, "word " * 8_000)
        [card] = compactions(session)
        assert card.status == "completed"
        assert summary_calls(here) == 2
        assert any(isinstance(logged.entry, SpentInVain) for logged in session.entries)


@pytest.mark.usefixtures("overtaken")
async def test_a_compaction_that_can_wait_waits_where_its_draft_was_overtaken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controlling, "PAUSE_SECONDS", 0.0)
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await draft_then_look_at(here, session, "readings.csv")
        here.sessions.document_changed((folder / "tank.py").resolve(), "changed", 1)
        await until_no_draft_is_in_work()
        await here.idle(session)
        assert compactions(session) == []
        here.fake.enqueue(Say("Answered."))
        await here.say(session, "word " * 8_000)
        assert [card.status for card in compactions(session)] == ["completed"]  # the threshold does not wait

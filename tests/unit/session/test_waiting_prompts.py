"""Prompts that wait while something else is done, and what becomes of them after it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fake_api import Hang, Reply, Say
from tests.unit.session.filling import SUMMARY, WINDOW, fill, fill_to_the_line, make_project, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, items, notices, stage
from ullage.session.attachments import FileRef, ProblemsRef
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.timeline.items import AssistantItem, UserItem
from ullage.session.timeline.updates import StateChanged

HELD_SUMMARY = Hang(Reply((Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ==="),)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def last_answer(session: Session) -> str:
    last = items(session)[-1]
    assert isinstance(last, AssistantItem)
    return last.text


def prompts(session: Session) -> list[tuple[str, bool]]:
    return [(item.text, item.queued) for item in items(session) if isinstance(item, UserItem)]


async def test_a_prompt_that_is_sent_during_a_compaction_is_answered_after_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(HELD_SUMMARY))
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.fake.until_held()
        here.fake.enqueue(Say("Answered."))
        await session.prompt("Are you there?")
        here.fake.release()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["completed"]
        assert last_answer(session) == "Answered."
        assert notices(session) == []


def states(here: Stage) -> list[str]:
    return [update.state for _, _, update in here.watcher.updates if isinstance(update, StateChanged)]


async def test_a_stop_behind_a_prompt_whose_attachments_are_still_read_stops_that_prompt(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        async with session._arriving:  # noqa: SLF001
            coming = asyncio.create_task(session.prompt("Are you there?"))
            await asyncio.sleep(0)
            session.cancel()
        await coming
        assert states(here) == []
        await here.idle(session)
        assert states(here) == ["idle"]  # who waits for the end of that turn hears of it
        assert prompts(session) == [("Are you there?", True)]
        assert [notice.action for notice in notices(session)] == ["continue"]
        here.fake.enqueue(Say("Here."), Say("Still."))
        await here.say(session, "And now?")
        assert [text for text, _ in prompts(session)] == ["Are you there?", "And now?"]
        assert last_answer(session) == "Still."


async def test_after_a_compaction_that_was_stopped_prompts_wait_for_the_user(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(HELD_SUMMARY, times=1))
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.fake.until_held()
        await session.prompt("Are you there?")
        session.cancel()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["cancelled"]
        assert prompts(session)[-1] == ("Are you there?", True)
        assert [notice.action for notice in notices(session)] == ["continue"]


async def test_nothing_is_offered_once_the_last_waiting_prompt_was_taken_back(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("Never."),))))
        session = await here.new()
        await session.prompt("One")
        await here.fake.until_held()
        second = await session.prompt("Two")
        session.cancel()
        await here.idle(session)
        assert "waiting" in notices(session)[-1].text
        session.unqueue(second)
        assert [notice.text for notice in notices(session)] == ["Stopped."]


async def test_what_was_attached_comes_back_with_a_prompt_that_is_taken_back(folder: Path) -> None:
    (folder / "dip.txt").write_text("2 m")
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("Never."),))))
        session = await here.new()
        await session.prompt("One")
        await here.fake.until_held()
        second = await session.prompt("Two", [FileRef(folder / "dip.txt"), ProblemsRef()])
        assert session.unqueue(second) == (FileRef(folder / "dip.txt"), ProblemsRef())


async def test_a_prompt_for_which_room_is_being_made_cannot_be_taken_back(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(HELD_SUMMARY))
        session = await here.new()
        await fill_to_the_line(here, session)
        here.fake.enqueue(Say("Answered."))
        prompt_id = await session.prompt("word " * 8_000)
        await here.watcher.until(lambda: session.state == "compacting")
        with pytest.raises(SessionError):
            session.unqueue(prompt_id)
        await here.fake.until_held()
        here.fake.release()
        await here.idle(session)
        assert last_answer(session) == "Answered."


async def test_after_room_was_made_the_session_runs_and_no_longer_compacts(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        here.fake.enqueue(Hang(Reply((Say("Answered."),))))
        await session.prompt("word " * 8_000)
        await here.fake.until_held()
        assert [card.status for card in compactions(session)] == ["completed"]
        assert session.state == "running"
        here.fake.release()
        await here.idle(session)


async def test_a_prompt_does_not_overtake_one_whose_attachments_are_being_read(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("One."), Say("Two."))
        session = await here.new()
        await asyncio.gather(session.prompt("First", [FileRef(folder.resolve() / "tank.py")]), session.prompt("Second"))
        await here.idle(session)
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["First", "Second"]


async def test_prompts_that_wait_for_the_user_are_not_sent_because_something_was_compacted(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Hang(Reply((Say("Never."),))))
        await session.prompt("One")
        await here.fake.until_held()
        await session.prompt("Two")
        session.cancel()
        await here.idle(session)
        asked = len(here.fake.requests)
        session.compact()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["completed"]
        assert prompts(session)[-1] == ("Two", True)
        assert len(here.fake.requests) == asked + 1
        assert notices(session)[-1].action == "continue"
        here.fake.enqueue(Say("Two is answered."), Say("Three, too."))
        await here.say(session, "Three")
        assert [queued for _, queued in prompts(session)] == [False] * 5
        assert last_answer(session) == "Three, too."

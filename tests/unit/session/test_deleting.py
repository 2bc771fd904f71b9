"""A deleted session leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Say
from tests.unit.session.harness import kept_of, stage
from ullage.session import long_work
from ullage.session.errors import SessionError
from ullage.session.long_work import collect_all
from ullage.session.session import Session
from ullage.session.sessions import sessions


async def test_a_deleted_session_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(12):
        (folder / f"big{number}.txt").write_text("".join(f"{number} {line} secretword\n" for line in range(1_600)))
    async with stage(folder) as here:
        reads = [Call("read_file", {"path": f"big{number}.txt"}) for number in range(12)]
        here.fake.enqueue(reads, Call("bash", {"command": "seq 1 20000"}), Say("Much."))
        session = await here.new()
        await session.prompt("Read all")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        outputs = kept_of(folder) / "tool-results"
        assert len(list(outputs.iterdir())) > 1
        await here.sessions.delete(session.id)
        assert list(outputs.iterdir()) == []
        assert here.sessions.summaries() == []


async def test_a_session_that_is_being_deleted_is_not_opened_a_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    begun, may_end, close = asyncio.Event(), asyncio.Event(), Session.close

    async def slow(self: Session) -> None:
        begun.set()
        await may_end.wait()
        await close(self)

    monkeypatch.setattr(Session, "close", slow)
    async with stage(folder) as here:
        here.fake.enqueue(Hang())
        session = await here.new()
        await session.prompt("Wait")
        await here.fake.until_held()
        deleting = asyncio.create_task(here.sessions.delete(session.id))
        await begun.wait()
        opened = await here.sessions.open(session.id)
        may_end.set()
        await deleting
        assert opened is session
        with pytest.raises(SessionError):
            await here.sessions.open(session.id)
        assert here.sessions.summaries() == []


async def test_a_deleted_session_leaves_nothing_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "collect_all", collect_all)  # which conftest.py leaves out
    monkeypatch.setattr(long_work, "MANY", 0)  # so that it is opened as a long one is, which the collector does not walk
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Stay")
        session_id, gone = session.id, weakref.ref(session)
        del session
        await here.sessions.delete(session_id)
        assert gone() is None


async def test_sub_agents_that_ended_and_short_sessions_are_left_to_the_collector(tmp_path: Path) -> None:
    """Whatever it is not to walk stays in memory until a session is closed: with hundreds of sub-agents that would be gigabytes."""
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder) as here:
        spared = gc.get_freeze_count()
        session = await here.new()
        here.fake.enqueue(Call("task", {"title": "Look", "prompt": "Is it there?"}), Say("It is."), Say("Yes."))
        await here.say(session, "Look for it")
        assert gc.get_freeze_count() <= spared

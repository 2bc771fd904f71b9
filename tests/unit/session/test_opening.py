"""Opening a session: its log is read beside everything else, once, and nobody is told of it entry by entry."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.patience import PATIENCE
from tests.unit.session.harness import Stage, items, stage
from ullage.context.entries import Logged
from ullage.session.errors import SessionError
from ullage.store.log_store import LogStore


class HeldReads:
    """Reading a log waits until it is let go on; `threads` are those that it was read in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.threads: list[threading.Thread] = []
        load = LogStore.load

        def held(store: LogStore, session_id: str) -> list[Logged]:
            self.threads.append(threading.current_thread())
            self.begun.set()
            self.go_on.wait(PATIENCE)
            return load(store, session_id)

        monkeypatch.setattr(LogStore, "load", held)


async def _told(folder: Path, turns: int = 3) -> str:
    """A session with some turns, as it was left; gives its id."""
    async with stage(folder) as here:
        session = await here.new()
        for turn in range(turns):
            here.fake.enqueue(Say(f"Answer {turn}"))
            await here.say(session, f"Question {turn}")
        return session.id


async def _opening(here: Stage, reads: HeldReads, session_id: str) -> asyncio.Task[object]:
    task: asyncio.Task[object] = asyncio.create_task(_open(here, session_id))
    await asyncio.to_thread(reads.begun.wait, 20)
    return task


async def _open(here: Stage, session_id: str) -> object:
    return await here.sessions.open(session_id)


async def test_what_was_said_before_stands_in_the_snapshot_and_is_not_told_again(tmp_path: Path):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        session = await here.sessions.open(session_id)
        assert len(items(session)) == 6
        assert here.watcher.updates == []


async def test_other_work_goes_on_while_a_session_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        other = await here.new()
        reads = HeldReads(monkeypatch)
        opening = await _opening(here, reads, session_id)
        here.fake.enqueue(Say("Meanwhile."))
        await here.say(other, "What now?")
        assert not opening.done()
        reads.go_on.set()
        await opening
        assert threading.main_thread() not in reads.threads


async def test_a_session_that_is_being_read_is_not_read_a_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        reads = HeldReads(monkeypatch)
        opening = await _opening(here, reads, session_id)
        again = asyncio.create_task(_open(here, session_id))
        reads.go_on.set()
        assert await opening is await again
        assert len(reads.threads) == 1


async def test_a_session_that_is_deleted_while_it_is_read_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        reads = HeldReads(monkeypatch)
        opening = await _opening(here, reads, session_id)
        deleting = asyncio.create_task(here.sessions.delete(session_id))
        reads.go_on.set()
        await asyncio.gather(opening, deleting)
        with pytest.raises(SessionError):
            await here.sessions.open(session_id)


async def test_a_title_that_is_given_while_it_is_read_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        reads = HeldReads(monkeypatch)
        opening = await _opening(here, reads, session_id)
        renaming = asyncio.create_task(here.sessions.rename(session_id, "Tank"))
        reads.go_on.set()
        await asyncio.gather(opening, renaming)
        assert here.sessions.get(session_id).title == "Tank"


async def test_settings_that_change_while_it_is_read_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session_id = await _told(tmp_path)
    async with stage(tmp_path) as here:
        reads = HeldReads(monkeypatch)
        opening = await _opening(here, reads, session_id)
        here.use_policy("codex")
        reads.go_on.set()
        await opening
        assert here.sessions.get(session_id).snapshot().gauge.policy == "codex"

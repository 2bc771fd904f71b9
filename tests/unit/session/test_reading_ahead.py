"""What a program summary asks of a log is read while the session goes on, so that no compaction waits for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.harness import stage
from tests.unit.session.test_long_sessions import write
from ullage.context.entries import Logged
from ullage.context.summary import facts
from ullage.context.summary.facts import Reading
from ullage.session.compacting.ahead import BATCH
from ullage.session.session import Session
from ullage.session.settings import Settings


async def all_read(session: Session) -> int:
    """How many entries were read, once nothing is being read."""
    ahead = session._means.reading  # noqa: SLF001
    await ahead.done()
    with ahead.lent() as reading:
        assert reading is not None
        return len(reading.of(session._conversation.entries)) - ahead.unread  # noqa: SLF001


async def test_a_session_that_is_opened_is_read_beside_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    threads: list[threading.Thread] = []

    def watched(entries: list[Logged], reading: Reading) -> int:
        threads.append(threading.current_thread())
        return facts.read_ahead(entries, reading)

    monkeypatch.setattr("ullage.session.compacting.ahead.read_ahead", watched)
    write(tmp_path / "long", 200)
    async with stage(tmp_path / "long") as here:
        session = await here.sessions.open(None)
        assert await all_read(session) == 601
        assert len(threads) == 1
        assert threading.main_thread() not in threads


async def test_what_is_new_is_read_some_entries_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []

    def watched(entries: list[Logged], reading: Reading) -> int:
        read.append(facts.read_ahead(entries, reading))
        return read[-1]

    monkeypatch.setattr("ullage.session.compacting.ahead.read_ahead", watched)
    async with stage(tmp_path, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        for turn in range(25):
            here.fake.enqueue(Say(f"Answer {turn}"))
            await here.say(session, f"Question {turn}")
        await all_read(session)
        assert read
        assert all(BATCH <= each < 2 * BATCH for each in read)
        assert len(session._conversation.entries) - sum(read) < BATCH  # noqa: SLF001


async def test_who_never_gives_back_what_was_read_keeps_nobody_from_a_compaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ullage.session.compacting.ahead.PATIENCE", 0.01)
    write(tmp_path / "long", 60)
    async with stage(tmp_path / "long", settings=Settings(summary_engine="digest")) as here:
        session = await here.sessions.open(None)
        here.fake.enqueue(Say("Water."))
        await here.say(session, "And now?")
        await all_read(session)
        with session._means.reading.lent():  # noqa: SLF001
            session.compact()
            await here.idle(session)
        assert len(here.made(session)) == 1

"""Entries that are not in memory are lost, or damaged, while a session is open: the session goes on with the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import make_project
from tests.unit.session.harness import Stage, compactions, kept_of, stage
from ullage.context.entries import TurnEnded
from ullage.context.view.paged_log import Log
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.store import folder as ullage_folder

FIRST, LAST = 4, 20
"""Of the entries that are lost: all of them are summarised by then."""


@pytest.fixture(autouse=True)
def few_in_memory() -> Generator[None]:
    small = {"page": 4, "newest": 8, "cached": 1}
    with patch.object(Log.__init__, "__kwdefaults__", {**(Log.__init__.__kwdefaults__ or {}), **small}):
        yield


def lose(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM entry WHERE seq BETWEEN ? AND ?", (FIRST, LAST))


def damage(database: sqlite3.Connection) -> None:
    database.execute("UPDATE entry SET body = substr(body, 1, 10) || 'X' || substr(body, 12) WHERE seq BETWEEN ? AND ?", (FIRST, LAST))


async def say(here: Stage, session: Session, text: str) -> None:
    here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("It holds 100. " * 30))
    await here.say(session, text)
    end = next(logged.entry for logged in reversed([*session.in_memory]) if isinstance(logged.entry, TurnEnded))
    assert end == TurnEnded("end_turn")


@pytest.mark.parametrize("happen", [lose, damage])
async def test_the_session_goes_on_with_the_rest(tmp_path: Path, happen: Callable[[sqlite3.Connection], None]) -> None:
    folder = make_project(tmp_path)
    async with stage(folder) as here:
        session = await here.new()
        for number in range(12):
            await say(here, session, f"How much {number}?")
        session.compact()
        await here.idle(session)
        for number in range(12, 20):
            await say(here, session, f"How much {number}?")
        assert not {logged.seq for logged in session.in_memory} & set(range(FIRST, LAST + 1))
        with closing(sqlite3.connect(ullage_folder.database(kept_of(folder)))) as database, database:
            happen(database)

        await say(here, session, "Go on")
        session.snapshot()
        await session.history.preview()
        await session.history.epochs()
        session.compact()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["completed", "completed"]
        for _ in range(2):
            try:
                await session.history.undo()
            except SessionError as error:
                assert "damaged or lost" in str(error)
        await say(here, session, "And on")
        assert here.refused() == []
        told = [text for text in here.watcher.warnings if "of this session" in text and "damaged" in text]
        assert bool(told) == (happen is damage), "what is gone without a trace is found at the next opening"
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        await say(here, again, "Well?")
        assert [text for text in here.watcher.warnings if f"Entries {FIRST} to {LAST}" in text or f"entry {FIRST} to {LAST}" in text]

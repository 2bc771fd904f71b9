"""Another program locks the log while the user works: the turn goes on, and nothing that was shown is gone after a reload."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.session.filling import make_project
from tests.unit.session.harness import calls, items, stage
from ullage.session.session import Session
from ullage.session.timeline.items import AssistantItem, UserItem
from ullage.store import folder as ullage_folder
from ullage.store.folder import folder_of


def said(session: Session) -> list[str]:
    return [item.text for item in items(session) if isinstance(item, UserItem | AssistantItem)]


async def test_a_turn_under_a_lock_is_there_after_a_reload_and_is_not_paid_for_again(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    database = ullage_folder.database(folder_of(folder, tmp_path / "project-state"))
    async with stage(folder) as here:
        session = await here.new()
        locking = sqlite3.connect(database, isolation_level=None)
        locking.execute("BEGIN EXCLUSIVE")
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("It holds 100."))
        await here.say(session, "How much?")
        assert [call.status for call in calls(session)] == ["completed"]
        shown = said(session)
        assert shown == ["How much?", "It holds 100."]
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        assert said(again) == shown
        locking.close()
        here.fake.enqueue(Say("Yes."))
        await here.say(again, "Really?")
        assert not here.refused()
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        assert said(again) == [*shown, "Really?", "Yes."]
        assert [logged.seq for logged in again.entries] == list(range(1, len(again.entries) + 1))

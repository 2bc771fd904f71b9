"""The memory blocks of `memgpt` in a session: edited by the model, kept by the log alone, shown after a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, fill, make_project
from tests.unit.session.harness import calls, compactions, stage
from ullage.session.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def test_notes_are_kept_by_the_log_and_stand_in_the_handoff(folder: Path) -> None:
    settings = Settings(policy_name="memgpt", summary_engine="digest")
    async with stage(folder, window=WINDOW, settings=settings) as here:
        session = await here.new()
        here.fake.enqueue(
            Call("memory", {"block": "task", "action": "append", "text": "Mend the gauge"}),
            Call("memory", {"block": "task", "action": "replace", "old_text": "gauge", "text": "valve"}),
            Call("memory", {"block": "task", "action": "replace", "old_text": "not there", "text": "x"}),
            Say("Noted."),
        )
        await here.say(session, "Mend it")
        assert [call.status for call in calls(session)] == ["completed", "completed", "failed"]
        assert "Mend the valve" in calls(session)[1].output
        await fill(here, session, 4)
        session.compact()
        await here.idle(session)
        assert "## task (14 of 100,000 characters)" in compactions(session)[-1].summary
        assert "\nMend the valve\n" in compactions(session)[-1].summary
        assert here.refused() == []


async def test_under_another_policy_there_is_no_such_tool(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        here.fake.enqueue(Say("Yes?"))
        await here.say(session, "Hello")
        assert "memory" not in [tool["name"] for tool in here.fake.requests[0].body["tools"]]

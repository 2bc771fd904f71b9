"""Rules that came into force in the middle of a session, when the server has been started anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.filling import compact, fill, make_project
from tests.unit.session.harness import stage


@pytest.mark.parametrize(
    ("name", "text"),
    [(".cursor/rules/csv.mdc", "---\nglobs: *.csv\n---\nMind the tide."), ("deep/AGENTS.md", "Mind the tide.")],
)
async def test_they_hold_through_the_next_compaction(tmp_path: Path, name: str, text: str) -> None:
    folder = make_project(tmp_path)
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "readings.csv").rename(folder / "deep" / "readings.csv")
    (folder / "readings.csv").symlink_to("deep/readings.csv")
    async with stage(folder) as here:
        session = await here.new()
        await fill(here, session, 3)
        assert "Mind the tide." in str(here.fake.requests[-1].body["messages"])
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        await compact(here, again)
        here.fake.enqueue(Say("Yes."))
        await here.say(again, "And now?")
        assert "Mind the tide." in str(here.fake.requests[-1].body["messages"])

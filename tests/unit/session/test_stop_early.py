"""Stopping before anything has begun leaves nothing hanging."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import Say
from tests.unit.session.harness import items, notices, stage
from ullage.session.timeline.items import UserItem


async def test_a_prompt_that_was_stopped_before_its_turn_began_waits_and_can_be_sent(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder) as here:
        here.fake.enqueue(Say("Now."))
        session = await here.new()
        await session.prompt("Hello")
        session.cancel()
        await here.idle(session)
        [prompt] = [item for item in items(session) if isinstance(item, UserItem)]
        assert prompt.queued
        assert [notice.action for notice in notices(session)] == ["continue"]
        session.resume()
        await here.idle(session)
        [prompt] = [item for item in items(session) if isinstance(item, UserItem)]
        assert not prompt.queued
        assert notices(session) == []

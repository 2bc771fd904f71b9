"""The message of a commit, by the session's model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.harness import items, stage
from ullage.session.commit_message import Changed
from ullage.session.errors import SessionError

DIFF = "diff --git a/tank.py b/tank.py\n--- a/tank.py\n+++ b/tank.py\n@@ -1 +1 @@\n-dip = 1\n+dip = 2\n"


async def test_it_is_written_in_a_request_of_its_own_and_counted(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("gauge = 3\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\x00")
    async with stage(tmp_path) as here:
        here.fake.enqueue(Say("Hello."), Say("```\nRead the second dip\n```"))
        session = await here.new()
        await here.say(session, "Hello")
        before, shown, cost = session.entries[:], items(session), session.snapshot().gauge.cost or 0
        new = [tmp_path.resolve() / name for name in ("new.py", "picture.png", "gone.py")]
        outside = tmp_path.resolve().parent / "secret.txt"
        text = await session.commit_message(Changed(DIFF, [*new, outside], ["Name tanks"]))
        assert text == "Read the second dip"
        body = here.fake.requests[-1].body
        told = str(body["messages"])
        assert len(body["messages"]) == 1
        assert "Hello" not in told
        assert not body.get("tools")
        assert all(part in told for part in ("+dip = 2", "gauge = 3", "picture.png", "Name tanks"))
        assert "secret" not in told
        assert "gone.py" not in told
        assert (session.entries[:], items(session)) == (before, shown)
        after = session.snapshot().gauge.cost or 0
        assert after > cost
    async with stage(tmp_path) as here:
        again = await here.sessions.open(session.id)
        assert again.snapshot().gauge.cost == pytest.approx(after)  # pyright: ignore[reportUnknownMemberType]


async def test_nothing_is_asked_where_nothing_is_changed(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        session = await here.new()
        with pytest.raises(SessionError, match="nothing to commit"):
            await session.commit_message(Changed(" \n", [tmp_path / "gone.py"]))
        assert here.fake.requests == []


async def test_an_answer_without_a_message_is_said_and_counted(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Say(" "))
        session = await here.new()
        with pytest.raises(SessionError, match="wrote no commit message"):
            await session.commit_message(Changed(DIFF))
        assert session.snapshot().gauge.cost


async def test_it_can_be_stopped(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        session = await here.new()
        asking = asyncio.create_task(session.commit_message(Changed(DIFF)))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not session.busy

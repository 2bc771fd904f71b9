"""Sub-agents that act, with the real server process: one that is killed with it, and one about which another editor is asked."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from acp import schema

from tests.fake_api import Call, FakeApi, Say
from tests.patience import PATIENCE
from tests.server.acp_client import acp_editor
from tests.server.client import UllageClient, call_of
from tests.server.test_turns import window
from tests.unit.session.acting import define, edit, task
from ullage.lsp import protocol
from ullage.lsp.protocol import changes, permissions, sessions
from ullage.lsp.protocol import items as wire


@pytest.fixture
def mended(folder: Path) -> Path:
    """The workspace folder, with a file and a sub-agent that acts."""
    (folder / ".claude" / "agents").mkdir(parents=True)
    (folder / "tank.py").write_text("CAPACITY = 100\n")
    define(folder)
    return folder


async def allow_all(client: UllageClient, session_id: str, count: int) -> None:
    """Allows so many questions as they come."""
    answered = {None, ""}
    for _ in range(count):
        asked = await client.until(lambda update: (item := call_of(update)) is not None and item.permission_id not in answered)
        item = call_of(asked.update)
        assert item is not None
        answered.add(item.permission_id)
        await client.ask(protocol.RESPOND, permissions.RespondParams(session_id, item.id, item.permission_id or "", "allow_once"))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL, and no named pipe of this kind")
async def test_one_that_is_killed_with_the_server_leaves_its_log_its_cost_and_its_changes(mended: Path, state: Path) -> None:
    alive = mended / "alive"
    os.mkfifo(alive)
    left = "echo y >> tank.py; exec 3>alive; echo up >&3; setsid sleep 1000"
    async with FakeApi() as fake:
        fake.enqueue(
            [Say("I have it mended."), task()],
            [Say("I begin."), Call("write_file", {"path": "new.py", "content": "x = 1\n"})],
            [Call("bash", {"command": left})],
        )
        async with window(fake, mended, state) as client:
            opened = await client.open()
            await client.prompt(opened.session_id, "Mend it")
            await allow_all(client, opened.session_id, 3)  # that it acts, the file, the command
            reader = await asyncio.to_thread(os.open, alive, os.O_RDONLY)
            assert await asyncio.to_thread(os.read, reader, 3) == b"up\n"
            client.process.send_signal(signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                await client.process.wait()
                assert await asyncio.to_thread(os.read, reader, 1) == b""  # whatever held the pipe is gone
            os.close(reader)
        assert len(fake.requests) == 3
        async with window(fake, mended, state) as client:
            again = await client.open()
            assert again.session_id == opened.session_id
            [called] = [item for item in again.items if isinstance(item, wire.ToolCallItem)]
            assert (called.status, called.permission) == ("failed", None)
            assert "This call was interrupted before the sub-agent “fixer” was done" in called.output
            assert "> I begin." in called.output
            assert "[It changed `new.py`, `tank.py`." in called.output
            assert called.agent is not None
            assert (called.agent.cost or 0.0) > 0
            [cost] = [item.turn_cost for item in again.items if isinstance(item, wire.UserItem)]
            assert cost is not None
            assert cost.agent_cost == called.agent.cost
            assert (again.gauge.cost or 0.0) == pytest.approx(fake.dollars)
            log: sessions.Snapshot = await client.open(called.agent.session_id)
            assert log.agent_of == opened.session_id
            assert log.state == "idle"
            names = [item.name for item in log.items if isinstance(item, wire.ToolCallItem)]
            assert names == ["write_file", "bash"]
            back: changes.DecidedResult = await client.ask(protocol.UNDO_CHANGES, changes.DecideParams(opened.session_id))
            assert sorted(each.path for each in back.files) == ["new.py", "tank.py"]
            assert (mended / "tank.py").read_text() == "CAPACITY = 100\n"
            assert not (mended / "new.py").exists()
            now: sessions.Snapshot = await client.ask(protocol.SNAPSHOT, protocol.SessionParams(opened.session_id))
            fake.enqueue(Say("I go on."))
            await client.prompt(opened.session_id, "Go on")
            await client.until_idle(now.seq)
            assert len(fake.requests) == 4  # the sub-agent was not gone on with
            assert [record.error for record in fake.requests if record.status == 400] == []


async def test_other_editors_are_asked_with_the_change_and_the_name_of_the_sub_agent(mended: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        await editor.initialize()
        session = (await editor.new_session(mended)).session_id
        editor.answer = "allow_once"
        read = [Call("read_file", {"path": "tank.py"})]
        fake.enqueue([task()], read, edit(), Say("It holds 200."), Say("Mended."))
        assert await editor.prompt(session, "Mend it") == "end_turn"
        (begun, _), (asked, _) = editor.asked
        assert "`.claude/agents/fixer.md` of this project tells it to" in str(begun.content)
        assert asked.title == "fixer: Mend it"
        change = (asked.content or [])[0]
        assert isinstance(change, schema.FileEditToolCallContent)
        assert (change.path, "CAPACITY = 200" in change.new_text) == (str(mended / "tank.py"), True)
        assert "fixer: Edit tank.py" in str(asked.content)
        assert (mended / "tank.py").read_text() == "CAPACITY = 200\n"
        assert "It holds 200." in str(editor.call(begun.tool_call_id)["content"])

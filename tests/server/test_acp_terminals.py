"""Commands in the editor's own terminals: shown there as they run, ended there, and never run there."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from acp import schema

from tests.fake_api import Call, FakeApi, Say
from tests.patience import PATIENCE
from tests.server.acp_client import AcpEditor, acp_editor
from tests.server.terminals import ClientTerminal, ClientTerminals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets in Python there: the output is shown as text")


HOLDING = "exec 3> ../held; echo started; exec tail -f /dev/null"
"""A command that ends only where it is ended."""


async def begun(editor: AcpEditor, folder: Path, terminals: ClientTerminals) -> str:
    editor.terminals = terminals
    terminals.on_output = editor.came.set
    await editor.initialize(terminal=True)
    return (await editor.new_session(folder)).session_id


async def released(editor: AcpEditor, count: int = 1) -> list[ClientTerminal]:
    """That many terminals, once the agent has let go of them."""
    terminals = editor.terminals
    assert terminals is not None
    return await editor.until(lambda: terminals.made if [each.released for each in terminals.made] == [True] * count else None)


def contents(editor: AcpEditor, call_id: str) -> list[list[str]]:
    """The types of content that the editor was told of a call, one after the other."""
    told = [each for _, each in editor.updates if isinstance(each, schema.ToolCallStart | schema.ToolCallProgress)]
    return [[part.type for part in each.content] for each in told if each.tool_call_id == call_id and each.content is not None]


async def test_a_command_is_shown_in_a_terminal_and_runs_elsewhere(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, ClientTerminals())
        command = "printf 'one\\n\\033[31mred\\033[0m\\n\\033]52;c;aGk=\\007'; test -t 1 || echo piped; echo $ULLAGE_TERMINAL.; exit 3"
        fake.enqueue(Call("bash", {"command": command}, "toolu_b"), Say("It failed."))
        assert await editor.prompt(session, "run it") == "end_turn"
        (terminal,) = await released(editor)
        assert terminal.text == "one\n\x1b[31mred\x1b[0m\npiped\n.\n(exit code 3)\n"
        assert (terminal.process.returncode, terminal.killed) == (3, False)
        assert "printf" not in str(terminal.asked)
        assert terminal.asked["limit"] == 1_048_576
        call = editor.call("toolu_b")
        assert call["status"] == "failed"
        assert [each.terminal_id for each in call["content"]] == ["term-0"]
        assert len(editor.asked) == 1  # a question stands before it, as ever
        assert "piped" in str(fake.requests[-1].body["messages"])

        fake.enqueue(Call("bash", {"command": "true"}, "toolu_t"), Say("Done."))
        await editor.prompt(session, "again")
        assert (await released(editor, 2))[1].text == "(no output)\n"
        assert (editor.call("toolu_t")["status"], editor.terminals and editor.terminals.made[1].process.returncode) == ("completed", 0)

        # a session that is loaded has no terminals: the output is told as text
        await editor.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert contents(editor, "toolu_b")[-1] == ["content"]


async def test_whoever_ends_the_terminal_stops_the_turn(folder: Path, state: Path, held: int) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        terminals = ClientTerminals()
        session = await begun(editor, folder, terminals)
        fake.enqueue(Call("bash", {"command": HOLDING}, "toolu_s"))
        asked = asyncio.create_task(editor.prompt(session, "serve"))
        terminal = await _until_shown(editor, "started")
        terminal.process.terminate()
        assert await asked == "cancelled"
        await released(editor)
        await _until_gone(held)
        fake.enqueue(Say("Going on."))
        assert await editor.prompt(session, "go on") == "end_turn"


async def test_a_command_that_is_cancelled_ends_its_terminal(folder: Path, state: Path, held: int) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, ClientTerminals())
        fake.enqueue(Call("bash", {"command": HOLDING}, "toolu_s"))
        asked = asyncio.create_task(editor.prompt(session, "serve"))
        terminal = await _until_shown(editor, "started")
        await editor.agent.cancel(session_id=session)
        assert await asked == "cancelled"
        await released(editor)
        assert (terminal.process.returncode, terminal.killed) == (1, False)
        assert "The user stopped this turn" in terminal.text
        await _until_gone(held)


async def test_without_a_terminal_the_output_is_text(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        terminals = ClientTerminals(instead=["/bin/sh", "-c", "echo no such program; exit 127"])
        session = await begun(editor, folder, terminals)
        fake.enqueue(Call("bash", {"command": "echo drip"}, "toolu_a"), Say("It drips."))
        assert await editor.prompt(session, "listen") == "end_turn"
        await released(editor)
        await editor.until(lambda: contents(editor, "toolu_a")[-1] == ["content"] or None)
        assert "drip" in editor.call("toolu_a")["content"][0].content.text
        terminals.refuses = True
        fake.enqueue(Call("bash", {"command": "echo drop"}, "toolu_o"), Say("It drops."))
        assert await editor.prompt(session, "listen") == "end_turn"
        assert "drop" in editor.call("toolu_o")["content"][0].content.text
        assert len(terminals.made) == 1


async def test_a_terminal_ends_with_the_agent(folder: Path, state: Path, held: int) -> None:
    async with FakeApi() as fake:
        async with acp_editor(state, fake) as editor:
            session = await begun(editor, folder, ClientTerminals())
            fake.enqueue(Call("bash", {"command": HOLDING}, "toolu_s"))
            asked = asyncio.create_task(editor.prompt(session, "serve"))
            terminal = await _until_shown(editor, "started")
        await asyncio.wait({asked})
        asked.exception()  # the connection may have ended before the answer
        await terminal.process.wait()
        await _until_gone(held)


async def _until_shown(editor: AcpEditor, text: str) -> ClientTerminal:
    """The first terminal, once it shows that text."""
    terminals = editor.terminals
    assert terminals is not None

    return await editor.until(lambda: next((each for each in terminals.made if text in each.text), None))  # pyrefly: ignore[bad-return]


@pytest.fixture
def held(folder: Path) -> Iterator[int]:
    """The reading end of the pipe that `HOLDING` holds open as long as it runs."""
    path = folder.parent / "held"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(pipe, True)
    yield pipe
    os.close(pipe)


async def _until_gone(held: int) -> None:
    """The pipe ends with the last process that holds it."""
    async with asyncio.timeout(PATIENCE):
        assert await asyncio.to_thread(os.read, held, 1) == b""

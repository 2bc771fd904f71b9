"""Commands that go on in a session: what the model is told and when, a compaction, an undo, the end of the session, and a server killed."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.patience import PATIENCE
from tests.unit.session.harness import Stage, calls, stage
from ullage.context.change_entries import FilesChanged
from ullage.context.entries import Notice
from ullage.context.running_commands import LOST, going_on
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.slash_commands import Typed, carry_out
from ullage.session.timeline.updates import RunningChanged
from ullage.tools import running
from ullage.tools.running import FIRST_SECONDS
from ullage.tools.tool import ToolCall


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(running, "FIRST_SECONDS", 0.0)
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    os.mkfifo(tmp_path / "go")
    return made


def left(command: str) -> Call:
    return Call("bash", {"command": command, "run_in_background": True})


def said(here: Stage) -> str:
    """All that the newest request holds."""
    return str(here.fake.requests[-1].body["messages"])


async def turn(here: Stage, session: Session, *calls: Call) -> None:
    """A turn in which everything that is asked for is allowed."""
    here.fake.enqueue(list(calls), Say("Done."))
    await session.prompt("Go")
    for _ in calls:
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once")
    await here.idle(session)


def notices(session: Session) -> list[Notice]:
    return [each.entry for each in session.entries if isinstance(each.entry, Notice) and each.entry.about == "command"]


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)


async def test_the_model_is_told_at_the_next_boundary_that_one_ended(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("cat ../go; echo over > made.txt; echo bad; exit 3"))
        assert going_on(session.entries) == ["run1"]
        before = here.fake.requests[-1].body
        await asyncio.to_thread((folder.parent / "go").write_text, "listening\n")
        await until(session.running.ended)
        assert notices(session) == []  # nobody asked anything since
        here.fake.enqueue(Say("I see."))
        await here.say(session, "Well?")
        assert "run1 has ended" in said(here)
        assert "exit code 3" in said(here)
        assert "> listening" in [line for each in notices(session) for line in each.text.splitlines()]
        after = here.fake.requests[-1].body
        assert (after["tools"], after["system"]) == (before["tools"], before["system"])
        assert going_on(session.entries) == []
        changed = [each.entry for each in session.entries if isinstance(each.entry, FilesChanged)]
        assert [(file.path, file.shared) for each in changed for file in each.files] == [("made.txt", True)]
        assert here.refused() == []


async def test_what_runs_stays_in_view_through_a_compaction_and_an_undo(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("echo up; cat ../go"))
        for index in range(4):
            here.fake.enqueue(Say(f"{index} " + "water " * 400))
            await here.say(session, "Tell me of tanks " + "and pumps " * 200)
        await until(lambda: session.running.now()[0].last_line == "up")
        here.fake.enqueue(Say("<summary>The tanks.</summary>"))
        session.compact()
        await here.idle(session)
        (made,) = here.made(session)
        assert "- run1: `echo up; cat ../go`, for" in made.resume
        assert "its last line: up" in made.resume
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Does it run?")
        assert "run1: `echo up; cat ../go`" in said(here)
        assert here.refused() == []


async def test_the_end_of_the_session_ends_it_and_the_log_says_so(folder: Path) -> None:
    alive = folder / "alive"
    os.mkfifo(alive)
    gone = asyncio.ensure_future(asyncio.to_thread(alive.read_bytes))
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("exec 3>alive; echo up; setsid sleep 1000"))
        await until(lambda: session.running.now()[0].last_line == "up")
        id = session.id
    await gone
    async with stage(folder) as here:
        again = await here.sessions.open(id)
        assert [each.text for each in notices(again)] == [LOST.format("run1")]
        await turn(here, again, left("sleep 1000"))
        assert [each.id for each in again.running.now()] == ["run2"]


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux")
@pytest.mark.parametrize("ends", ["by the model", "with the session"])
async def test_what_the_sandbox_takes_back_at_its_end_is_told(folder: Path, ends: str) -> None:
    """It may be the user's own: nobody can tell who made it while the command ran."""
    async with stage(folder) as here:
        here.sessions.configure(replace(here.settings, bash_sandbox="required"))
        session = await here.new()
        await turn(here, session, left("echo up; sleep 1000"))
        await until(lambda: session.running.now()[0].last_line == "up")  # what is there before it begins is not taken back
        (folder / ".envrc").write_text("export MINE=1\n")
        if ends == "by the model":
            here.fake.enqueue([Call("running_command", {"id": "run1", "action": "stop"})], Say("Stopped."))
            await here.say(session, "Stop it")
            told = said(here)
        else:
            await here.sessions.close_session(session.id)
            told = notices(session)[-1].text
        assert not (folder / ".envrc").exists()
        [place] = re.findall(r"It made \.envrc, which was taken back, .* It lies in (.*?)\. If", told)
        assert Path(place).read_text() == "export MINE=1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux")
async def test_what_the_user_let_the_agent_write_meanwhile_stays_as_long_as_it_is_that(folder: Path) -> None:
    async with stage(folder) as here:
        here.sessions.configure(replace(here.settings, bash_sandbox="required"))
        session = await here.new()
        spoil = "touch -r CLAUDE.md t; echo evil >CLAUDE.md; touch -r t CLAUDE.md"
        await turn(here, session, left(f"until [ -e go ]; do sleep 0.05; done; {spoil}"))
        written = ["CLAUDE.md", ".vscode/tasks.json", ".github/workflows/ci.yml", "sub/AGENTS.md"]
        for path in written:
            await turn(here, session, Call("write_file", {"path": path, "content": "mine"}))
        (folder / "go").touch()
        await until(session.running.ended)
        assert [path for path in written if (folder / path).exists()] == written[1:]
        assert all((folder / path).read_text() == "mine" for path in written[1:])


async def test_a_command_that_is_waited_for_is_let_go_on_and_the_turn_with_it(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Call("bash", {"command": "echo begun; cat ../go"}), Say("It builds."))
        await session.prompt("Build")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once")
        await here.watcher.until(lambda: "begun" in calls(session)[0].output)
        with pytest.raises(SessionError) as refused:
            session.leave_running("toolu_99")
        assert refused.value.reason == "no_such_command"
        session.leave_running(asked.id)
        await here.idle(session)
        assert "begun" in said(here)
        assert "The user lets it go on in the background, as run1" in said(here)
        (call,) = calls(session)
        assert (call.status, call.goes_on) == ("completed", "run1")
        assert [each.end for each in session.snapshot().running] == [None]
        await asyncio.to_thread((folder.parent / "go").write_text, "over\n")
        await until(session.running.ended)
        here.fake.enqueue(Say("Built."))
        await here.say(session, "Well?")
        assert "run1 has ended" in said(here)
        assert session.snapshot().running == ()


async def test_the_user_stops_one_and_the_model_knows_who_did(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("echo up; cat ../go"))
        session.stop_command("run1")
        await until(session.running.ended)
        assert session.snapshot().running == ()  # who stopped it needs not be told
        with pytest.raises(SessionError) as refused:
            session.stop_command("run9")
        assert refused.value.reason == "no_such_command"
        here.fake.enqueue(Say("I see."))
        await here.say(session, "I stopped it")
        assert "the user stopped it" in said(here)


async def test_what_runs_is_told_and_a_flood_is_told_seldom(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("for each in $(seq 20000); do echo line $each; done; exit 3"))
        await until(session.running.ended)
        told = [update.commands for _, _, update in here.watcher.updates if isinstance(update, RunningChanged)]
        ((last,),) = told[-1:]
        assert (last.id, last.end, last.exit_code, last.failed, last.last_line) == ("run1", "exited", 3, True, "line 20000")
        began = [commands for commands in told if commands[0].end is None]
        assert 1 <= len(began) <= 2 + (last.ended_at or 0) - last.began
        assert sum(len(commands) for commands in told) < 20


async def test_the_list_of_sessions_says_what_runs_and_no_longer_when_it_is_closed(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("echo up; cat ../go"))
        await turn(here, session, left("cat ../go"))
        (listed,) = await here.sessions.listed(10)
        assert listed.figures is not None
        assert listed.figures.running == 2
        await here.sessions.close_session(session.id)
        (listed,) = await here.sessions.listed(10)
        assert listed.figures is not None
        assert (listed.figures.running, session.running.any_runs) == (0, False)


async def test_a_fork_knows_that_nothing_runs_there(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, left("echo up; cat ../go"))
        forked = (await here.sessions.fork(session.id)).session
        assert [each.text for each in notices(forked)] == [LOST.format("run1")]
        assert notices(session) == []
        assert session.running.any_runs


async def test_a_policy_that_does_not_tell_it_has_it_told_again(folder: Path) -> None:
    async with stage(folder) as here:
        here.use_policy("claude-code")
        session = await here.new()
        await turn(here, session, left("echo up; cat ../go"))
        for index in range(4):
            here.fake.enqueue(Say(f"{index} " + "water " * 400))
            await here.say(session, "Tell me of tanks " + "and pumps " * 200)
        here.fake.enqueue(Say("<summary>The tanks.</summary>"))
        session.compact()
        await here.idle(session)
        assert here.made(session)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Does it run?")
        assert "run1: `echo up; cat ../go`" in said(here)


async def test_a_typed_command_shows_and_stops_them(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        typed = partial(carry_out, sessions=here.sessions, session=session)
        assert (await typed(Typed("running", ""))).text == "Nothing runs in the background."
        await turn(here, session, left("echo up; cat ../go"))
        await until(lambda: session.running.now()[0].last_line == "up")
        assert (await typed(Typed("running", ""))).text.splitlines()[1] == "  > `up`"
        assert (await typed(Typed("running", "output run1"))).text == "    up"
        for words in ("kill run1", "stop", "output run7"):
            with pytest.raises(SessionError):
                await typed(Typed("running", words))
        await typed(Typed("running", "stop run1"))
        await until(session.running.ended)


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_nothing_is_left_when_the_server_is_killed(tmp_path: Path, sandbox: str) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    served = multiprocessing.get_context("spawn").Process(target=serve, args=(tmp_path, sandbox))
    served.start()
    reader = os.open(alive, os.O_RDONLY)
    assert os.read(reader, 3) == b"up\n"
    assert served.pid is not None
    os.kill(served.pid, signal.SIGKILL)
    served.join(PATIENCE)
    while os.read(reader, 100):  # it ends when the last process that holds the pipe has
        pass
    os.close(reader)


def serve(root: Path, sandbox: str) -> None:
    """A server that leaves a command running, whose child left its session and its group."""
    asyncio.run(_serve(root, sandbox))


async def _serve(root: Path, sandbox: str) -> None:
    from tests.unit.tools.workplace import Workplace

    place = Workplace(root, sandbox="auto" if sandbox == "auto" else "off")
    line = "exec 3>alive; setsid sh -c 'echo up >&3; trap \"\" TERM HUP; sleep 1000; sleep 1000' & wait"
    call = ToolCall("toolu_1", {"command": line, "run_in_background": True})
    await place.tools["bash"].run(call)
    assert FIRST_SECONDS
    await asyncio.Event().wait()

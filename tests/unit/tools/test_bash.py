"""Commands as real processes: output, exit codes, timeouts, cancelling, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools import process
from ullage.tools.limit import Limit
from ullage.tools.process import KEPT_CHARACTERS
from ullage.tools.tool import ToolCall, ToolOutcome

HOLDS = "exec 3>alive; "
"""From here on the shell and all that it starts hold a pipe open, whose end says that every one of them is gone."""


@pytest.fixture
async def all_gone(workplace: Workplace) -> asyncio.Future[bytes]:
    """Done when the last process that holds the pipe `alive` has ended."""
    os.mkfifo(workplace.root / "alive")
    return asyncio.ensure_future(asyncio.to_thread((workplace.root / "alive").read_bytes))


@pytest.mark.parametrize(
    ("command", "content", "is_error"),
    [
        ("echo hello", "hello", False),
        ("echo out; echo err >&2", "out\nerr", False),
        ("true", "(no output)", False),
        ("echo no; exit 3", "no\n(exit code 3)", True),
        ("kill -TERM $$", "(no output)\n(Ended by signal 15.)", True),
        ("cat", "(no output)", False),
        ("printf '\\303\\274\\377'", "ü�", False),
        ("no-such-program-here 2>/dev/null", "(no output)\n(exit code 127)", True),
    ],
)
async def test_output_and_exit_code(workplace: Workplace, command: str, content: str, is_error: bool) -> None:
    outcome = await workplace.call("bash", command=command)
    assert (outcome.content, outcome.is_error) == (content, is_error)


async def test_commands_run_in_the_first_folder(workplace: Workplace) -> None:
    assert (await workplace.call("bash", command="pwd -P")).content == str(workplace.root)


async def test_output_is_streamed_while_it_runs(workplace: Workplace) -> None:
    os.mkfifo(workplace.root / "go")
    seen = asyncio.Event()
    call = ToolCall("toolu_1", {"command": "echo first; cat go; echo last"}, lambda text: seen.set())
    running = asyncio.create_task(workplace.tools["bash"].run(call))
    await seen.wait()
    assert not running.done()
    await asyncio.to_thread((workplace.root / "go").write_text, "middle\n")
    assert (await running).content == "first\nmiddle\nlast"


async def test_secrets_do_not_reach_commands(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("HARMLESS", "kept")
    content = (await workplace.call("bash", command="env")).content
    assert "HARMLESS=kept" in content
    assert "sk-secret" not in content


async def ended_once_started(workplace: Workplace, monkeypatch: pytest.MonkeyPatch, command: str) -> ToolOutcome:
    """What comes of a command whose 0.3 seconds begin when it has said something: a shell that starts slowly is still started."""
    brief = Workplace(workplace.root, bash_timeout=0.3)
    started, wait_for_end = asyncio.Event(), process.wait_for_end

    async def once_started(protocol: process.Output, limit: Limit) -> process.Ended:
        await started.wait()
        return await wait_for_end(protocol, limit)

    monkeypatch.setattr(process, "wait_for_end", once_started)
    return await brief.tools["bash"].run(ToolCall("toolu_1", {"command": command}, lambda text: started.set()))


async def test_a_timeout_ends_the_child_of_the_child(
    workplace: Workplace, all_gone: asyncio.Future[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"{HOLDS} echo started; (sleep 1000 & wait); echo never"
    outcome = await ended_once_started(workplace, monkeypatch, command)
    assert outcome.is_error
    assert outcome.content == "started\n(Ended after 0.3 seconds, with everything that it had started.)"
    await all_gone


async def test_what_ignores_the_request_to_end_is_killed(
    workplace: Workplace, all_gone: asyncio.Future[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"{HOLDS} trap '' TERM; echo started; while :; do sleep 0.05; done"
    outcome = await ended_once_started(workplace, monkeypatch, command)
    assert outcome.is_error
    await all_gone


async def test_cancelling_ends_the_child_of_the_child(workplace: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    started = asyncio.Event()
    call = ToolCall("toolu_1", {"command": f"{HOLDS} (sleep 1000 & echo started; wait)"}, lambda text: started.set())
    running = asyncio.create_task(workplace.tools["bash"].run(call))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_gone


@pytest.mark.parametrize("quiet", [False, True])
async def test_nothing_stays_in_the_background(workplace: Workplace, all_gone: asyncio.Future[bytes], quiet: bool) -> None:
    silenced = " >/dev/null 2>&1" if quiet else ""
    outcome = await workplace.call("bash", command=f"{HOLDS} sleep 1000{silenced} & echo done")
    assert not outcome.is_error
    assert outcome.content.startswith("done")
    assert quiet or "left in the background were ended" in outcome.content
    await all_gone


async def test_endless_output_does_not_fill_the_memory(workplace: Workplace) -> None:
    outcome = await workplace.call("bash", command="echo start; head -c 9000000 /dev/zero | tr '\\0' x; echo end")
    assert len(outcome.content) < KEPT_CHARACTERS + 200
    assert outcome.content.startswith("start\n")
    assert outcome.content.endswith("end")
    assert "characters of the output were not kept]" in outcome.content
    assert not outcome.complete
    assert sum(map(len, workplace.output)) < 300_000


async def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path / "gone")
    outcome = await workplace.call("bash", command="true")
    assert outcome.is_error
    assert "could not be started" in outcome.content


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of processes")
@pytest.mark.parametrize(
    "left",
    [
        "setsid sleep 1000",
        "setsid sh -c 'sleep 1000 & sleep 1000'",
        "(setsid setsid sleep 1000 &)",
        "env -i setsid sleep 1000",
        "env -i setsid setsid sh -c 'sleep 1000 & (setsid sleep 1000 &) sleep 1000'",
        "env -i setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done'",
    ],
)
@pytest.mark.parametrize("quiet", [False, True])
async def test_nothing_outlives_a_call_in_a_session_of_its_own(
    workplace: Workplace, all_gone: asyncio.Future[bytes], left: str, quiet: bool
) -> None:
    silenced = " >/dev/null 2>&1" if quiet else ""
    outcome = await workplace.call("bash", command=f"{HOLDS} {left}{silenced} & echo done")
    assert outcome.content.startswith("done")
    await all_gone


HIDDEN = "env -i setsid sleep 1000 >/dev/null 2>&1 & echo started; wait"
"""It leaves the group, and its environment says nothing."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of ours")
async def test_what_hides_ends_with_the_time(workplace: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    outcome = await workplace.call("bash", command=f"{HOLDS} {HIDDEN}", timeout=1)
    assert "started" in outcome.content
    await all_gone


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of ours")
async def test_what_hides_ends_with_stop(workplace: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    started = asyncio.Event()
    call = ToolCall("toolu_1", {"command": f"{HOLDS} {HIDDEN}"}, lambda text: started.set())
    running = asyncio.create_task(workplace.tools["bash"].run(call))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_gone


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of ours")
async def test_a_command_that_kills_what_watches_it_is_told_of_and_ended(workplace: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    outcome = await workplace.call("bash", command=f"{HOLDS} echo before; kill -KILL $PPID; setsid sleep 1000")
    assert outcome.content.startswith("before\n")
    assert outcome.is_error
    await all_gone


async def test_a_command_cannot_end_its_watcher_by_asking(workplace: Workplace) -> None:
    outcome = await workplace.call("bash", command="kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; echo still there; exit 4")
    assert outcome.content == "still there\n(exit code 4)"


async def test_what_a_command_inherits_is_as_ever(workplace: Workplace) -> None:
    outcome = await workplace.call("bash", command="yes | head -1; ls /dev/fd | wc -l; ls /dev/fd | wc -l; trap; ulimit -c >/dev/null")
    assert outcome.content.splitlines()[0] == "y"
    assert int(outcome.content.splitlines()[1]) <= 4

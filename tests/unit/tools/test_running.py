"""Commands that go on, as real processes: what is read, waited for and stopped, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator

import pytest

from tests.unit.tools.test_bash import HOLDS
from tests.unit.tools.workplace import Workplace
from ullage.context.running_commands import RunsNow
from ullage.tools import line_matching, running
from ullage.tools.limit import Limit
from ullage.tools.running import MOST_AT_ONCE, RunningCommands
from ullage.tools.running_command import MOST_CHARACTERS
from ullage.tools.started_command import UNREAD_CHARACTERS, plain_text
from ullage.tools.tool import BadToolInput, ToolCall, ToolOutcome


@pytest.fixture
async def place(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Workplace]:
    """Where a command that is left running is not waited for."""
    monkeypatch.setattr(running, "FIRST_SECONDS", 0.0)
    yield workplace
    await workplace.running.close()


@pytest.fixture
async def all_gone(place: Workplace) -> asyncio.Future[bytes]:
    """Done when the last process that holds the pipe `alive` has ended."""
    os.mkfifo(place.root / "alive")
    return asyncio.ensure_future(asyncio.to_thread((place.root / "alive").read_bytes))


async def leave(place: Workplace, command: str) -> ToolOutcome:
    """Runs it in the background."""
    return await place.call("bash", command=command, run_in_background=True)


async def refused(place: Workplace, **input: str) -> str:
    """Why a call is not done."""
    try:
        outcome = await place.call("running_command", **input)
    except BadToolInput as error:
        return str(error)
    assert outcome.is_error
    return outcome.content


async def test_a_command_goes_on_after_its_call(place: Workplace) -> None:
    os.mkfifo(place.root / "go")
    left = await leave(place, "echo up; cat go; echo over")
    assert (left.goes_on, left.is_error) == ("run1", False)
    assert "run1" in left.content
    up = await place.call("running_command", id="run1", action="wait", pattern="^up$")
    assert left.content.startswith("up") or up.content.startswith("up\n(run1 runs, for")
    await asyncio.to_thread((place.root / "go").write_text, "said\n")
    over = await place.call("running_command", id="run1", action="wait")
    assert over.content == "said\nover\n(run1 has ended: exit code 0.)"
    assert (await place.call("running_command", id="run1", action="read")).content == "(nothing new)\n(run1 has ended: exit code 0.)"


async def test_one_that_fails_at_once_says_so_at_once(workplace: Workplace) -> None:
    outcome = await leave(workplace, "echo no such script >&2; exit 3")
    assert (outcome.content, outcome.is_error, outcome.goes_on) == ("no such script\n(exit code 3)", True, "")


async def test_stopping_ends_all_that_it_started(place: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    await leave(place, f"{HOLDS} echo up; setsid sleep 1000 & (sleep 1000 & wait); echo never")
    await place.call("running_command", id="run1", action="wait", pattern="up")
    stopped = await place.call("running_command", id="run1", action="stop")
    assert stopped.content.endswith("(run1 has ended: stopped, with everything that it had started.)")
    await all_gone


async def test_the_end_of_the_session_ends_all(place: Workplace, all_gone: asyncio.Future[bytes]) -> None:
    await leave(place, f"{HOLDS} trap '' TERM; echo up; while :; do sleep 0.05; done")
    await leave(place, f"{HOLDS} echo up; setsid sleep 1000")
    for id in ("run1", "run2"):
        await place.call("running_command", id=id, action="wait", pattern="up")
    await place.running.close()
    await all_gone
    assert not place.running.any_runs


async def test_a_time_limit_that_is_named_holds(place: Workplace) -> None:
    await place.call("bash", command="sleep 1000", run_in_background=True, timeout=1)
    ended = await place.call("running_command", id="run1", action="wait")
    assert "ended after 1 seconds" in ended.content


async def test_the_user_leaves_one_running_that_is_waited_for(place: Workplace) -> None:
    os.mkfifo(place.root / "go")
    said = asyncio.Event()
    call = ToolCall("toolu_9", {"command": "echo begun; cat go"}, lambda text: said.set())
    waiting = asyncio.create_task(place.tools["bash"].run(call))
    await said.wait()
    assert not place.running.let_go_on("toolu_8")
    assert place.running.let_go_on("toolu_9")
    outcome = await waiting
    assert outcome.goes_on == "run1"
    assert outcome.content.startswith("begun\n(The user lets it go on")
    assert place.running.any_runs


async def test_a_wait_ends_when_the_user_has_something_to_say(place: Workplace) -> None:
    await leave(place, "sleep 1000")
    command = place.running.get("run1")
    assert command is not None
    waiting = asyncio.create_task(place.call("running_command", id="run1", action="wait", seconds=600))
    while not command.waiting:  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(0)
    place.running.interrupt()
    assert "the user has something to say" in (await waiting).content


async def test_a_wait_that_is_cancelled_leaves_the_command(place: Workplace) -> None:
    await leave(place, "sleep 1000")
    waiting = asyncio.create_task(place.call("running_command", id="run1", action="wait", pattern="x"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert place.running.any_runs


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({"id": "run7", "action": "read"}, "There run: run1"),
        ({"id": "run1", "action": "wait", "pattern": "("}, "no valid regular expression"),
        ({"id": "run1", "action": "read", "pattern": "x"}, "belongs to the action `wait`"),
        ({"id": "run1", "action": "kill"}, "must be one of read, wait, stop"),
    ],
)
async def test_bad_input(place: Workplace, input: dict[str, str], said: str) -> None:
    await leave(place, "sleep 1000")
    assert said in await refused(place, **input)


async def test_a_pattern_that_takes_for_ever_is_given_up(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_matching, "SECONDS", 0.2)
    await leave(place, f"echo {'a' * 60}b; sleep 1000")
    assert "takes too long" in await refused(place, id="run1", action="wait", pattern="^(a+)+$")


async def test_a_flood_stays_small(place: Workplace) -> None:
    await leave(place, "yes 0123456789 | head -n 200000; echo done")
    command = place.running.get("run1")
    assert command is not None
    outcome = await place.call("running_command", id="run1", action="wait")
    assert len(command.peek()) <= UNREAD_CHARACTERS
    assert len(outcome.content) < MOST_CHARACTERS + 200
    assert "characters before this were left out" in outcome.content
    assert outcome.content.splitlines()[-2] == "done"


async def test_there_is_a_most(place: Workplace) -> None:
    for _ in range(MOST_AT_ONCE):
        assert (await leave(place, "sleep 1000")).goes_on
    refused = await leave(place, "sleep 1000")
    assert refused.is_error
    assert "Stop one first" in refused.content


async def test_what_is_told_of_them() -> None:
    told: list[tuple[RunsNow, ...]] = []
    commands = RunningCommands(time.time, lambda now: told.append(tuple(now)))
    running.FIRST_SECONDS, before = 0.0, running.FIRST_SECONDS
    try:
        going = asyncio.Event()

        async def run(said: object) -> ToolOutcome:
            await going.wait()
            return ToolOutcome("x\n(exit code 2)", is_error=True)

        await commands.carry_out(ToolCall("toolu_1", {}), "npm start", Limit(None), run, background=True)
    finally:
        running.FIRST_SECONDS = before
    assert [(each.id, each.command, each.ended) for each in told[-1]] == [("run1", "npm start", "")]
    going.set()
    while not commands.ended():  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(0)
    assert [(each.ended, each.failed) for each in told[-1]] == [("exit code 2", True)]
    commands.know(commands.ended()[0])
    assert told[-1] == ()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("\x1b[32mready\x1b[0m\n", "ready\n"),
        ("10 %\r50 %\r100 %\nnext", "100 %\nnext"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\x1b]0;title\x07here\x00", "here"),
    ],
)
def test_text_for_terminals(said: str, read: str) -> None:
    assert plain_text(said) == read


def test_hostile_text_for_terminals_takes_no_time() -> None:
    began = time.monotonic()
    plain_text("\x1b]" * 100_000)
    plain_text("\x1b[" + "0" * 200_000)
    plain_text("\r" * 200_000)
    assert time.monotonic() - began < 2.0

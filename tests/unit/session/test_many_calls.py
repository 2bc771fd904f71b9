"""Replies with more calls than any model has reason for, and how they are stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import Stage, calls, stage
from tests.work import check_linear
from ullage.context.blocks import Text, Thinking, ToolResult, ToolUse
from ullage.context.view.fold import Fold
from ullage.models.model import Reply
from ullage.session.session import Session
from ullage.session.turns.calls import MOST_AT_ONCE
from ullage.session.turns.incoming import MOST_CALLS, CallIds, cut_to_most_calls
from ullage.tools.tool import ToolCall, ToolOutcome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


def reads(count: int) -> list[Call]:
    return [Call("read_file", {"path": "tank.py"}, id=f"toolu_{number}") for number in range(count)]


def run_instead(session: Session, run: Callable[[ToolCall], Any]) -> None:
    """Something else than the tool `read_file`."""
    session._tools["read_file"].run = run  # noqa: SLF001  # pyright: ignore[reportAttributeAccessIssue]


async def test_a_reply_with_too_many_calls_is_cut_and_the_model_is_told(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(reads(MOST_CALLS + 72), Say("Done."))
        session = await here.new()
        await here.say(session, "Read it, often")
        assert [call.status for call in calls(session)] == ["completed"] * MOST_CALLS
        *_, asked, answered = here.fake.requests[-1].body["messages"]
        assert len(asked["content"]) == MOST_CALLS
        told = answered["content"][-1]["text"]
        assert "200 calls" in told
        assert "first 128" in told
        assert not here.refused()


async def test_as_many_calls_as_may_be_are_all_run(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(reads(MOST_CALLS), Say("Done."))
        session = await here.new()
        await here.say(session, "Read it, often")
        answered = here.fake.requests[-1].body["messages"][-1]["content"]
        assert [block["type"] for block in answered] == ["tool_result"] * MOST_CALLS


def test_what_stands_before_the_call_too_many_stays() -> None:
    use = [ToolUse(f"t{number}", "read_file", {}) for number in range(MOST_CALLS + 2)]
    blocks = (Thinking("Hm.", "sig"), *use[:MOST_CALLS], Text("And"), *use[MOST_CALLS:], Text("more"))
    assert cut_to_most_calls(blocks) == (blocks[: MOST_CALLS + 2], 2)
    assert cut_to_most_calls(blocks[:5]) == (blocks[:5], 0)


async def test_few_of_them_run_at_once(folder: Path) -> None:
    running = most = 0

    async def run(call: ToolCall) -> ToolOutcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return ToolOutcome("100")

    async with stage(folder) as here:
        here.fake.enqueue(reads(50), Say("Done."))
        session = await here.new()
        run_instead(session, run)
        await here.say(session, "Read it, often")
        assert most == MOST_AT_ONCE


async def test_stop_cuts_through_them_and_logs_all_results_in_one_write(folder: Path) -> None:
    begun = asyncio.Event()

    async def never(call: ToolCall) -> ToolOutcome:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with stage(folder) as here:
        here.fake.enqueue(reads(100))
        session = await here.new()
        run_instead(session, never)
        await session.prompt("Read it, often")
        await begun.wait()
        writes = count_writes(here)
        session.cancel()
        await here.idle(session)
        assert len(writes) == 1
        assert ["The user stopped this turn" in call.output for call in calls(session)] == [True] * 100
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Are you there?")
        assert not here.refused()


def count_writes(here: Stage) -> list[int]:
    """How many entries each write to the log has, from now on."""
    log = here.sessions._kept.log  # noqa: SLF001
    append_many, writes = log.append_many, list[int]()

    def counted(session_id: str, entries: Any, at: float) -> Any:
        writes.append(len(entries))
        return append_many(session_id, entries, at)

    log.append_many = counted
    return writes


def test_results_are_found_their_calls_without_a_search() -> None:
    def of(count: int) -> Callable[[], object]:
        def run() -> None:
            fold = Fold()
            fold.add_words(1, (Text("Go"),))
            fold.add_reply(2, [ToolUse(f"t{number}", "read_file", {}) for number in range(count)])
            for number in range(count):
                fold.add_result(3 + number, ToolResult(f"t{number}", "100"))

        return run

    check_linear(of, 300)


def test_ids_are_given_without_a_search() -> None:
    class Looked(str):
        """An id that counts how often it is compared."""

        __slots__ = ()
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Looked.compared += 1
            return str.__eq__(self, other)

    blocks = tuple(ToolUse(Looked(f"toolu_{number}"), "read_file", {}) for number in range(500))
    given = CallIds(lambda call_id: False).given_to(Reply(blocks, "m", "tool_use", None))
    assert [block.id for block in given.blocks if isinstance(block, ToolUse)] == [f"toolu_{number}" for number in range(500)]
    assert Looked.compared < 2 * 500

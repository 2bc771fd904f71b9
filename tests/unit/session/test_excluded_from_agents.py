"""What the user took out of a conversation is not given back by the logs of its sub-agents, to no session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import Stage, calls, stage
from ullage.context.entries import ToolReturned
from ullage.session.session import Session

SECRET = "Bilgewater-7731"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "dip.txt").write_text(f"{SECRET}\n")
    return made


async def asked_back(here: Stage, session: Session, *wanted: Call) -> str:
    """What the model gets that asks for it."""
    here.fake.enqueue(*([each] for each in wanted), Say("So it is."))
    await here.say(session, "What was it?")
    return "\n".join(str(each.output) for each in calls(session)[-len(wanted) :])


def agent_of(session: Session) -> str:
    [run] = [entry.agent for logged in session.entries if isinstance(entry := logged.entry, ToolReturned) and entry.agent is not None]
    return run.session_id


def all_ways(agent: str) -> list[Call]:
    return [
        Call("recall", {"agent": agent}),
        Call("recall", {"agent": agent, "from": 1, "to": 500}),
        Call("recall", {"agent": agent, "query": SECRET}),
        Call("recall", {"query": SECRET}),
    ]


async def test_a_fork_does_not_give_back_what_was_taken_out_of_its_parent(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([Call("read_file", {"path": "dip.txt"})], Say("Read."))
        await here.say(session, "Read it")
        here.fake.enqueue([Call("task", {"title": "Think", "prompt": "Think about it.", "agent": "fork"})], Say("I thought."), Say("Done."))
        await here.say(session, "Have a fork think")
        agent, read = agent_of(session), calls(session)[0].id
        assert SECRET in (await asked_back(here, session, Call("recall", {"from": 1, "to": 5})))
        await session.history.exclude(calls(session)[-1].id)
        await session.history.exclude(read)
        assert SECRET not in (await asked_back(here, session, *all_ways(agent)))
        other = await here.new()
        assert SECRET not in (await asked_back(here, other, *all_ways(agent)))


async def test_no_session_gets_at_a_sub_agent_whose_report_was_taken_out(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(
            [Call("task", {"title": "Look", "prompt": "Look."})],
            [Call("read_file", {"path": "dip.txt"})],
            Say(f"It is {SECRET}."),
            Say("Ok."),
        )
        await here.say(session, "Look")
        agent = agent_of(session)
        [call] = [each.id for each in calls(session) if each.name == "task"]
        await session.history.exclude(call)
        assert SECRET not in (await asked_back(here, session, *all_ways(agent)))
        another = await here.new()
        assert SECRET not in (await asked_back(here, another, *all_ways(agent)))

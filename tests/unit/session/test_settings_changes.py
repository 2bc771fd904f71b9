"""Settings and models that are changed while a session is open, also in the middle of a turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Call, FakeApi, Hang, Reply, Say
from tests.unit.session.harness import MODEL, calls, stage
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Entry
from ullage.context.view.projection import Projection
from ullage.session.conversation import Conversation
from ullage.session.settings import Settings

OTHER = "claude-sonnet-5-5"


def project(parent: Path) -> Path:
    made = parent / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


async def test_another_model_answers_from_the_next_call_on(tmp_path: Path) -> None:
    async with stage(project(tmp_path)) as here:
        here.fake.enqueue(Hang(Reply((Call("read_file", {"path": "tank.py"}),))), Say("100."))
        session = await here.new()
        await session.prompt("Read it")
        await here.fake.until_held()
        await here.sessions.models.choose(session.id, OTHER)
        here.fake.release()
        await here.idle(session)
        assert [record.body["model"] for record in here.fake.requests] == [MODEL, OTHER]


async def test_effort_is_asked_for_where_the_model_takes_it_and_a_sessions_own_counts_more(tmp_path: Path) -> None:
    async with stage(project(tmp_path)) as here:
        session = await here.new()
        other = await here.new()
        here.fake.enqueue(*(Say(f"Answer {number}.") for number in range(5)))
        await here.say(session, "By itself")
        here.sessions.configure(replace(here.settings, effort="low"))
        await here.say(session, "By the setting")
        await here.sessions.models.choose_effort(session.id, "max")
        await here.say(session, "By choice")
        assert session.snapshot().model.effort == "max"
        await here.say(other, "By the setting")
        await here.sessions.models.choose_effort(session.id, "default")
        await here.say(session, "By itself again")
        assert session.snapshot().model.effort is None
        asked = [record.body.get("output_config") for record in here.fake.requests]
        assert asked == [None, {"effort": "low"}, {"effort": "max"}, {"effort": "low"}, None]


async def test_a_model_without_effort_gets_none(tmp_path: Path) -> None:
    async with stage(project(tmp_path)) as here:
        session = await here.new()
        await here.sessions.models.choose_effort(session.id, "high")
        await here.sessions.models.choose(session.id, "qwen3-coder")
        here.fake.enqueue(Say("100."))
        await here.say(session, "Read it")
        assert "output_config" not in here.fake.requests[0].body
        assert session.snapshot().model.efforts == ()


async def test_an_endpoint_that_is_no_longer_asked_answers_to_the_end_and_is_left(tmp_path: Path) -> None:
    async with FakeApi() as later, stage(project(tmp_path)) as here:
        here.fake.enqueue(Hang(Reply((Say("The old one's."),))))
        session = await here.new()
        await session.prompt("Who are you?")
        await here.fake.until_held()
        here.sessions.configure(replace(here.settings, base_url=later.base_url))
        here.fake.release()
        await here.idle(session)
        assert here.refused() == []
        assert len(here.fake.requests) == 1
        await here.fake.until_left()
        later.enqueue(Say("The new one's."))
        await here.say(session, "And you?")
        assert len(later.requests) == 1


async def test_another_timeout_holds_in_a_session_that_is_open(tmp_path: Path) -> None:
    async with FakeApi() as fake, stage(project(tmp_path), fake=fake) as here:
        session = await here.new()
        base = Settings(model_name=MODEL, base_url=fake.base_url, bash_sandbox="off")
        here.sessions.configure(replace(base, bash_timeout=0.2))
        fake.enqueue(Call("bash", {"command": "sleep 600"}), Say("It took too long."))
        await session.prompt("Sleep")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert "0.2 seconds" in calls(session)[0].output


async def test_trust_that_is_given_while_a_turn_begins_holds_for_that_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foresee = Conversation.foresee
    folder = project(tmp_path)
    async with stage(folder, settings=Settings(trusted=False)) as here:

        async def meanwhile(self: Conversation, entry: Entry, calibration: Calibration) -> Projection:
            here.sessions.configure(replace(here.settings, trusted=True))
            return await foresee(self, entry, calibration)

        session = await here.new()
        (folder / "AGENTS.md").write_text("Use uv.")
        monkeypatch.setattr(Conversation, "foresee", meanwhile)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Begin")
        assert "bash" in [tool["name"] for tool in here.fake.requests[-1].body["tools"]]

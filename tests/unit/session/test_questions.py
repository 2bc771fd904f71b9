"""Questions of the agent: the turn waits, the user answers, skips, writes something else, stops, or Ullage ends in between."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, compact, fill, make_project
from tests.unit.session.harness import Stage, calls, items, rebuilt, stage
from ullage.context.entries import Answer, ToolReturned, TurnEnded
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import ToolCallItem, UserItem
from ullage.session.timeline.updates import ModeId
from ullage.session.turns.questions import LONGEST_ANSWER, Given

DATABASE: dict[str, Any] = {
    "header": "Database",
    "question": "Where are the tanks kept?",
    "options": [
        {"label": "SQLite", "description": "One file"},
        {"label": "PostgreSQL", "description": "A server"},
    ],
}
FUELS: dict[str, Any] = {
    "header": "Fuels",
    "question": "Which fuels?",
    "options": [{"label": "Diesel", "description": "Heavy"}, {"label": "Petrol", "description": "Light"}],
    "multiSelect": True,
}


def asking(*questions: dict[str, Any], id: str | None = None) -> Call:
    return Call("ask_user", {"questions": list(questions or (DATABASE,))}, id)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


async def open_question(here: Stage, session: Session, *, after: str = "") -> ToolCallItem:
    """Waits until a call asks something; with `after`, other questions than those."""

    def found() -> list[ToolCallItem]:
        return [call for call in calls(session) if call.status == "awaiting_answer" and call.question_id != after]

    await here.watcher.until(lambda: bool(found()))
    return found()[0]


def results(here: Stage) -> list[str]:
    """What the model was given for each call in the last request."""
    messages = here.fake.requests[-1].body["messages"]
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


def answers(session: Session) -> list[tuple[Answer, ...]]:
    return [logged.entry.answers for logged in session.entries if isinstance(logged.entry, ToolReturned)]


@pytest.mark.parametrize("mode", ["ask", "plan", "act"])
async def test_the_turn_waits_for_the_answer_in_every_mode(folder: Path, mode: ModeId) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("SQLite then."))
        session = await here.new()
        session.set_mode(mode)
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        assert [question.question for question in item.questions] == ["Where are the tanks kept?"]
        assert (item.permission, item.permission_reason, item.asked) == ((), "", None)
        assert session.state == "running"
        session.answer_question(item.id, item.question_id, [Given(("2",), "version 18 ")])
        await here.idle(session)
        assert "They chose: “PostgreSQL”\n   They wrote: version 18" in results(here)[-1]
        (call,) = calls(session)
        assert (call.status, call.questions, call.question_id, call.seconds) == ("completed", (), "", None)
        assert call.answers == (Answer("Where are the tanks kept?", ("PostgreSQL",), "version 18"),)
        told = [each for each in rebuilt(here.watcher, session) if isinstance(each, ToolCallItem)]
        assert told == [call]
        assert here.refused() == []


async def test_several_questions_may_be_answered_in_part(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(DATABASE, FUELS), Say("Good."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        session.answer_question(item.id, item.question_id, [Given(), Given(("2", "1"))])
        await here.idle(session)
        assert answers(session) == [(Answer("Which fuels?", ("Diesel", "Petrol")),)]
        assert "They left this one out" in results(here)[-1]


@pytest.mark.parametrize("given", [None, [Given()], [Given((), " \n")]])
async def test_a_question_may_be_skipped(folder: Path, given: list[Given] | None) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("SQLite, I assume."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        session.answer_question(item.id, item.question_id, given)
        await here.idle(session)
        assert results(here)[-1].startswith("The user did not answer: they skipped the question")
        assert (calls(session)[0].status, answers(session)) == ("completed", [()])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "There are 1 questions, and 0 answers came"),
        ([Given(("1",)), Given(("1",))], "There are 1 questions, and 2 answers came"),
        ([Given(("3",))], "3 is not one of the options"),
        ([Given(("allow_once",))], "allow_once is not one of the options"),
        ([Given(("1", "2"))], "Only one option"),
        ([Given((), "x" * (LONGEST_ANSWER + 1))], "at most 20,000 characters"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(folder: Path, given: list[Given], told: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("Good."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        with pytest.raises(SessionError, match=told) as refused:
            session.answer_question(item.id, item.question_id, given)
        assert refused.value.reason == "invalid"
        session.answer_question(item.id, item.question_id, [Given(("1",))])
        await here.idle(session)
        assert answers(session) == [(Answer("Where are the tanks kept?", ("SQLite",)),)]


async def test_an_answer_belongs_to_one_question(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([asking(id="one"), asking(FUELS, id="two")], Say("Good."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        first = await open_question(here, session)
        for call_id, question_id in ((first.id, "q1"), ("other", first.question_id), (first.id, "")):
            with pytest.raises(SessionError) as refused:
                session.answer_question(call_id, question_id, [Given(("1",))])
            assert refused.value.reason == "no_such_question"
        session.answer_question(first.id, first.question_id, [Given(("1",))])
        with pytest.raises(SessionError, match="no longer open"):
            session.answer_question(first.id, first.question_id, [Given(("2",))])
        second = await open_question(here, session, after=first.question_id)
        with pytest.raises(SessionError, match="no longer open"):
            session.answer_question(second.id, first.question_id, [Given(("2",))])
        session.answer_question(second.id, second.question_id, None)
        await here.idle(session)
        assert answers(session) == [(Answer("Where are the tanks kept?", ("SQLite",)),), ()]


async def test_an_approval_answers_no_question_and_an_answer_allows_nothing(folder: Path) -> None:
    async with stage(folder) as here:
        allow = {
            "header": "Approval",
            "question": "Allow `rm -rf .`?",
            "options": [{"label": "Allow once", "description": "Runs it"}, {"label": "Always allow", "description": "Runs all"}],
        }
        here.fake.enqueue([asking(allow), Call("write_file", {"path": "new.txt", "content": "new\n"})], Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        question = await open_question(here, session)
        for option in ("allow_once", "reject_once", "1"):
            with pytest.raises(SessionError) as refused:
                session.answer_permission(question.id, option, permission_id=question.question_id)
            assert refused.value.reason == "no_such_permission"
        session.answer_question(question.id, question.question_id, [Given(("2",))])
        approval = await here.asked(session)
        assert not (folder / "new.txt").exists()
        with pytest.raises(SessionError) as refused:
            session.answer_question(approval.id, approval.permission_id, [Given(("1",))])
        assert refused.value.reason == "no_such_question"
        session.answer_permission(approval.id, "reject_once", permission_id=approval.permission_id)
        await here.idle(session)
        assert not (folder / "new.txt").exists()
        assert here.sessions.always_allowed.rules() == []


async def test_a_steering_prompt_takes_the_place_of_an_answer(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("In memory then."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        await open_question(here, session)
        await session.prompt("Neither: keep them in memory", steer=True)
        await here.idle(session)
        assert results(here)[-1].startswith("The user did not answer: they wrote a message instead")
        last = here.fake.requests[-1].body["messages"][-1]["content"]
        assert [block["type"] for block in last] == ["tool_result", "text"]
        assert "Neither: keep them in memory" in last[-1]["text"]
        assert len(here.fake.requests) == 2


async def test_a_question_does_not_keep_a_steering_prompt_waiting(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([Call("write_file", {"path": "a.txt", "content": "a\n"}), asking()], Say("In memory then."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        approval = await here.asked(session)
        await session.prompt("Keep them in memory", steer=True)
        session.answer_permission(approval.id, "allow_once", permission_id=approval.permission_id)
        await here.idle(session)
        assert "they wrote a message instead" in results(here)[-1]


async def test_a_queued_prompt_waits_and_the_question_stays(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("Good."), Say("And next."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        await session.prompt("Then test it")
        assert [each.queued for each in items(session) if isinstance(each, UserItem)] == [False, True]
        session.answer_question(item.id, item.question_id, [Given(("1",))])
        await here.watcher.until(lambda: len(here.fake.requests) == 3)
        await here.idle(session)
        assert answers(session) == [(Answer("Where are the tanks kept?", ("SQLite",)),)]


async def test_stop_ends_a_question(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("Never mind."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        session.cancel()
        await here.idle(session)
        (call,) = calls(session)
        assert (call.status, call.questions, call.question_id, call.answers) == ("failed", (), "", ())
        with pytest.raises(SessionError, match="no longer open"):
            session.answer_question(item.id, item.question_id, None)
        await here.say(session, "Go on")
        assert results(here)[-1] == "The user did not answer: they stopped this turn while the question was open."
        assert here.refused() == []


@pytest.mark.parametrize("killed", [False, True])
async def test_a_question_that_was_open_at_the_end_of_ullage_is_not_answered(folder: Path, tmp_path: Path, killed: bool) -> None:
    state, copy = tmp_path.resolve() / "project-state", tmp_path / "copy"
    async with stage(folder) as here:
        here.fake.enqueue(asking())
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        shutil.copytree(state, copy)  # as a kill leaves it
    if killed:
        shutil.rmtree(state)
        shutil.copytree(copy, state)
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        (call,) = calls(again)
        assert (call.status, call.questions) == ("failed", ())
        ended = [logged.entry.outcome for logged in again.entries if isinstance(logged.entry, TurnEnded)]
        assert ended == ["interrupted"]
        with pytest.raises(SessionError, match="no longer open"):
            again.answer_question(item.id, item.question_id, [Given(("1",))])
        here.fake.enqueue(asking(), Say("SQLite."))
        again.resume()
        anew = await open_question(here, again)
        assert "Ask again, if you still need the answer" in results(here)[-1]
        again.answer_question(anew.id, anew.question_id, [Given(("1",))])
        await here.idle(again)
        assert here.refused() == []


async def test_where_no_question_is_shown_the_model_is_told_to_ask_in_words(folder: Path) -> None:
    async with stage(folder, settings=replace(Settings(), shows_questions=False)) as here:
        here.fake.enqueue(asking(), Say("Where are the tanks kept?"))
        session = await here.new()
        await here.say(session, "Keep the tanks")
        assert results(here)[-1].startswith("Questions with options cannot be shown here")
        assert calls(session)[0].status == "failed"


async def test_the_list_of_sessions_says_that_it_waits(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(asking(), Say("Good."))
        session = await here.new()
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        (row,) = await here.sessions.listed(10)
        assert row.figures is not None
        assert row.figures.status == "waiting"
        session.answer_question(item.id, item.question_id, [Given(("1",))])
        await here.idle(session)
        (row,) = await here.sessions.listed(10)
        assert row.figures is not None
        assert row.figures.status == "done"


async def test_answers_outlive_a_compaction_and_are_found(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        here.fake.enqueue(asking(), Say("Good."))
        await session.prompt("Keep the tanks")
        item = await open_question(here, session)
        session.answer_question(item.id, item.question_id, [Given(("2",), "but never on the build server")])
        await here.idle(session)
        await fill(here, session)
        await compact(here, session)
        made = here.made(session)[-1]
        assert made.summarised is not None
        assert (
            "Asked by the agent `Where are the tanks kept?`, the user chose `PostgreSQL` and wrote: but never on the build server"
            in made.summarised.text
        )
        markdown = await session.history.export(session.title, "markdown")
        told = markdown.partition("> Where are the tanks kept?")[2]
        assert told.startswith("\n\n- PostgreSQL\n\nbut never on the build server\n")
        hits = await here.sessions.search("build server", 10)
        assert ("user", item.id) in [(hit.what, hit.item_id) for hit in hits]
        await session.history.exclude(item.id)
        messages = session._conversation.projection.messages  # noqa: SLF001
        assert "build server" not in str(messages)
        assert "Where are the tanks kept" not in str([message for message in messages if message.role == "user"])

"""Turns from prompt to end, as a front end and the API see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Fail, Hang, HoldsAfter, Reply, Say, Think
from tests.unit.session.harness import OpenEditor, calls, items, notices, rebuilt, stage
from ullage.context.entries import TurnEnded
from ullage.models.errors import CloudRefused
from ullage.session.errors import SessionError
from ullage.session.timeline.items import AssistantItem, ThinkingItem, UserItem
from ullage.session.turns.turns import ending_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


async def test_a_prompt_is_answered_and_everything_is_shown_as_told(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([Think("Simple."), Say("It holds 100.")])
        session = await here.new()
        await here.say(session, "How much does it hold?")
        user, thinking, answer = items(session)
        assert isinstance(user, UserItem)
        assert isinstance(thinking, ThinkingItem)
        assert isinstance(answer, AssistantItem)
        assert (user.text, user.queued, answer.text) == ("How much does it hold?", False, "It holds 100.")
        assert session.title == "How much does it hold?"
        assert [item.id for item in rebuilt(here.watcher, session)] == [item.id for item in items(session)]


async def test_reading_needs_no_approval_and_the_result_goes_back(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("100."))
        session = await here.new()
        await here.say(session, "Read it")
        [call] = calls(session)
        assert (call.status, call.tool_kind) == ("completed", "read")
        result = here.fake.requests[-1].body["messages"][-1]["content"][0]
        assert result["type"] == "tool_result"
        assert "CAPACITY = 100" in result["content"]


EDIT = {"path": "tank.py", "old_text": "100", "new_text": "200"}


@pytest.mark.parametrize(
    ("option", "text", "status"),
    [
        ("allow_once", "CAPACITY = 200\n", "completed"),
        ("allow_always", "CAPACITY = 200\n", "completed"),
        ("reject_once", "CAPACITY = 100\n", "failed"),
    ],
)
async def test_an_edit_asks_first(folder: Path, option: str, text: str, status: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Call("edit_file", EDIT), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        assert (folder / "tank.py").read_text() == "CAPACITY = 100\n"
        session.answer_permission(asked.id, option, "not now")
        await here.idle(session)
        assert (folder / "tank.py").read_text() == text
        call = calls(session)[-1]
        assert call.status == status
        assert (call.diff is not None) == (status == "completed")
        told = here.fake.requests[-1].body["messages"][-1]["content"][0]["content"]
        assert ("not now" in told) == (option == "reject_once")


async def test_what_is_always_allowed_is_not_asked_again(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("bash", {"command": "echo one"}), Call("bash", {"command": "echo two"}), Say("Done."))
        session = await here.new()
        await session.prompt("Echo")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_always")
        await here.idle(session)
        assert [call.status for call in calls(session)] == ["completed", "completed"]
        assert "two" in calls(session)[1].output


async def test_unsaved_text_is_what_is_read_and_edited(folder: Path) -> None:
    path = (folder / "tank.py").resolve()
    async with stage(folder, editor=OpenEditor({path: "CAPACITY = 100  # unsaved\n"})) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Call("edit_file", EDIT), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert here.editor.texts[path] == "CAPACITY = 200  # unsaved\n"
        assert (folder / "tank.py").read_text() == "CAPACITY = 100\n"


async def test_a_file_that_changed_since_it_was_read_is_named_before_the_next_call(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("Read."), Say("I see."), Say("Yes."))
        session = await here.new()
        await here.say(session, "Read it")
        path = (folder / "tank.py").resolve()
        here.editor.texts[path] = "CAPACITY = 300\n"
        here.sessions.document_changed(path, "changed", 1)
        await here.say(session, "And now?")
        texts = [block["text"] for block in here.fake.requests[-1].body["messages"][-1]["content"]]
        assert any("tank.py" in text and "unsaved" in text for text in texts)
        await here.say(session, "Again?")
        assert "tank.py" not in str(here.fake.requests[-1].body["messages"][-1])


async def test_stop_keeps_what_was_said_and_the_next_turn_is_valid(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Reply((Say("One two three four five six seven."),), chunk_size=8, interruption=HoldsAfter(2)), Say("Fine."))
        session = await here.new()
        await session.prompt("Count")
        await here.watcher.until(lambda: any(isinstance(i, AssistantItem) and len(i.text) >= 16 for i in items(session)))
        session.cancel()
        await here.idle(session)
        assert [n.action for n in notices(session)] == ["continue"]
        kept = [item.text for item in items(session) if isinstance(item, AssistantItem)]
        assert kept == ["One two three fo"]
        await here.say(session, "Go on")
        assert items(session)[-1] == next(i for i in reversed(items(session)) if isinstance(i, AssistantItem))


async def test_stop_while_a_command_runs_gives_it_a_result(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("bash", {"command": "echo begun; sleep 600"}), Say("Fine."))
        session = await here.new()
        await session.prompt("Wait")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.watcher.until(lambda: "begun" in calls(session)[0].output)
        session.cancel()
        await here.idle(session)
        assert calls(session)[0].status == "failed"
        await here.say(session, "Go on")
        assert "stopped" in str(here.fake.requests[-1].body["messages"])


async def test_prompts_wait_their_turn_and_can_be_taken_back(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("First."),))), Say("Third."))
        session = await here.new()
        await session.prompt("One")
        second = await session.prompt("Two")
        await session.prompt("Three")
        await here.fake.until_held()
        session.unqueue(second)
        here.fake.release()
        await here.idle(session)
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["One", "Three"]
        with pytest.raises(SessionError):
            session.unqueue(second)


async def test_a_steering_prompt_joins_the_running_turn(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Call("read_file", {"path": "tank.py"}),))), Say("Both."))
        session = await here.new()
        await session.prompt("Read it")
        await here.fake.until_held()
        await session.prompt("Only the first line", steer=True)
        here.fake.release()
        await here.idle(session)
        assert len(here.fake.requests) == 2
        assert here.fake.requests[-1].body["messages"][-1]["content"][-1]["text"] == "Only the first line"


@pytest.mark.parametrize(
    ("failure", "action", "words"),
    [
        (Fail(401, "authentication_error", "invalid x-api-key"), "set_key", "key"),
        (Fail(404, "not_found_error", "model: claude-nothing"), "choose_model", "model"),
        (Fail(400, "invalid_request_error", "something odd"), "continue", "something odd"),
    ],
)
async def test_a_failed_call_says_what_to_do_and_loses_nothing(folder: Path, failure: Fail, action: str, words: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(failure, Say("Back."))
        session = await here.new()
        await here.say(session, "Hello")
        [notice] = notices(session)
        assert (notice.level, notice.action) == ("error", action)
        assert words in notice.text
        session.resume()
        await here.idle(session)
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Back."


async def test_an_empty_prompt_is_refused(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        with pytest.raises(SessionError):
            await session.prompt("  \n")


async def test_rules_are_told_when_they_come_into_force_and_when_they_change(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Use metres.\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "AGENTS.md").write_text("Never print.\n")
    (folder / "deep" / "a.py").write_text("A = 1\n")
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "deep/a.py"}), Say("Read."), Say("Noted."))
        session = await here.new()
        await here.say(session, "Read it")
        body = here.fake.requests[-1].body
        assert "Use metres." in str(body["system"])
        assert "Never print." in str(body["messages"][-1])
        (folder / "AGENTS.md").write_text("Use feet.\n")
        here.sessions.document_changed((folder / "AGENTS.md").resolve(), "saved")
        await here.say(session, "And now?")
        body = here.fake.requests[-1].body
        assert "Use metres." in str(body["system"])
        assert "Use feet." in str(body["messages"][-1])


async def test_what_a_cloud_refuses_is_sent_again_and_asks_for_no_key_of_ullages() -> None:
    async def turn() -> TurnEnded:
        raise CloudRefused("The credentials have expired.")

    ended = (await ending_of(turn(), lambda: "cancelled")).entry
    assert (ended.action, ended.message) == ("continue", "The credentials have expired.")

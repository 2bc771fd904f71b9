"""Sub-agents that act: who is asked and where, what binds them, and that what they change is the parent's to review and take back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tests.fake_api import Call, Hang, Say
from tests.fake_api.script import Reply
from tests.fake_api.script import Rule as Answers
from tests.unit.session.acting import READ, allow, card, changed, define, edit, of, project, task, told
from tests.unit.session.harness import calls, compactions, stage
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.updates import ModeId
from ullage.tools.rules.covering import PermissionRule


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path)


async def test_its_edit_is_asked_about_in_its_parent_and_can_be_undone_there(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], READ, edit(), Say("It holds 200 now."), Say("Mended."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        assert begun.asked is not None
        assert begun.asked.action == "agent"
        assert begun.permission_reason == (
            "Let the sub-agent `fixer` use `write_file`, `edit_file`, `bash`, as `.claude/agents/fixer.md` of this project tells it to. "
            "Its calls are asked about as ever"
        )
        asked = await here.asked_anew(session, begun)
        assert (asked.id, asked.name, asked.title, asked.tool_kind) == (begun.id, "task", "fixer: Mend it", "edit")
        assert asked.permission_reason == "Edit tank.py"
        assert asked.diff is not None
        assert "CAPACITY = 200" in asked.diff.new_text
        assert asked.agent is not None
        assert asked.agent.name == "fixer"
        assert [place.path for place in asked.locations] == [str(folder / "tank.py")]
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 100")
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert here.refused() == []
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 200")
        shown = card(session)
        assert (shown.status, shown.title, shown.diff, shown.permission) == ("completed", "fixer: Mend it", None, ())
        assert "Mend the tank" in shown.input
        [result] = told(session)
        assert "> It holds 200 now." in result.content
        assert "[It changed `tank.py`. What you knew of it is out of date" in result.content
        assert [touch.path for touch in result.touched] == ["tank.py"]
        assert result.agent is not None
        log = await here.sessions.open(result.agent.session_id)
        assert log.snapshot().changes.count == 0
        [turn] = await session.reviewing.turns()
        assert [file.path for file in turn.files] == ["tank.py"]
        await session.reviewing.undo(turn_id=turn.turn_id)
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 100")


async def test_going_back_takes_back_what_its_commands_did_too(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], [Call("bash", {"command": "echo x > new.txt; echo y >> tank.py"})], Say("Done."), Say("Good."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await allow(here, session, before=begun)
        assert asked.asked is not None
        assert asked.asked.action == "command"
        assert "echo x > new.txt" in asked.input  # the whole command, not the task
        await here.idle(session)
        assert (folder / "new.txt").exists()
        [point] = await session.going_back.checkpoints()
        assert point.files == 2
        await session.restore(point.id)
        assert not (folder / "new.txt").exists()
        assert (folder / "tank.py").read_text() == "CAPACITY = 100\nDIP = 1\n"


async def test_what_the_user_refuses_it_does_not_do_and_is_told(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], READ, edit(), Say("I may not."), Say("So be it."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await here.asked_anew(session, begun)
        session.answer_permission(asked.id, "reject_once", "Leave the tank alone", permission_id=asked.permission_id)
        await here.idle(session)
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 100")
        assert changed(session) == []
        assert "Leave the tank alone" in str(here.fake.requests[-2].body["messages"])


async def test_the_answer_can_be_given_in_its_log_as_well(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], READ, edit(), Say("Done."), Say("Good."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await here.asked_anew(session, begun)
        assert asked.agent is not None
        log = here.sessions.shown((await here.sessions.open(asked.agent.session_id)).id)
        [waits] = [call for call in calls(log) if call.permission]
        assert waits.permission_id == asked.permission_id
        log.answer_permission(waits.id, "allow_once", permission_id=waits.permission_id)
        await here.idle(session)
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 200")
        with pytest.raises(SessionError, match="no longer needed"):
            session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)


async def test_the_project_is_asked_about_once_until_its_word_is_another(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], Say("Nothing to do."), Say("Good."))
        await session.prompt("Mend it")
        first = await allow(here, session, "allow_always")
        assert first.permission[1].name == "Always allow `.claude/agents/fixer.md` as it is now"
        await here.idle(session)
        here.fake.enqueue([task()], Say("Nothing to do."), Say("Good."))
        await here.say(session, "Again")
        assert len(told(session)) == 2
        define(folder, "You break.")
        here.fake.enqueue([task()], Say("Never said."))
        await session.prompt("Again")
        asked = await here.asked(session)
        assert asked.permission_reason.startswith(
            "You allowed this for good, but a file that it names has changed since. Let the sub-agent"
        )
        define(folder, "You break more.")
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        again = await here.asked_anew(session, asked)
        assert again.permission_reason.startswith("It has changed since you were asked. ")
        session.answer_permission(again.id, "reject_once", "Not this", permission_id=again.permission_id)
        await here.idle(session)
        assert "refused this call; it was not run. They said: Not this" in told(session)[-1].content


async def test_a_rule_can_refuse_it_and_only_an_answer_allows_it(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        rule = PermissionRule("agent", ".claude/agents/fixer.md", "session")
        with pytest.raises(SessionError, match="allowed where it is asked about"):
            session.permits.add(rule)
        session.permits.add(replace(rule, refuses=True))
        here.fake.enqueue([task()], Say("So be it."))
        await here.say(session, "Mend it")
        assert "A rule of the user's refuses this call" in told(session)[0].content


@pytest.mark.parametrize("mode", [mode for mode in get_args(ModeId) if mode != "act"])
async def test_under_a_parent_that_changes_nothing_it_only_reads(folder: Path, mode: ModeId) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.set_mode(mode)
        here.fake.enqueue([task()], READ, edit(), Say("I may not."), Say("So be it."))
        await here.say(session, "Mend it")  # nobody is asked
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 100")
        own = here.fake.requests[1].body
        assert {tool["name"] for tool in own["tools"]} == {"read_file", "bash", "recall"}
        assert not told(session)[0].is_error


async def test_another_mode_of_the_parent_binds_one_at_work(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.add_rules(Answers(of("Mend"), READ, times=1), Answers(of("Mend"), Hang(Reply(tuple(edit()))), times=1))
        here.fake.add_rules(Answers(of("Mend"), Hang(Reply(tuple(edit()))), times=1), Answers(of("Mend"), Say("It holds 200.")))
        here.fake.enqueue([task()], Say("Good."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        await here.fake.until_held(1)
        session.set_mode("plan")
        here.fake.release()
        await here.fake.until_held(1)
        session.set_mode("act")
        here.fake.release()
        await allow(here, session, before=begun)
        await here.idle(session)
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 200")
        [result] = told(session)
        assert result.agent is not None
        log = await here.sessions.open(result.agent.session_id)
        refused, edited = [call for call in calls(log) if call.name == "edit_file"]
        assert "This session is in Ask mode, so nothing is changed" in refused.output
        assert edited.status == "completed"


async def test_rules_of_the_parents_session_hold_and_what_it_is_always_allowed_holds_there(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.permits.add(PermissionRule("read", "secret.txt", "session", refuses=True))
        (folder / "secret.txt").write_text("Hidden.\n")
        both = [Call("read_file", {"path": "secret.txt"}), *READ]
        here.fake.enqueue([task()], both, edit(), edit("DIP = 1", "DIP = 2"), Say("Done."), Say("Good."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await here.asked_anew(session, begun)
        session.answer_permission(
            asked.id, "allow_always", permission_id=asked.permission_id, rules=[PermissionRule("edit", "tank.py", "session")]
        )
        await here.idle(session)  # the second edit is not asked about
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\nDIP = 2\n"
        assert [rule.pattern for rule in session.permits.own.rules()] == ["secret.txt", "tank.py"]
        assert "Hidden." not in str([request.body for request in here.fake.requests])


async def test_two_that_edit_one_file_at_once_do_not_overwrite_each_other(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.permits.add(PermissionRule("edit", "tank.py", "session"))
        here.fake.add_rules(
            Answers(of("first"), READ, times=1),
            Answers(of("first"), Hang(Reply(tuple(edit()))), times=1),
            Answers(of("first"), edit(), times=1),
            Answers(of("first"), Say("First is done.")),
            Answers(of("second"), READ, times=1),
            Answers(of("second"), edit("DIP = 1", "DIP = 2"), times=1),
            Answers(of("second"), Say("Second is done.")),
        )
        here.fake.enqueue(READ)
        here.fake.enqueue([task("first"), task("second")], edit("DIP = 2", "DIP = 3"), edit("DIP = 2", "DIP = 3"), Say("All."))
        await session.prompt("Mend it")
        answered = set[str]()

        def questions() -> list[ToolCallItem]:
            return [call for call in calls(session) if call.permission and call.permission_id not in answered]

        for _ in range(2):
            await here.watcher.until(lambda: bool(questions()))
            question = questions()[0]
            answered.add(question.permission_id)
            session.answer_permission(question.id, "allow_once", permission_id=question.permission_id)
        await here.watcher.until(lambda: len(changed(session)) == 1)  # the second has written, and the first was held meanwhile
        await here.fake.until_held(1)
        here.fake.release()
        await here.idle(session)
        assert here.refused() == []
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\nDIP = 3\n"
        by_id = {each.agent.session_id: each for each in told(session) if each.agent is not None}
        logs = [await here.sessions.open(id) for id in by_id]
        outputs = [call.output for log in logs for call in calls(log) if call.name == "edit_file"]
        assert sum("changed since you last saw it, so it was not edited" in output for output in outputs) == 1
        own = [call.output for call in calls(session) if call.name == "edit_file"]
        assert "changed since you last saw it" in own[0]  # the parent, too
        assert len(await session.reviewing.open_files()) == 1


async def test_it_ends_with_its_parent_while_it_waits_for_an_answer(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.permits.add(PermissionRule("edit", "tank.py", "session"))
        here.fake.enqueue([task()], READ, edit(), [Call("bash", {"command": "touch never.txt"})])
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await here.asked_anew(session, begun)
        session.cancel()
        await here.idle(session)
        with pytest.raises(SessionError, match="no longer needed"):
            session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        assert not (folder / "never.txt").exists()
        shown = card(session)
        assert (shown.status, shown.permission, shown.diff) == ("failed", (), None)
        [result] = told(session)
        assert "The user stopped this turn before the sub-agent “fixer” was done" in result.content
        assert "[It changed `tank.py`." in result.content
        [turn] = await session.reviewing.turns()
        await session.reviewing.undo(turn_id=turn.turn_id)
        assert (folder / "tank.py").read_text().startswith("CAPACITY = 100")
        here.fake.enqueue(Say("On."))
        await here.say(session, "Go on")
        assert here.refused() == []


@pytest.mark.parametrize("ends", ["close", "delete"])
async def test_closing_or_deleting_its_parent_ends_it(folder: Path, ends: str) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], [Call("bash", {"command": "touch never.txt"})])
        await session.prompt("Mend it")
        begun = await allow(here, session)
        asked = await here.asked_anew(session, begun)
        assert asked.agent is not None
        await (here.sessions.close_session if ends == "close" else here.sessions.delete)(session.id)
        assert not (folder / "never.txt").exists()
        assert [each.id for each in here.sessions._open] == []  # noqa: SLF001
        if ends == "delete":
            with pytest.raises(SessionError):
                await here.sessions.open(asked.agent.session_id)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(agents_per_turn=1), "1 in one turn are the most"),
        (Settings(agents_max_cost=0.000001), "the limit of $1e-06 for the sub-agents of one turn was reached"),
        (Settings(agents_max_tokens=1_000), "the limit of 1,000 tokens for a sub-agent was reached"),
    ],
)
async def test_limits_hold_for_those_that_act_and_what_was_changed_by_then_is_told(folder: Path, settings: Settings, why: str) -> None:
    async with stage(folder, settings=settings, ask_for="outsideSandbox") as here:
        session = await here.new()
        session.permits.add(PermissionRule("edit", "*.*", "session"))
        here.fake.add_rules(Answers(of("Mend"), [Call("write_file", {"path": "new.py", "content": "x = 1\n"})], times=1))
        here.fake.add_rules(Answers(of("Mend"), Say("Written.")))
        here.fake.enqueue([task()], [task()], Say("I go on."))
        await session.prompt("Mend it")
        begun = await allow(here, session)
        await allow(here, session, before=begun)
        await here.idle(session)
        assert any(why in result.content and result.is_error for result in told(session))
        for result in told(session):
            assert ("[It changed `new.py`." in result.content) == bool(result.touched)
        assert here.refused() == []


async def test_it_starts_no_other(folder: Path) -> None:
    define(folder, tools="Read, Edit, Task, task")
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([task()], [task()], Say("I cannot."), Say("So be it."))
        await session.prompt("Mend it")
        await allow(here, session)
        await here.idle(session)
        [result] = told(session)
        assert result.agent is not None
        log = await here.sessions.open(result.agent.session_id)
        assert "There is no tool 'task'" in calls(log)[0].output


async def test_what_it_changed_is_read_again_after_a_compaction_of_its_parent(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.permits.add(PermissionRule("edit", "tank.py", "session"))
        here.fake.enqueue([task()], READ, edit(), Say("It holds 200 now. " * 50), Say("Mended. " * 2_000))
        await session.prompt("Mend it")
        await allow(here, session)
        await here.idle(session)
        for _ in range(3):
            here.fake.enqueue(Say("On. " * 4_000))
            await here.say(session, "Go on")
        here.fake.enqueue(Say("Nothing else."))
        session.compact()
        await here.idle(session)
        [made] = compactions(session)
        assert made.status == "completed"
        assert "tank.py" in [file.path for file in made.restored if file.is_read]

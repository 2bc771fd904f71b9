"""Rules as a session has them: where they are kept, when they count, and that nothing but the user makes one."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage
from ullage.context.blocks import Json
from ullage.session.errors import SessionError
from ullage.session.permissions import rules_kept
from ullage.session.permissions.rules_kept import RememberedForNow, SessionRules
from ullage.tools.rules.covering import PermissionRule, RuleScope


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


def run(command: str) -> Call:
    return Call("bash", {"command": command})


@pytest.mark.parametrize("scope", ["session", "workspace", "everywhere"])
async def test_a_rule_holds_where_the_user_wanted_it(folder: Path, scope: RuleScope) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(run("mkdir one"), run("mkdir two"), Say("Done."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_always", rules=[PermissionRule("command", "mkdir *", scope)])
        await here.idle(session)
        assert (folder / "two").is_dir()
        rule = session.permits.rules()[0]
        assert (rule.pattern, rule.scope, rule.used) == ("mkdir *", scope, 1)
        another = await here.new()
        assert bool(another.permits.rules()) is (scope != "session")
        session.permits.forget(scope, "command", "mkdir *")
        assert not session.permits.rules()


async def test_what_a_rule_refuses_does_not_run_and_the_model_is_told_which(folder: Path) -> None:
    async with stage(folder, ask_for="notHarmless") as here:
        session = await here.new()
        session.permits.add(PermissionRule("command", "mkdir *", "everywhere"))
        session.permits.add(PermissionRule("command", "mkdir two", "workspace", refuses=True))
        session.permits.add(PermissionRule("edit", "*.py", "session", refuses=True))
        edit = Call("write_file", {"path": "new.py", "content": "1\n"})
        here.fake.enqueue(run("mkdir one"), run("mkdir two"), edit, Say("I cannot."))
        await here.say(session, "Go")
        assert sorted(path.name for path in folder.iterdir()) == ["one", "tank.py"]
        told = json.dumps(here.fake.requests[-1].body)
        assert "never `mkdir two` (commands)" in told
        assert "never `*.py` (edits of files)" in told
        assert [(call.status, call.failure) for call in calls(session)][1:] == [("failed", "refused")] * 2
        assert {rule.pattern: rule.used for rule in session.permits.rules()} == {"mkdir *": 1, "mkdir two": 1, "*.py": 1}


async def test_a_rule_that_refuses_outlives_the_process_and_takes_the_place_of_one_that_allows(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        for scope in ("workspace", "everywhere", "session"):
            session.permits.add(PermissionRule("command", "mkdir *", scope))
            session.permits.add(PermissionRule("command", "mkdir *", scope, refuses=True))
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        assert [(rule.scope, rule.refuses) for rule in session.permits.rules()] == [
            *(("session", True), ("workspace", True), ("everywhere", True)),
        ]
        session.permits.forget("everywhere", "command", "mkdir *")
        session.permits.forget("session", "command", "mkdir *")
        session.permits.add(PermissionRule("command", "mkdir *", "workspace"))
        assert [(rule.scope, rule.refuses) for rule in session.permits.rules()] == [("workspace", False)]


async def test_a_rule_that_is_made_while_the_user_is_asked_refuses_all_the_same(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(run("mkdir one"), Say("Done."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        session.permits.add(PermissionRule("command", "mkdir *", "workspace", refuses=True))
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert not (folder / "one").exists()


async def test_a_refusal_takes_rules_that_refuse_and_no_others(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(run("mkdir one"), Say("Then not."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        refusing, allowing = (
            PermissionRule("command", "mkdir *", "workspace", refuses=True),
            PermissionRule("command", "mkdir *", "workspace"),
        )
        for option, rule in (("allow_always", refusing), ("allow_once", refusing), ("reject_once", allowing)):
            with pytest.raises(SessionError, match="Rules belong to"):
                session.answer_permission(asked.id, option, rules=[rule])
        session.answer_permission(asked.id, "reject_once", rules=[refusing])
        await here.idle(session)
        assert [rule.refuses for rule in session.permits.rules()] == [True]


async def test_a_broken_rule_is_refused_and_the_question_waits_on(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(run("mkdir one"), Say("Done."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        with pytest.raises(SessionError, match="one command"):
            session.answer_permission(asked.id, "allow_always", rules=[PermissionRule("command", "mkdir * && rm *", "workspace")])
        assert not session.permits.rules()
        assert calls(session)[-1].status == "awaiting_permission"
        session.answer_permission(asked.id, "allow_always", rules=[PermissionRule("command", "mkdir elsewhere", "workspace")])
        await here.idle(session)
        assert (folder / "one").is_dir(), "what was asked runs, whether the rule covers it or not"


async def test_the_question_says_part_by_part_what_is_asked(folder: Path) -> None:
    async with stage(folder, ask_for="notHarmless") as here:
        here.fake.enqueue(run("cat tank.py && mkdir one"), Say("Done."))
        session = await here.new()
        await session.prompt("Go")
        asked = (await here.asked(session)).asked
        assert asked is not None
        assert [(part.text, part.standing) for part in asked.parts] == [("cat tank.py", "harmless"), ("mkdir one", "asked")]
        assert "not on the list" in asked.parts[1].why
        assert [(each.action, each.pattern) for each in asked.proposals] == [("command", "mkdir one")]
        assert (asked.folder, asked.outside) == ("project", False)
        session.answer_permission(calls(session)[-1].id, "reject_once")
        await here.idle(session)
        assert calls(session)[-1].asked is None


async def test_without_a_sandbox_nothing_is_left_to_it(folder: Path) -> None:
    async with stage(folder, ask_for="outsideSandbox") as here:
        way = here.sessions.way_of_asking
        assert (way.wanted, way.in_force) == ("outsideSandbox", "outsideSandbox") or way.no_sandbox
        session = await here.new()
        way = here.sessions.way_of_asking
        assert (way.in_force, way.no_sandbox != "") == ("notHarmless", True)
        here.fake.enqueue(run("cat tank.py"), run("mkdir one"), Say("Done."))
        await session.prompt("Go")
        asked = await here.asked(session)
        assert asked.title == "$ mkdir one"
        session.answer_permission(asked.id, "reject_once")
        await here.idle(session)


async def test_no_mode_is_weakened_by_a_rule_or_a_way_of_asking(folder: Path) -> None:
    async with stage(folder, ask_for="outsideSandbox") as here:
        session = await here.new()
        session.permits.add(PermissionRule("command", "mkdir *", "everywhere"))
        session.permits.add(PermissionRule("edit", "**", "everywhere"))
        session.set_mode("ask")
        here.fake.enqueue(run("mkdir one"), Call("write_file", {"path": "new.py", "content": "1\n"}), Say("No."))
        await here.say(session, "Go")
        assert sorted(path.name for path in folder.iterdir()) == ["tank.py"]


async def test_nothing_of_the_workspace_is_a_rule(folder: Path) -> None:
    rules = [{"action": "command", "pattern": "mkdir *", "since": 1.0}]
    for name in ("state.json", ".ullage/state.json", ".vscode/settings.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps({"rules": {str(folder): rules, "*": rules}, "ullage.permissions.ask": "outsideSandbox"}))
    async with stage(folder) as here:
        session = await here.new()
        assert not session.permits.rules()
        assert here.sessions.way_of_asking.wanted == "everything"


async def test_past_calls_that_a_rule_is_about(folder: Path) -> None:
    async with stage(folder, ask_for="notHarmless") as here:
        session = await here.new()
        made = Call("write_file", {"path": "src/a.py", "content": "1\n"})
        for call in (run("mkdir one"), run("mkdir one"), run("mkdir two && rm tank.py"), made):
            here.fake.enqueue(call, Say("Done."))
            await session.prompt("Go")
            session.answer_permission((await here.asked(session)).id, "reject_once")
            await here.idle(session)
        here.fake.enqueue(run("cat tank.py"), Say("Done."))
        await here.say(session, "Go")
        checked = session.past_calls.check(PermissionRule("command", "mkdir *", "workspace"))
        found = [(match.call.text, match.call.times, match.allowed) for match in checked.matches]
        assert found == [("mkdir two && rm tank.py", 1, False), ("mkdir one", 2, True)]
        assert (checked.matched, checked.of, checked.problem) == (2, 3, "")
        assert session.past_calls.check(PermissionRule("command", "mkdir > x", "workspace")).problem
        never = session.past_calls.check(PermissionRule("command", "mkdir two *", "workspace", refuses=True))
        assert [(match.call.text, match.allowed, match.refused) for match in never.matches] == [("mkdir two && rm tank.py", False, True)]
        assert never.explanation.startswith("Refuses `mkdir two` with any words.")
        session.permits.add(PermissionRule("command", "mkdir one", "session", refuses=True))
        beside = session.past_calls.check(PermissionRule("command", "mkdir *", "workspace"))
        assert [match.refused for match in beside.matches] == [False, True]
        edits = session.past_calls.check(PermissionRule("edit", "src/**", "workspace"))
        assert ([match.call.text for match in edits.matches], edits.of) == (["src/a.py"], 1)


class Values:
    """What a session remembers, as it would be read from the disk."""

    def __init__(self, kept: Json = None) -> None:
        self.kept: dict[str, Json] = {"rules:s1": kept}

    def remember(self, key: str, value: Json) -> None:
        self.kept[key] = value

    def recalled(self, key: str) -> Json:
        return self.kept.get(key)


ALMOST = {"pattern": "../x", "since": 1}


@pytest.mark.parametrize("damaged", [None, 4, "x", [4], [{}], [{**ALMOST, "action": "x"}], [{**ALMOST, "action": "edit"}]])
def test_damaged_rules_of_a_session_allow_nothing(damaged: Json) -> None:
    assert SessionRules("s1", Values(damaged)).rules() == []


def test_rules_of_a_session_outlive_the_process() -> None:
    values = Values()
    SessionRules("s1", values).add(PermissionRule("command", "mkdir *", "session", 5.0))
    assert SessionRules("s1", values).rules() == [PermissionRule("command", "mkdir *", "session", 5.0)]
    assert SessionRules("s2", values).rules() == []


@pytest.mark.parametrize("kept", [SessionRules("s1", Values()), RememberedForNow()], ids=["of a session", "without a folder"])
def test_a_rule_that_is_forgotten_while_its_use_is_noted_stays_forgotten(
    kept: SessionRules | RememberedForNow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = PermissionRule("command", "mkdir *", "session", 5.0)
    kept.add(rule)
    forgetting = threading.Thread(target=kept.forget_all)

    def counted(known: PermissionRule, **changes: Any) -> PermissionRule:
        forgetting.start()
        forgetting.join(0.1)  # it may have to wait until the use is noted
        return replace(known, **changes)

    monkeypatch.setattr(rules_kept, "replace", counted)
    kept.used((rule,), 6.0)
    forgetting.join()
    assert kept.rules() == []

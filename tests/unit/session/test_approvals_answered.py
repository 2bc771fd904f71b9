"""One card, one call, one answer: calls whose ids are given twice, and answers that come late, twice or from elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deep import sampled
from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, compact, fill, make_project, summaries
from tests.unit.session.harness import Stage, calls, items, stage
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.timeline.items import ToolCallItem
from ullage.session.turns.incoming import CallIds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


def write(name: str, id: str | None = None) -> Call:
    return Call("write_file", {"path": name, "content": f"{name}\n"}, id)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def pairs(here: Stage) -> dict[str, str]:
    """What each call wrote and what its result says, in the last request."""
    messages = here.fake.requests[-1].body["messages"]
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    asked = {block["id"]: block["input"].get("path", "") for block in blocks if block["type"] == "tool_use"}
    return {asked[block["tool_use_id"]]: block["content"] for block in blocks if block["type"] == "tool_result"}


DOUBLED = ["toolu_1", "a", "A-_9", "x" * 128]
UNUSABLE = [
    "",
    " ",
    "n1",
    "n12",
    "n999999",
    "../../x",
    "a/b",
    "a.0",
    "r1.0",
    "x" * 129,
    "é",
    "a\nb",
    "\u202eb",
    "call 1",
    "<b>",
    "c:1",
    "\0",
]


ONE_OF_EACH = ("toolu_1", "x" * 128, "", "n1", "../../x", "r1.0", "x" * 129, "\u202eb", "\0")
"""An id as usual, a long one, none, one of Ullage's own kind, a path, one of a result, and what no id may have."""


@pytest.mark.parametrize("id", DOUBLED)
def test_an_id_that_the_api_takes_is_kept(id: str) -> None:
    ids = CallIds(lambda taken: False)
    assert [ids.of(0, id), ids.of(0, id)] == [id, id]


@pytest.mark.parametrize("id", UNUSABLE)
def test_one_that_it_does_not_take_or_that_a_notice_could_get_is_given_anew(id: str) -> None:
    given = CallIds(lambda taken: False).of(0, id)
    assert given != id
    assert given.startswith("toolu_")


@sampled("id", DOUBLED + UNUSABLE, keep=ONE_OF_EACH.__contains__)
async def test_two_calls_of_a_reply_with_one_id_are_two_cards(folder: Path, id: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([write("one.txt", id), write("two.txt", id)], Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        first = await here.asked(session)
        assert first.diff is not None
        assert first.diff.path == "one.txt"
        assert len({call.id for call in calls(session)}) == 2
        session.answer_permission(first.id, "reject_once", "not this", permission_id=first.permission_id)
        second = await here.asked_anew(session, first)
        assert second.diff is not None
        assert second.diff.path == "two.txt"
        session.answer_permission(second.id, "allow_once", permission_id=second.permission_id)
        await here.idle(session)
        assert files(folder) == ["tank.py", "two.txt"]
        assert [call.status for call in calls(session)] == ["failed", "completed"]
        assert ("not this" in pairs(here)["one.txt"], "Created" in pairs(here)["two.txt"]) == (True, True)
        assert here.refused() == []


@pytest.mark.parametrize("id", ["toolu_1", "a"])
async def test_an_id_of_an_earlier_reply_is_given_anew(folder: Path, id: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}, id), write("two.txt", id), Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        asked = await here.asked(session)
        assert [call.name for call in calls(session)] == ["read_file", "write_file"]
        assert calls(session)[0].status == "completed"
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert files(folder) == ["tank.py", "two.txt"]
        assert here.refused() == []


async def test_calls_side_by_side_with_one_id_keep_their_results(folder: Path) -> None:
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"text of {name}\n")
    async with stage(folder) as here:
        here.fake.enqueue([Call("read_file", {"path": f"{name}.txt"}, "same") for name in "abc"], Say("Done."))
        session = await here.new()
        await here.say(session, "Read")
        assert [f"text of {name}" in pairs(here)[f"{name}.txt"] for name in "abc"] == [True] * 3
        assert [f"text of {name}" in call.output for name, call in zip("abc", calls(session), strict=True)] == [True] * 3


async def test_a_call_does_not_take_the_id_of_a_prompt_a_reply_or_a_compaction(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello."), Say("Hello again."))
        session = await here.new()
        await here.say(session, "One")
        await here.say(session, "Two")
        before = items(session)
        here.fake.enqueue([Call("read_file", {"path": "tank.py"}, item.id) for item in before], Say("Done."))
        await here.say(session, "Three")
        assert items(session)[: len(before)] == before
        assert len({item.id for item in items(session)}) == len(items(session))


@pytest.mark.parametrize("way", ["restart", "fork"])
async def test_an_id_from_before_is_given_anew_in_what_goes_on(folder: Path, way: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}, "toolu_1"), Say("Read."))
        session = await here.new()
        await here.say(session, "Read")
        session_id = session.id
        if way == "fork":
            session_id = (await here.sessions.fork(session.id)).session.id
    async with stage(folder) as here:
        session = await here.sessions.open(session_id)
        here.fake.enqueue(write("two.txt", "toolu_1"), Say("Done."))
        await session.prompt("Write")
        asked = await here.asked(session)
        assert (asked.id != "toolu_1", [call.name for call in calls(session)]) == (True, ["read_file", "write_file"])
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert files(folder) == ["tank.py", "two.txt"]
        assert here.refused() == []


@dataclass
class Asking:
    """A session that asks whether `one.txt` may be written."""

    here: Stage
    session: Session
    asked: ToolCallItem

    def answer(self, option: str = "allow_once", *, call: str | None = None, question: str | None = None) -> str:
        """How an answer is taken: `ok`, else the reason."""
        try:
            self.session.answer_permission(
                call or self.asked.id, option, permission_id=self.asked.permission_id if question is None else question
            )
        except SessionError as error:
            return error.reason
        return "ok"


async def twice_the_same(asking: Asking) -> list[str]:
    return [asking.answer(), asking.answer()]


async def no_after_yes(asking: Asking) -> list[str]:
    return [asking.answer(), asking.answer("reject_once")]


async def yes_after_no(asking: Asking) -> list[str]:
    return [asking.answer("reject_once"), asking.answer(), asking.answer("allow_always")]


async def always_after_no(asking: Asking) -> list[str]:
    taken = [asking.answer("reject_once"), asking.answer("allow_always")]
    await asking.here.idle(asking.session)
    return taken


async def long_after(asking: Asking) -> list[str]:
    taken = [asking.answer()]
    await asking.here.idle(asking.session)
    return [*taken, asking.answer(), asking.answer("reject_once")]


async def after_stop(asking: Asking) -> list[str]:
    asking.session.cancel()
    late = asking.answer()
    await asking.here.idle(asking.session)
    await asking.here.say(asking.session, "Go on")
    return [late, asking.answer()]


async def to_no_question(asking: Asking) -> list[str]:
    return [asking.answer(question=""), asking.answer(question="q0"), asking.answer(question="None"), asking.answer("reject_once")]


async def to_another_call(asking: Asking) -> list[str]:
    return [asking.answer(call="toolu_2"), asking.answer(call=asking.asked.id.upper()), asking.answer("reject_once")]


async def with_another_option(asking: Asking) -> list[str]:
    return [asking.answer(option) for option in ("", "allow", "ALLOW_ONCE", "allow_once ", "reject_once")]


async def in_another_session(asking: Asking) -> list[str]:
    other = await asking.here.new()
    return [Asking(asking.here, other, asking.asked).answer(), asking.answer("reject_once")]


async def in_a_fork(asking: Asking) -> list[str]:
    fork = (await asking.here.sessions.fork(asking.session.id)).session
    return [Asking(asking.here, fork, asking.asked).answer(), asking.answer("reject_once")]


async def by_two_views_of_one_question(asking: Asking) -> list[str]:
    second = next(call for call in calls(asking.session) if call.id == asking.asked.id)
    return [asking.answer("reject_once"), Asking(asking.here, asking.session, second).answer()]


async def when_asked_anew(asking: Asking) -> list[str]:
    folder = asking.here.folder
    (folder / "sub").mkdir()
    (folder / "one.txt").symlink_to(folder / "sub/one.txt")
    taken = [asking.answer()]
    anew = await asking.here.asked_anew(asking.session, asking.asked)
    taken += [asking.answer(), asking.answer("allow_always")]
    return [*taken, Asking(asking.here, asking.session, anew).answer("reject_once")]


async def when_asked_anew_twice(asking: Asking) -> list[str]:
    folder = asking.here.folder
    (folder / "sub").mkdir()
    (folder / "one.txt").symlink_to(folder / "sub/one.txt")
    taken = [asking.answer()]
    anew = await asking.here.asked_anew(asking.session, asking.asked)
    (folder / "one.txt").unlink()
    taken.append(Asking(asking.here, asking.session, anew).answer())
    last = await asking.here.asked_anew(asking.session, anew)
    return [*taken, asking.answer(), Asking(asking.here, asking.session, last).answer("reject_once")]


NO = "no_such_permission"

Answering = Callable[[Asking], Awaitable[list[str]]]
STALE: list[tuple[Answering, list[str], bool]] = [
    (twice_the_same, ["ok", NO], True),
    (no_after_yes, ["ok", NO], True),
    (yes_after_no, ["ok", NO, NO], False),
    (always_after_no, ["ok", NO], False),
    (long_after, ["ok", NO, NO], True),
    (after_stop, [NO, NO], False),
    (to_no_question, [NO, NO, NO, "ok"], False),
    (to_another_call, [NO, NO, "ok"], False),
    (with_another_option, ["invalid", "invalid", "invalid", "invalid", "ok"], False),
    (in_another_session, [NO, "ok"], False),
    (in_a_fork, [NO, "ok"], False),
    (by_two_views_of_one_question, ["ok", NO], False),
    (when_asked_anew, ["ok", NO, NO, "ok"], False),
    (when_asked_anew_twice, ["ok", "ok", NO, "ok"], False),
]


@pytest.mark.parametrize(("answering", "taken", "written"), STALE, ids=lambda value: getattr(value, "__name__", ""))
async def test_an_answer_is_taken_once_and_for_its_question(folder: Path, answering: Answering, taken: list[str], written: bool) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(write("one.txt"), Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        assert await answering(Asking(here, session, await here.asked(session))) == taken
        await here.idle(session)
        assert files(folder) == (["one.txt", "tank.py"] if written else ["tank.py"])
        # what was refused or came late allows nothing later, either
        here.fake.enqueue(write("later.txt"), Say("Done."))
        await session.prompt("Write")
        later = await here.asked(session)
        session.answer_permission(later.id, "reject_once", permission_id=later.permission_id)
        await here.idle(session)


async def test_after_a_restart_nothing_waits(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(write("one.txt"), Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        asked = await here.asked(session)
        session_id = session.id
    async with stage(folder) as here:
        session = await here.sessions.open(session_id)
        assert [call.permission for call in calls(session)] == [()]
        assert Asking(here, session, asked).answer() == NO
        assert files(folder) == ["tank.py"]


@pytest.mark.parametrize("undone", [False, True])
async def test_a_question_after_a_compaction_is_another(tmp_path: Path, undone: bool) -> None:
    folder = make_project(tmp_path.resolve())
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue(write("one.txt"), Say("Done."))
        await session.prompt("Write")
        old = await here.asked(session)
        session.answer_permission(old.id, "reject_once", permission_id=old.permission_id)
        await here.idle(session)
        await fill(here, session, 2)
        await compact(here, session)
        if undone:
            await session.history.undo()
        here.fake.enqueue(write("one.txt", old.id), Say("Done."))
        await session.prompt("Write")
        new = await here.asked(session)
        assert new.id != old.id
        assert [Asking(here, session, old).answer(), Asking(here, session, old).answer(call=new.id)] == [NO, NO]
        session.answer_permission(new.id, "reject_once", permission_id=new.permission_id)
        await here.idle(session)
        assert not (folder / "one.txt").exists()
        assert here.refused() == []


SPOOFED = [
    ("bash", {"command": "ls\nrm -r x"}, "$ ls⏎rm -r x", "Run this command (2 lines, 10 characters)"),
    ("bash", {"command": "rm -r x\rls"}, "$ rm -r x\\rls", "Run `rm -r x\\rls`"),
    ("bash", {"command": "\x1b[2Kls"}, "$ \\x1b[2Kls", "Run `\\x1b[2Kls`"),
    ("bash", {"command": "echo \u202egnp.sj"}, "$ echo \\u202egnp.sj", "Run `echo \\u202egnp.sj`"),
    ("bash", {"command": "ls` which only lists `x"}, "$ ls` which only lists `x", "Run this command (23 characters)"),
    ("bash", {"command": "x" * 301}, f"$ {'x' * 200} …", "Run this command (301 characters)"),
    ("bash", {"command": "a\u2028b"}, "$ a\\u2028b", "Run `a\\u2028b`"),
    ("write_file", {"path": "a\u202egnp.js", "content": "x"}, "Write a\\u202egnp.js", "Create a\\u202egnp.js"),
    ("write_file", {"path": "a\nAllow once", "content": "x"}, "Write a⏎Allow once", "Create a⏎Allow once"),
    ("write_file", {"path": "a\u200b.txt", "content": "x"}, "Write a\\u200b.txt", "Create a\\u200b.txt"),
    ("write_file", {"path": "a\U000e0041.txt", "content": "x"}, "Write a\\U000e0041.txt", "Create a\\U000e0041.txt"),
    ("write_file", {"path": "a\ufe0f.txt", "content": "x"}, "Write a\\ufe0f.txt", "Create a\\ufe0f.txt"),
]


@pytest.mark.parametrize(("tool", "input", "title", "reason"), SPOOFED)
async def test_titles_and_questions_show_what_cannot_be_seen(
    folder: Path, tool: str, input: dict[str, str], title: str, reason: str
) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call(tool, input), Say("Done."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        assert (asked.title, asked.permission_reason.partition(", not sandboxed")[0]) == (title, reason)
        assert all(option.name.isprintable() for option in asked.permission)
        session.answer_permission(asked.id, "reject_once", permission_id=asked.permission_id)
        await here.idle(session)

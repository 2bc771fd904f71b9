"""Ask, Plan and Act: what is refused, what the model is told, and a plan from its proposal to the task list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, compact, fill, make_project
from tests.unit.session.harness import Stage, calls, kept_of, stage
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.updates import ModeChanged, ModeId
from ullage.session.turns.modes import MODES
from ullage.tools.tool import PlanEntry

PLAN = "# Read the tanks in parallel\n\nFaster by half.\n\n1. Split `read` in two\n2. Test it\n"
TOLD: dict[ModeId, str] = {mode.id: mode.told for mode in MODES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


WRITING = Call("write_file", {"path": "new.txt", "content": "new\n"})
READING = Call("read_file", {"path": "tank.py"})
RUNNING = Call("bash", {"command": "rm tank.py"})
LOOKING = Call("bash", {"command": "cat tank.py"})
PROPOSING = Call("propose_plan", {"plan": PLAN})


def results(here: Stage) -> list[tuple[str, bool]]:
    """What the model was given for each call in the last request, and whether as an error."""
    messages = here.fake.requests[-1].body["messages"]
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [(str(block["content"]), block.get("is_error", False)) for block in blocks if block["type"] == "tool_result"]


def told(here: Stage, request: int = -1) -> list[ModeId]:
    """The modes that a request tells the model of, in their order."""
    said = str(here.fake.requests[request].body["messages"])
    found: list[tuple[int, ModeId]] = sorted((said.find(words), mode) for mode, words in TOLD.items() if words in said)
    return [mode for _, mode in found]


@pytest.mark.parametrize(
    ("mode", "call", "runs"),
    [
        ("ask", READING, True),
        ("ask", WRITING, False),
        ("ask", RUNNING, False),
        ("ask", PROPOSING, False),
        ("plan", READING, True),
        ("plan", WRITING, False),
        ("plan", RUNNING, False),
    ],
)
async def test_what_a_mode_lets_run(folder: Path, mode: ModeId, call: Call, runs: bool) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([call], Say("Done."))
        session = await here.new()
        session.set_mode(mode)
        await here.say(session, "Go")
        content, failed = results(here)[0]
        assert failed is not runs, content
        assert runs or f"{mode.capitalize()} mode" in content
        assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["tank.py"]


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_a_command_that_only_reads_is_asked_for_as_ever(folder: Path, mode: ModeId) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([LOOKING], Say("Done."))
        session = await here.new()
        session.set_mode(mode)
        await session.prompt("Go")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert "CAPACITY" in results(here)[0][0]


async def test_what_is_always_allowed_is_refused_too(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([WRITING], Say("Done."), [Call("write_file", {"path": "other.txt", "content": "x\n"})], Say("No."))
        session = await here.new()
        await session.prompt("Go")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_always")
        await here.idle(session)
        session.set_mode("ask")
        await here.say(session, "Again")
        assert results(here)[-1][1]
        assert not (folder / "other.txt").exists()


async def test_the_model_is_told_once_and_again_after_a_compaction(folder: Path) -> None:
    make_project(folder)
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await here.say(session, "Hello")
        assert told(here) == []
        session.set_mode("ask")
        await here.say(session, "What is it?")
        await here.say(session, "And this?")
        assert told(here) == ["ask"]
        assert str(here.fake.requests[-1].body["messages"]).count(TOLD["ask"]) == 1
        await fill(here, session)
        await compact(here, session)
        await here.say(session, "Go on")
        assert told(here) == ["ask"]
        session.set_mode("act")
        await here.say(session, "Now do it")
        assert told(here)[-1] == "act"
        assert here.refused() == []


async def test_a_mode_that_was_chosen_and_taken_back_is_not_told(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.set_mode("plan")
        session.set_mode("act")
        await here.say(session, "Hello")
        assert told(here) == []
        changed = [update.mode for _, _, update in here.watcher.updates if isinstance(update, ModeChanged)]
        assert changed == ["plan", "act"]


async def test_the_mode_outlives_the_window(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        session.set_mode("ask")
        await here.say(session, "Hello")
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        assert session.snapshot().mode == "ask"
        await here.say(session, "Again")
        assert told(here) == ["ask"]
        assert str(here.fake.requests[-1].body["messages"]).count(TOLD["ask"]) == 1


async def proposed(here: Stage) -> tuple[Session, ToolCallItem]:
    here.fake.enqueue([PROPOSING])
    session = await here.new()
    session.set_mode("plan")
    await session.prompt("Plan it")
    return session, await here.asked(session)


async def test_a_plan_lies_open_and_is_carried_out_as_it_was_edited(folder: Path) -> None:
    async with stage(folder) as here:
        session, asked = await proposed(here)
        assert asked.document is not None
        document = Path(asked.document)
        assert document.read_text() == PLAN
        assert document.is_relative_to(kept_of(folder))
        assert document.stat().st_mode & 0o077 == 0
        here.editor.texts[document] = PLAN + "3. Write it *down*\n"
        here.fake.enqueue(Say("I begin."))
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        content, failed = results(here)[0]
        assert not failed
        assert "They changed it first." in content
        assert "3. Write it *down*" in content
        shown = session.snapshot()
        assert shown.mode == "act"
        assert shown.plan == tuple(PlanEntry(step, "pending") for step in ("Split `read` in two", "Test it", "Write it *down*"))
        assert asked.id in shown.pins.item_ids
        assert next(call for call in calls(session) if call.id == asked.id).document is None


async def test_a_plan_that_is_refused_comes_back_with_the_comments(folder: Path) -> None:
    async with stage(folder) as here:
        session, asked = await proposed(here)
        here.fake.enqueue(Say("I see."))
        session.answer_permission(asked.id, "reject_once", "Line 6: no, one by one")
        await here.idle(session)
        content, _ = results(here)[0]
        assert "does not accept this plan yet" in content
        assert "one by one" in content
        assert session.snapshot().mode == "plan"
        assert session.snapshot().plan == ()


@pytest.mark.parametrize(("text", "words"), [(" \n", "emptied"), ("x" * 30_000, "at most 20,000")])
async def test_a_plan_that_cannot_be_carried_out_says_why(folder: Path, text: str, words: str) -> None:
    async with stage(folder) as here:
        session, asked = await proposed(here)
        assert asked.document is not None
        Path(asked.document).write_text(text)
        here.fake.enqueue(Say("I see."))
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        content, failed = results(here)[0]
        assert failed
        assert words in content
        assert session.snapshot().mode == "plan"


async def test_an_accepted_plan_stays_in_view_through_a_compaction(folder: Path) -> None:
    make_project(folder)
    async with stage(folder, window=WINDOW) as here:
        session, asked = await proposed(here)
        here.fake.enqueue(Say("I begin."))
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        await fill(here, session)
        await compact(here, session)
        await here.say(session, "Go on")
        assert PLAN.strip() in "\n".join(content for content, _ in results(here))
        assert here.refused() == []


async def test_the_documents_of_plans_go_with_their_session(folder: Path) -> None:
    async with stage(folder) as here:
        session, asked = await proposed(here)
        here.fake.enqueue(Say("I see."))
        session.answer_permission(asked.id, "reject_once")
        await here.idle(session)
        await here.sessions.delete(session.id)
        assert asked.document is not None
        assert not Path(asked.document).exists()


async def test_a_slash_command_chooses_the_mode(folder: Path) -> None:
    from ullage.session.slash_commands import carry_out, typed_command

    async with stage(folder) as here:
        session = await here.new()
        typed = typed_command("/mode ask")
        assert typed is not None
        assert "Ask mode" in (await carry_out(typed, here.sessions, session)).text
        assert session.snapshot().mode == "ask"
        wrong = typed_command("/mode fly")
        assert wrong is not None
        with pytest.raises(SessionError, match="ask, plan, act"):
            await carry_out(wrong, here.sessions, session)

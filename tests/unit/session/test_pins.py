"""What is pinned stays, whenever it was pinned; what the user took out stays out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Reply, Say
from tests.unit.session.filling import SUMMARY, WINDOW, fill, make_project, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, calls, compactions, items, notices, stage
from ullage.context.blocks import Text, ToolResult
from ullage.context.counting.tokens import estimate_prelude
from ullage.context.entries import ToolReturned
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem

SECRET_PLAN = "The harbour master wants the gauge hidden behind panel seven."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def next_messages(here: Stage, session: Session) -> str:
    here.fake.enqueue(Say("Noted."))
    await here.say(session, "One more thing")
    return json.dumps(here.fake.requests[-1].body["messages"], ensure_ascii=False)


def words_of(output: str) -> str:
    return json.dumps(output, ensure_ascii=False)[1:-1]


async def test_what_is_pinned_while_the_summary_is_written_stays(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        held = Hang(Reply((Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ==="),)))
        here.fake.add_rules(when_asked_for_a_summary(held))
        session = await here.new()
        await fill(here, session, 3)
        session.compact()
        await here.fake.until_held()
        pinned = calls(session)[0]
        session.history.pin_item(pinned.id, pinned=True)
        here.fake.release()
        await here.idle(session)
        [made] = here.made(session)
        assert made.rung == "model"
        assert words_of(pinned.output) in await next_messages(here, session)
        assert not here.refused()


async def test_what_is_pinned_while_the_api_writes_its_summary_stays(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(summaries())
        here.fake.enqueue_summaries(Hang(Reply((Say(SUMMARY * 3),))))
        session = await here.new()
        await fill(here, session, 3)
        session.compact()
        await here.fake.until_held()
        pinned = calls(session)[0]
        session.history.pin_item(pinned.id, pinned=True)
        here.fake.release()
        await here.idle(session)
        [made] = here.made(session)
        assert made.rung == "model"
        assert words_of(pinned.output) in await next_messages(here, session)
        assert not here.refused()


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("engine", ["model", "digest"])
async def test_what_was_taken_out_no_summary_brings_back(folder: Path, pinned: bool, engine: str) -> None:
    async with stage(folder, window=WINDOW) as here:
        if engine == "model":
            here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue(Say("I see."))
        await here.say(session, SECRET_PLAN)
        await fill(here, session, 3)
        [gone, *_] = [item for item in items(session) if isinstance(item, UserItem)]
        session.history.pin_item(gone.id, pinned=pinned)
        taken_out = await session.history.exclude(gone.id)
        session.compact()
        await here.idle(session)
        assert len(here.made(session)) == 2
        assert "panel seven" not in await next_messages(here, session)
        await session.history.undo()
        assert "panel seven" not in await next_messages(here, session)
        await session.history.undo(taken_out)
        assert "panel seven" in await next_messages(here, session)
        assert not here.refused()


async def test_where_an_undo_has_to_clear_results_it_leaves_what_is_pinned(folder: Path) -> None:
    async with stage(folder, window=100_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for _ in range(9):  # every other result refers to the one before
            here.fake.enqueue([Call("read_file", {"path": "readings.csv"})], Say("Seen."))
            await here.say(session, "Look at the readings.")
        session.compact()
        await here.idle(session)
        pinned = calls(session)[0]
        session.history.pin_item(pinned.id, pinned=True)
        model = session._model  # noqa: SLF001
        model.card = replace(model.card, window=30_000)
        await session.history.undo(fit=True)
        [*_, made] = here.made(session)
        log = session._conversation.entries  # noqa: SLF001
        cleared = [logged.entry for logged in log if logged.seq in {each.seq for each in made.cleared}]
        assert cleared
        assert made.policy == "ullage"  # and not "user": nobody took these out
        assert all(isinstance(entry, ToolReturned) and entry.tool_use_id != pinned.id for entry in cleared)


async def test_where_most_is_pinned_it_is_not_compacted_at_every_call(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        gauge = session.snapshot().gauge
        while gauge.used < gauge.threshold:
            await fill(here, session, 1)
            session.history.pin_item(calls(session)[-1].id, pinned=True)
            gauge = session.snapshot().gauge
        before = len(here.made(session))
        for number in range(12):
            here.fake.enqueue(Say(f"Yes, {number}."))
            await here.say(session, f"Still there? {number}")
        pinned = [call.output for call in calls(session)]
        sent = await next_messages(here, session)
        assert all(words_of(output) in sent for output in pinned)
        assert len(here.made(session)) - before <= 1


async def test_where_instructions_and_tools_alone_are_over_the_line_it_says_so_and_asks_nothing(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Measure in millimetres. " * 2_000)
    async with stage(folder, window=20_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for _ in range(2):
            await here.say(session, "Hello")
        assert not here.made(session)
        assert not any("messages" in (record.body or {}) for record in here.fake.requests)
        assert "AGENTS.md" in notices(session)[-1].text


async def test_where_only_what_was_learned_shows_that_they_are_over_the_line_it_says_so_too(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("word word word word word. " * 960)
    async with stage(folder, window=20_000) as here:
        session = await here.new()
        prelude = session._conversation.projection.prelude  # noqa: SLF001
        assert prelude is not None
        assert estimate_prelude(prelude) < session.snapshot().gauge.threshold
        for _ in range(4):
            here.fake.enqueue(Say("Yes."))
            await here.say(session, "Hello")
        assert not here.made(session)
        assert "AGENTS.md" in notices(session)[-1].text


@pytest.mark.parametrize("policy", ["none", "three-layer", "aider"])
async def test_where_they_are_over_the_window_no_way_out_is_named_that_is_none(folder: Path, policy: str) -> None:
    (folder / "AGENTS.md").write_text("Measure in millimetres. " * 2_000)
    async with stage(folder, window=8_000, settings=Settings(policy_name=policy)) as here:
        session = await here.new()
        await here.say(session, "Hello")
        assert not any("messages" in (record.body or {}) for record in here.fake.requests)
        told = notices(session)[-1].text
        assert "AGENTS.md" in told
        assert "larger window" in told
        assert "Compaction: Auto" not in told


async def test_what_is_on_already_is_not_told_to_be_turned_on(folder: Path) -> None:
    async with stage(folder, window=8_000, settings=Settings(policy_name="three-layer")) as here:
        session = await here.new()
        for _ in range(3):
            await here.say(session, "word " * 2_500)
        told = notices(session)[-1].text
        assert "The context is full" in told
        assert "Compaction: Auto" not in told


async def test_a_file_is_pinned_whichever_way_it_is_named_and_only_what_was_said_can_be(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        session.history.pin_file(f"{folder.resolve()}/./tank.py", pinned=True)
        session.history.pin_file("./tank.py", pinned=True)
        assert session.snapshot().pins.paths == ("tank.py",)
        session.history.pin_file("tank.py", pinned=False)
        assert session.snapshot().pins.paths == ()
        session.compact()
        await here.idle(session)
        for refused in (
            lambda: session.history.pin_item(here.made(session)[0].id, pinned=True),
            lambda: session.history.pin_file("/etc/x", pinned=True),
        ):
            with pytest.raises(SessionError):
                refused()


def in_view(session: Session) -> str:
    messages = session._conversation.projection.complete_messages  # noqa: SLF001
    return json.dumps([str(block) for message in messages for block in message.blocks], ensure_ascii=False)


async def compacted_and_undone(here: Stage) -> Session:
    """A session that says the plan and reads a file first; its compaction is undone."""
    here.fake.add_rules(summaries())
    session = await here.new()
    here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("I see."))
    await here.say(session, SECRET_PLAN)
    await fill(here, session, 3)
    session.compact()
    await here.idle(session)
    await session.history.undo()
    return session


@pytest.mark.parametrize("how", ["prompt", "result", "file"])
async def test_what_was_pinned_while_a_compaction_was_undone_stays_when_it_is_redone(folder: Path, how: str) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await compacted_and_undone(here)
        undone = in_view(session)
        if how == "file":
            session.history.pin_file("tank.py", pinned=True)
        else:
            [said, *_] = [item for item in items(session) if isinstance(item, UserItem)]
            session.history.pin_item(said.id if how == "prompt" else calls(session)[0].id, pinned=True)
        redone = await session.history.redo()
        blocks = [block for message in session._conversation.projection.messages for block in message.blocks]  # noqa: SLF001
        assert any(
            block.text == SECRET_PLAN
            if how == "prompt" and isinstance(block, Text)
            else isinstance(block, ToolResult) and "CAPACITY" in block.content
            for block in blocks
        )
        assert in_view(session).count("round 0") < undone.count("round 0") + 2  # the rest is in the summary
        cards = {card.id: card for card in compactions(session)}
        assert cards[redone].status == "completed"
        assert session.snapshot().gauge.used < cards[redone].tokens_before
        assert await next_messages(here, session)
        assert not here.refused()
        await session.history.undo(redone)
        assert in_view(session).startswith(undone[:-1])


async def test_with_nothing_pinned_any_more_a_compaction_is_redone_as_it_was(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await compacted_and_undone(here)
        [made] = here.made(session)
        session.history.pin_file("tank.py", pinned=True)
        session.history.pin_file("tank.py", pinned=False)
        assert await session.history.redo() == made.id
        assert len(here.made(session)) == 1


async def test_what_the_api_wrote_is_not_redone_over_what_was_pinned_and_it_says_why(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await compacted_and_undone(here)
        assert here.made(session)[0].rung == "api"
        [said, *_] = [item for item in items(session) if isinstance(item, UserItem)]
        session.history.pin_item(said.id, pinned=True)
        before = in_view(session)
        with pytest.raises(SessionError, match="pinned"):
            await session.history.redo()
        assert in_view(session) == before

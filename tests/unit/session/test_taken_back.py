"""A compaction that came by itself and that the user undid: it is not made again before much more has come."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.filling import WINDOW, fill, is_near_the_threshold, make_project
from tests.unit.session.harness import Stage, compactions, items, notices, stage
from ullage.context.blocks import Text
from ullage.context.compaction.undoing import NewestUndone
from ullage.context.compaction_entries import Compaction, CompactionUndone, Summarised
from ullage.context.entries import AssistantReply, UserPrompt
from ullage.session.compacting import controller as controlling
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def chat(here: Stage, session: Session, words: int = 1) -> None:
    here.fake.enqueue(Say("I see."))
    await here.say(session, "word " * words)


async def compacted_at_the_line(here: Stage) -> Session:
    """A session that was compacted at its threshold, and went on for a turn."""
    session = await here.new()
    while not compactions(session):
        await fill(here, session, 1)
    await chat(here, session)
    return session


def state_of(session: Session) -> list[tuple[str, str]]:
    return [(card.trigger, card.status) for card in compactions(session)]


async def test_the_next_requests_are_as_if_it_had_never_been_made(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await compacted_at_the_line(here)
        await session.history.undo()
        gauge = session.snapshot().gauge
        assert gauge.used > gauge.threshold
        for _ in range(3):
            await chat(here, session)
            assert "round 0" in str(here.fake.requests[-1].body["messages"][0])
        assert state_of(session) == [("threshold", "undone")]
        assert not here.refused()


async def test_nor_is_it_made_again_because_the_user_goes_on_editing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controlling, "PAUSE_SECONDS", 0.0)
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await compacted_at_the_line(here)
        assert await session.history.undo()
        session.user_edits()
        await asyncio.sleep(0)
        await here.idle(session)
        assert not is_near_the_threshold(session)
        assert state_of(session) == [("threshold", "undone")]


async def test_after_a_quarter_of_the_line_it_comes_again(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await compacted_at_the_line(here)
        await session.history.undo()
        undone, line = session.snapshot().gauge.used, session.snapshot().gauge.threshold
        used = undone
        while len(compactions(session)) == 1:
            used = session.snapshot().gauge.used
            await chat(here, session, 900)
        assert state_of(session) == [("threshold", "undone"), ("threshold", "completed")]
        assert 0.15 * line < used - undone < 0.35 * line
        assert not here.refused()


async def test_in_a_full_window_it_comes_at_once(folder: Path) -> None:
    async with stage(folder, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        while not compactions(session):
            await chat(here, session, 30_000)
        await session.history.undo()
        await chat(here, session)
        gauge = session.snapshot().gauge
        assert gauge.threshold < gauge.used < 0.98 * gauge.size < gauge.used + 0.25 * gauge.threshold
        await chat(here, session, int(0.2 * gauge.threshold))
        assert state_of(session) == [("threshold", "undone"), ("threshold", "completed")]
        assert not here.refused()


async def test_what_was_cleared_so_that_the_undo_fits_is_no_compaction_that_the_user_wanted(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await compacted_at_the_line(here)
        model = session._model  # noqa: SLF001
        model.card = replace(model.card, window=30_000)
        await session.history.undo(fit=True)
        model.card = replace(model.card, window=WINDOW)
        here.sessions.configure(replace(here.settings, threshold_cap=10_000))
        for _ in range(2):
            await chat(here, session)
        assert [trigger for trigger, _ in state_of(session)] == ["threshold", "manual"]


async def test_a_message_that_was_taken_out_and_put_back_tells_nothing(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 3)
        said = next(item for item in items(session) if isinstance(item, UserItem))
        taken_out = await session.history.exclude(said.id)
        await session.history.undo(taken_out)
        await fill(here, session, 4)
        assert ("threshold", "completed") in state_of(session)


@pytest.mark.parametrize("how", ["undone", "excluded"])
async def test_where_the_prompt_that_follows_fills_the_window_it_is_compacted_and_not_refused(folder: Path, how: str) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        for _ in range(5):
            await chat(here, session, 3_000)
        if how == "undone":
            session.compact()
            await here.idle(session)
            await session.history.undo()
        else:
            await session.history.exclude(next(item.id for item in items(session) if isinstance(item, UserItem)))
        gauge = session.snapshot().gauge
        await chat(here, session, int(0.8 * (gauge.size - gauge.used)))
        assert [trigger for trigger, _ in state_of(session)] == ["manual", "threshold"]
        assert notices(session) == []
        assert not here.refused()


async def test_where_the_server_does_not_say_what_requests_take_it_comes_again_all_the_same(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        conversation = session._conversation  # noqa: SLF001
        taken_back = NewestUndone()
        made = Compaction("c", "threshold", "digest", 0, (), None, Summarised(0, "All of it", 1), (), "", "", "ullage", 9_000, 900)
        for entry in (UserPrompt("p", "Go"), AssistantReply("r", (Text("Yes."),), "local", "end_turn", None), made, CompactionUndone("c")):
            conversation.append(entry)
        assert taken_back.grown(conversation.entries, 50_000) == 0, "nothing was asked yet"
        conversation.append(AssistantReply("s", (Text("Yes."),), "local", "end_turn", None))
        assert taken_back.grown(conversation.entries, 10_000) == 0
        assert taken_back.grown(conversation.entries, 11_000) == 1_000


def waits(session: Session) -> int | None:
    """Tokens that have to come, as the gauge says; None where no undo is in the way."""
    gauge = session.snapshot().gauge
    return gauge.next.at - gauge.used if gauge.next.why == "undone" and gauge.next.at is not None else None


async def test_the_gauge_says_what_it_waits_for(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await compacted_at_the_line(here)
        assert waits(session) is None
        await session.history.undo()
        gauge = session.snapshot().gauge
        quarter = int(0.25 * gauge.threshold)
        assert gauge.used > gauge.threshold
        assert waits(session) == quarter
        await chat(here, session)
        assert waits(session) == pytest.approx(quarter, abs=0.01 * gauge.threshold)
        await chat(here, session, 300)
        gauge = session.snapshot().gauge
        left = waits(session)
        assert left is not None
        assert 0 < left < quarter
        await session.history.redo()
        assert waits(session) is None
        await session.history.undo()
        here.sessions.configure(replace(here.settings, auto_compact=False))
        assert waits(session) is None


async def test_where_the_wait_ends_below_the_line_the_gauge_says_nothing_of_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        await session.history.undo()
        gauge = session.snapshot().gauge
        assert gauge.used < 0.75 * gauge.threshold
        assert waits(session) is None

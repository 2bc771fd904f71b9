"""What the user takes out after a compaction: no record brings it back, in whatever order things happen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.filling import SUMMARY, WINDOW, compact, fill, in_view, make_project, sent, summaries
from tests.unit.session.harness import Stage, compactions, items, stage
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem

PLAN = "The harbour master wants the gauge hidden behind panel seven. Never tell the lock_keeper_of_the_weir."
OTHER = "The second plan: paint the old float chamber bright yellow."
DIGEST = Settings(summary_engine="digest")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def say(here: Stage, session: Session, text: str) -> UserItem:
    here.fake.enqueue(Say("I see."))
    await here.say(session, text)
    return [item for item in items(session) if isinstance(item, UserItem)][-1]


@pytest.mark.parametrize("settings", [Settings(), DIGEST], ids=["model", "digest"])
@pytest.mark.parametrize("covered", [False, True], ids=["in the tail", "covered"])
async def test_the_record_in_force_no_longer_tells_of_it_and_undo_gives_back_the_very_request(
    folder: Path, settings: Settings, covered: bool
) -> None:
    async with stage(folder, window=WINDOW, settings=settings) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        if not covered:
            await fill(here, session, 3)
        gone = await say(here, session, PLAN)
        if covered:
            await fill(here, session, 3)
        await compact(here, session)
        before = in_view(session)
        assert before.count("panel seven") == 1 if covered else before.count("panel seven") > 1
        taken_out = await session.history.exclude(gone.id)
        after = in_view(session)
        assert "panel seven" not in after
        assert "lock_keeper" not in after
        assert "Never change the file." in after  # what others said stays
        await session.history.undo(taken_out)
        assert in_view(session) == before
        await session.history.redo(taken_out)
        assert in_view(session) == after
        assert "panel seven" not in await sent(here, session)
    async with stage(folder, window=WINDOW, settings=settings) as here:  # the next life
        opened = await here.sessions.open(None)
        assert "panel seven" not in await sent(here, opened)


async def test_no_later_record_tells_of_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries(f"{SUMMARY}\n- {PLAN}\n- The stick is wet."))
        session = await here.new()
        gone = await say(here, session, PLAN)
        await fill(here, session, 3)
        await compact(here, session)
        await session.history.exclude(gone.id)
        assert "The stick is wet." in in_view(session)
        assert "panel seven" not in in_view(session)
        here.sessions.configure(replace(here.settings, summary_engine="digest"))
        await fill(here, session, 3)
        await compact(here, session)
        later = await sent(here, session)
        assert "The stick is wet." in later
        assert "panel seven" not in later


async def test_a_compaction_that_is_undone_or_redone_afterwards_leaves_it_out(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        gone = await say(here, session, PLAN)
        await fill(here, session, 3)
        first = await compact(here, session)
        await fill(here, session, 3)
        second = await compact(here, session)
        await session.history.exclude(gone.id)
        for change in (
            lambda: session.history.undo(second, fit=True),
            lambda: session.history.undo(first, fit=True),
            lambda: session.history.redo(second),
            lambda: session.history.redo(first),
        ):
            await change()
            assert "panel seven" not in in_view(session)


async def test_what_was_written_while_it_was_back_is_reworded_when_it_is_taken_out_again(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        gone = await say(here, session, PLAN)
        taken_out = await session.history.exclude(gone.id)
        await session.history.undo(taken_out)
        await fill(here, session, 3)
        await compact(here, session)
        assert "panel seven" in in_view(session)
        await session.history.redo(taken_out)
        assert "panel seven" not in in_view(session)


async def test_what_was_taken_out_while_a_compaction_was_undone_stays_out_when_it_is_made_again_around_a_pin(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        gone, kept = await say(here, session, PLAN), await say(here, session, OTHER)
        await fill(here, session, 3)
        made = await compact(here, session)
        await session.history.undo(made)
        await session.history.exclude(gone.id)
        session.history.pin_item(kept.id, pinned=True)
        assert await session.history.redo(made) != made
        assert "float chamber" in in_view(session)
        assert "panel seven" not in in_view(session)


async def test_of_two_that_are_taken_out_each_comes_back_alone(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        one, two = await say(here, session, PLAN), await say(here, session, OTHER)
        await fill(here, session, 3)
        await compact(here, session)
        before = in_view(session)
        first = await session.history.exclude(one.id)
        without_one = in_view(session)
        second = await session.history.exclude(two.id)
        assert "panel seven" not in in_view(session)
        assert "float chamber" not in in_view(session)
        await session.history.undo(first)
        assert "panel seven" in in_view(session)
        assert "float chamber" not in in_view(session)
        await session.history.undo(second)
        assert in_view(session) == before
        await session.history.redo(first)
        assert in_view(session) == without_one


async def test_what_is_pinned_and_carried_can_be_taken_out(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        gone = await say(here, session, PLAN)
        session.history.pin_item(gone.id, pinned=True)
        await fill(here, session, 3)
        await compact(here, session)
        await session.history.exclude(gone.id)
        assert "panel seven" not in in_view(session)
        with pytest.raises(SessionError):
            await session.history.exclude(gone.id)  # it is out already


async def test_what_the_api_wrote_cannot_be_changed_and_it_is_said_so(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        gone = await say(here, session, PLAN)
        await compact(here, session)
        assert here.made(session)[-1].rung == "api"
        assert in_view(session).count("panel seven") > 1  # the program summary beside the block
        await session.history.exclude(gone.id)
        assert "panel seven" not in in_view(session)
        [word] = compactions(session)[-1].skipped
        assert "in its own words" in word
        assert "panel seven" not in await sent(here, session)


async def test_what_the_api_quoted_is_in_no_record_that_takes_its_summary_up(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries([Say(f"{SUMMARY}\n- The user's last words were: {PLAN}\n- The stick is wet.")])
        session = await here.new()
        gone = await say(here, session, PLAN)
        await fill(here, session, 3)
        await compact(here, session)
        assert here.made(session)[-1].rung == "api"
        await session.history.exclude(gone.id)
        here.sessions.configure(replace(here.settings, summary_engine="digest"))
        await fill(here, session, 3)
        await compact(here, session)
        later = await sent(here, session)
        assert "The stick is wet." in later
        assert "panel seven" not in later


async def test_where_the_program_wrote_it_nothing_is_left_to_be_said(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        gone = await say(here, session, PLAN)
        await fill(here, session, 3)
        await compact(here, session)
        await session.history.exclude(gone.id)
        assert compactions(session)[-1].skipped == ()


@pytest.mark.parametrize("policy", ["codex", "claude-code", "opencode"])
async def test_what_another_policy_quoted_is_taken_out_of_its_text(folder: Path, policy: str) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(policy_name=policy, summary_engine="digest")) as here:
        session = await here.new()
        gone = await say(here, session, PLAN)
        await fill(here, session, 3)
        await compact(here, session)
        assert "panel seven" in in_view(session)
        taken_out = await session.history.exclude(gone.id)
        assert "panel seven" not in in_view(session)
        await session.history.undo(taken_out)
        assert "panel seven" in in_view(session)

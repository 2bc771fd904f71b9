"""Files that the user takes out: what the model sees then, what is read again, what is found, and how it comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import SUMMARY, WINDOW, compact, fill, in_view, make_project, sent, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, items, stage
from ullage.context.compaction_entries import Reworded
from ullage.session.attachments import FileRef
from ullage.session.errors import SessionError
from ullage.session.history.epochs import EpochInfo
from ullage.session.session import Session
from ullage.session.settings import Settings

NAME = "lockhouse.py"
TEXT = "KEEPER_OF_THE_WEIR = 'behind panel seven'\n"
DIGEST = Settings(summary_engine="digest")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_project(tmp_path)
    (made / NAME).write_text(TEXT)
    return made


async def read(here: Stage, session: Session) -> None:
    here.fake.enqueue([Call("read_file", {"path": NAME})], Say("I see."))
    await here.say(session, "Look at the lock house")


async def newest(session: Session) -> EpochInfo:
    found, _ = await session.history.epochs(None)
    return found[-1]


@pytest.mark.parametrize("named", [NAME, f"./{NAME}"])
async def test_the_model_no_longer_sees_it_and_undo_and_redo_give_the_very_requests(folder: Path, named: str) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await read(here, session)
        before = in_view(session)
        assert "panel seven" in before
        taken_out = await session.history.exclude_file(named)
        after = in_view(session)
        assert "panel seven" not in after
        [card] = compactions(session)
        assert (card.policy, card.excluded_files, card.cleared) == ("user", (NAME,), 1)
        made = (await newest(session)).compaction
        assert made is not None
        assert [file.path for file in made.without_files] == [NAME]
        await session.history.undo(taken_out)
        assert in_view(session) == before
        await session.history.redo(taken_out)
        assert in_view(session) == after
        assert "panel seven" not in await sent(here, session)
    async with stage(folder, window=WINDOW) as here:  # the next life
        assert "panel seven" not in await sent(here, await here.sessions.open(None))


@pytest.mark.parametrize("settings", [Settings(), DIGEST], ids=["model", "digest"])
async def test_no_record_tells_of_what_it_says_and_it_is_not_read_again(folder: Path, settings: Settings) -> None:
    async with stage(folder, window=WINDOW, settings=settings) as here:
        told = f"{SUMMARY}\n- {NAME} has {TEXT.strip()}.\n- The stick is wet."
        here.fake.add_rules(when_asked_for_a_summary(Say(f"=== RECORD ===\n{told}\n=== END OF RECORD ==="), 1), summaries())
        session = await here.new()
        await read(here, session)
        await fill(here, session, 3)
        first = await compact(here, session)
        assert NAME in [file.path for file in compactions(session)[-1].restored]
        before = in_view(session)
        assert "panel seven" in before
        taken_out = await session.history.exclude_file(NAME)
        after = in_view(session)
        assert "panel seven" not in after
        assert ("The stick is wet." in after) == (settings is not DIGEST)
        await fill(here, session, 2)
        await compact(here, session)
        assert NAME not in [file.path for file in compactions(session)[-1].restored]
        assert "panel seven" not in in_view(session)
        await session.history.undo()
        await session.history.undo(first, fit=True)
        assert "panel seven" not in in_view(session)
        await session.history.redo(first)
        assert "panel seven" not in await sent(here, session)
        await session.history.undo(taken_out)
        assert "panel seven" in in_view(session)


async def test_an_attached_file_goes_from_records_and_the_users_words_stay(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries(f"{SUMMARY}\n- The file says: {TEXT.strip()}"))
        session = await here.new()
        here.fake.enqueue(Say("I see."))
        await session.prompt("Paint the float chamber yellow", (FileRef(folder / NAME),))
        await here.idle(session)
        assert "panel seven" in in_view(session)
        await fill(here, session, 3)
        await compact(here, session)
        before = in_view(session)
        assert "panel seven" in before
        taken_out = await session.history.exclude_file(NAME)
        assert "panel seven" not in in_view(session)
        assert "float chamber" in in_view(session)
        log = session._conversation.entries  # noqa: SLF001
        [reworded] = [each.entry for each in log if isinstance(each.entry, Reworded)]
        assert (reworded.without, [file.path for file in reworded.without_files]) == ((), [NAME])
        await session.history.undo(taken_out)
        assert in_view(session) == before


async def test_the_agent_may_read_it_anew_and_a_pin_wants_it_back(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=DIGEST) as here:
        session = await here.new()
        await read(here, session)
        session.history.pin_file(NAME, pinned=True)
        await session.history.exclude_file(NAME)
        await fill(here, session, 3)
        await compact(here, session)
        assert "panel seven" not in in_view(session)  # exclusion wins over the pin
        session.history.pin_file(NAME, pinned=True)
        await fill(here, session, 3)
        await compact(here, session)
        assert "panel seven" in in_view(session)
        await session.history.exclude_file(NAME)
        assert "panel seven" not in in_view(session)
        await read(here, session)
        assert "panel seven" in await sent(here, session)


async def test_recall_does_not_give_it_back(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await read(here, session)
        here.fake.enqueue(Say("I see."))
        await session.prompt("Paint the float chamber", (FileRef(folder / NAME),))
        await here.idle(session)
        await session.history.exclude_file(NAME)
        for ask in ({"query": "KEEPER_OF_THE_WEIR"}, {"from": 1, "to": 20}):
            here.fake.enqueue([Call("recall", ask)], Say("So."))
            await here.say(session, "Recall it")
        assert "panel seven" not in in_view(session)
        here.fake.enqueue([Call("recall", {"from": 1, "to": 20})], Say("So."))
        await here.say(session, "Recall it")
        assert "float chamber" in in_view(session)


async def test_what_no_text_was_shown_of_cannot_be_taken_out(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await read(here, session)
        for path in ("tank.py", " ", "/etc/hostname"):
            with pytest.raises(SessionError):
                await session.history.exclude_file(path)
        await session.history.exclude_file(NAME)
        with pytest.raises(SessionError, match="no text of"):
            await session.history.exclude_file(NAME)
        assert len(items(session)) == 4

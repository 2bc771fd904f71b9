"""A disk that is full, or a state folder that cannot be written: nothing hangs, nothing is sent twice, and it goes on after it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Reply, Say
from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import Stage, calls, compactions, items, notices, stage
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Entry, Logged
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem, UserItem
from ullage.store.errors import StoreFailed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@contextmanager
def full_disk(here: Stage, *refused: str) -> Generator[None]:
    """SQLite refuses to write to those tables, as it does where the disk is full; to the log where none is named."""
    connection = here.sessions._kept.log._file.connection  # noqa: SLF001
    tables = refused or ("entry",)
    for table in tables:
        for action in ("INSERT", "UPDATE"):
            connection.execute(
                f"CREATE TEMP TRIGGER full_{table}_{action} BEFORE {action} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            )
    try:
        yield
    finally:
        for table in tables:
            for action in ("INSERT", "UPDATE"):
                connection.execute(f"DROP TRIGGER full_{table}_{action}")


async def test_a_prompt_that_cannot_be_kept_is_refused_and_not_half_there(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        with full_disk(here, "queued_prompt"), pytest.raises(StoreFailed):
            await session.prompt("Hello")
        assert items(session) == ()
        await here.say(session, "Hello")
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["Hello"]


async def test_a_prompt_is_answered_though_its_title_cannot_be_kept(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Here."))
        session = await here.new()
        with full_disk(here, "session"):
            await session.prompt("Hello")
        await here.idle(session)
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["Hello"]


async def test_a_turn_that_cannot_be_logged_ends_with_a_word_and_leaves_nothing_open(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("bash", {"command": "echo one"}), Say("Back."))
        session = await here.new()
        await session.prompt("Echo")
        asked = await here.asked(session)
        with full_disk(here):
            session.answer_permission(asked.id, "allow_once")
            await here.idle(session)
        [call] = calls(session)
        assert (call.status, call.permission) == ("cancelled", ())
        assert "disk is full" in notices(session)[-1].text
        await here.say(session, "And now?")
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Back."


async def test_a_reply_that_cannot_be_logged_leaves_no_call_pending(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("I look."), Call("read_file", {"path": "tank.py"})))), Say("Back."))
        session = await here.new()
        await session.prompt("Read")
        await here.fake.until_held()
        with full_disk(here):
            here.fake.release()
            await here.idle(session)
        assert [call.status for call in calls(session)] == ["cancelled"]
        await here.say(session, "And now?")
        assert notices(session)[-1].level == "error"


async def test_a_compaction_whose_new_rules_cannot_be_logged_is_still_one(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        (folder / "AGENTS.md").write_text("Use metres.\n")
        connection = here.sessions._kept.log._file.connection  # noqa: SLF001
        connection.execute(
            'CREATE TEMP TRIGGER no_prelude BEFORE INSERT ON entry WHEN NEW.body LIKE \'%"kind":"prelude"%\' '
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
        session.compact()
        await here.idle(session)
        assert [card.status for card in compactions(session)] == ["completed"]


async def test_a_session_that_cannot_be_mended_is_refused_with_the_reason(folder: Path) -> None:
    async with stage(folder) as here:
        for table in ("session", "entry"):
            with full_disk(here, table), pytest.raises(SessionError) as refused:
                await here.new()
            assert refused.value.reason == "store_failed"
            assert "disk is full" in str(refused.value)


async def test_an_undo_that_is_logged_is_made_though_what_makes_it_fit_cannot_be_logged_yet(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(folder, window=100_000, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 5)
        session.compact()
        await here.idle(session)
        conversation, model = session._conversation, session._model  # noqa: SLF001
        model.card = replace(model.card, window=20_000)
        written = conversation._log.append  # noqa: SLF001

        def only_the_undo(session_id: str, entry: Entry, at: float) -> Logged:
            if isinstance(entry, Compaction):
                raise StoreFailed("The disk is full")
            return written(session_id, entry, at)

        with monkeypatch.context() as full:
            full.setattr(conversation._log, "append", only_the_undo)  # noqa: SLF001
            await session.history.undo(fit=True)
        assert [(card.trigger, card.status) for card in compactions(session)] == [("manual", "undone")]
        prompt = next(item for item in items(session) if isinstance(item, UserItem))
        session.history.pin_item(prompt.id, pinned=True)
        assert [(card.rung, card.status) for card in compactions(session)] == [("digest", "undone"), ("moves", "completed")]
        assert session.snapshot().gauge.used <= 20_000


async def test_a_result_that_cannot_be_written_to_its_file_reaches_the_model(folder: Path) -> None:
    (folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(20_000)))
    async with stage(folder) as here:
        results = here.sessions._kept.results._folder  # noqa: SLF001
        assert results is not None
        results.write_text("a file in the way")
        here.fake.enqueue(Call("bash", {"command": "cat long.txt"}), Say("Seen."))
        session = await here.new()
        await session.prompt("Look")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Seen."
        [call] = calls(session)
        assert call.status == "completed"
        told = str(here.fake.requests[-1].body["messages"][-1])
        assert "line 1" in told
        assert "is in no file, since it could not be written" in told

"""What the agent changed is told, kept and undone; what the user typed is never lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.changes.changing import allow_all, run
from tests.unit.session.changes.test_recorded_commands import says
from tests.unit.session.harness import Stage, stage
from ullage.context.change_entries import FilesChanged, Reviewed
from ullage.session.changes import deciding, looking, reviewing
from ullage.session.changes.shown import DecidedFile, OpenChanges, ShownFile
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.timeline.items import UserItem
from ullage.session.timeline.updates import ChangesChanged

BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\n"
AFTER = "one\n2\nthree\nfour\nfive\nsix\nseven\n"


@asynccontextmanager
async def at_work(folder: Path, *files: tuple[str, bytes]) -> AsyncGenerator[tuple[Stage, Session]]:
    for name, data in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    async with stage(folder) as here:
        yield here, await here.new()


async def edit(here: Stage, session: Session, *changes: tuple[str, str], prompt: str = "Do it") -> str:
    """The agent writes these texts into the files, in one turn; gives the id of its prompt."""
    for path, text in changes:
        looks = [Call("read_file", {"path": path})] if (here.folder / path).exists() else []
        here.fake.enqueue(*looks, Call("write_file", {"path": path, "content": text}))
    here.fake.enqueue(Say("Done."))
    turn_id = await session.prompt(prompt)
    asked = None
    for _ in changes:
        asked = await (here.asked(session) if asked is None else here.asked_anew(session, asked))
        session.answer_permission(asked.id, "allow_once")
    await here.idle(session)
    return turn_id


async def only(session: Session) -> ShownFile:
    [file] = await session.reviewing.open_files()
    return file


def told(here: Stage) -> list[OpenChanges]:
    return [update.changes for _, _, update in here.watcher.updates if isinstance(update, ChangesChanged)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


async def test_what_the_agent_changed_is_told_and_undone_as_a_whole(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER), ("new/b.py", "b\n"))
        await here.watcher.until(lambda: any(each.count == 2 for each in told(here)))
        shown = session.snapshot().changes
        assert [(file.path, file.status, file.added, file.removed) for file in shown.files] == [
            ("a.py", "modified", 2, 1),
            ("new/b.py", "created", 1, 0),
        ]
        assert (shown.count, shown.added, shown.removed) == (2, 3, 1)
        assert await session.reviewing.undo() == [DecidedFile("a.py", "done"), DecidedFile("new/b.py", "done")]
        assert (folder / "a.py").read_text() == BEFORE
        assert not (folder / "new/b.py").exists()
        await here.watcher.until(lambda: told(here)[-1].count == 0)
        assert await session.reviewing.open_files() == []


async def test_one_hunk_is_undone_and_the_other_kept(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        first, second = (await only(session)).hunks
        assert (first.old_start, first.old_lines, first.new_start, first.new_lines) == (2, 1, 2, 1)
        assert (second.old_start, second.old_lines, second.new_start, second.new_lines) == (7, 0, 7, 1)
        assert await session.reviewing.undo("a.py", first.id) == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_text() == BEFORE + "seven\n"
        assert await session.reviewing.keep("a.py", second.id) == [DecidedFile("a.py", "done")]
        assert await session.reviewing.open_files() == []
        assert (folder / "a.py").read_text() == BEFORE + "seven\n"
        entries = [logged.entry for logged in session.entries if isinstance(logged.entry, FilesChanged | Reviewed)]
        assert [type(entry).__name__ for entry in entries] == ["FilesChanged", "Reviewed", "Reviewed"]


async def test_the_users_own_edits_stay_and_are_shown_on_both_sides(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        mine = "zero\n" + AFTER.replace("four", "4")
        (folder / "a.py").write_text(mine)
        assert await session.reviewing.version_text("a.py") == "zero\n" + BEFORE.replace("four", "4")
        assert await session.reviewing.undo("a.py") == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_text() == "zero\n" + BEFORE.replace("four", "4")


async def test_a_hunk_in_which_the_user_typed_is_not_undone(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        (folder / "a.py").write_text(AFTER.replace("2\n", "2 and a half\n"))
        first, _ = (await only(session)).hunks
        assert first.edited
        assert await session.reviewing.undo("a.py", first.id) == [DecidedFile("a.py", "conflict", deciding.EDITED)]
        assert await session.reviewing.undo("a.py") == [DecidedFile("a.py", "done", deciding.SOME_EDITED)]
        assert (folder / "a.py").read_text() == BEFORE.replace("two", "2 and a half")
        assert [hunk.edited for hunk in (await only(session)).hunks] == [True]
        assert await session.reviewing.keep() == [DecidedFile("a.py", "done")]
        assert await session.reviewing.open_files() == []


async def test_an_open_document_is_changed_in_the_editor(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        here.editor.texts[folder / "a.py"] = AFTER + "unsaved\n"
        assert await session.reviewing.undo("a.py") == [DecidedFile("a.py", "done")]
        assert here.editor.texts[folder / "a.py"] == BEFORE + "unsaved\n"
        assert (folder / "a.py").read_text() == AFTER, "what was not saved before is left to the user to save"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", "one\n2\n"),
        (b"\xef\xbb\xbfone\ntwo\n", "one\n2\n"),
        (b"one\ntwo", "one\n2\nthree\n"),
        (b"", "one\n"),
        (b"caf\xe9\ntwo\n", "caf\u00e9\n2\n"),
        ("one\ntwo\n".encode("utf-16"), "one\n2\n"),
    ],
    ids=["crlf", "bom", "no end", "empty", "latin-1", "utf-16"],
)
async def test_every_byte_comes_back(folder: Path, before: bytes, after: str) -> None:
    async with at_work(folder, ("a.py", before)) as (here, session):
        await edit(here, session, ("a.py", after))
        assert (folder / "a.py").read_bytes() != before
        for hunk in (await only(session)).hunks:
            assert await session.reviewing.undo("a.py", hunk.id) == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_bytes() == before


async def test_a_file_that_was_deleted_meanwhile_is_said_to_be_gone(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER), ("new.py", "new\n"))
        (folder / "a.py").rename(folder / "b.py")
        (folder / "new.py").unlink()
        file = await only(session)
        assert (file.path, file.note) == ("a.py", looking.MOVED)
        assert await session.reviewing.undo("a.py") == [DecidedFile("a.py", "conflict", looking.MOVED)]
        assert (folder / "b.py").read_text() == AFTER
        assert await session.reviewing.keep("a.py") == [DecidedFile("a.py", "done")]


async def test_a_file_that_was_reformatted_meanwhile_is_the_users(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        text = AFTER.replace("\n", " \n")
        (folder / "a.py").write_text(text)
        assert await session.reviewing.undo() == [DecidedFile("a.py", "conflict", deciding.EDITED)]
        assert (folder / "a.py").read_text() == text


async def test_a_read_only_file_is_left_alone(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        (folder / "a.py").chmod(0o444)
        [decided] = await session.reviewing.undo()
        assert (decided.outcome, decided.why) == ("conflict", "It cannot be written: The file is read-only")
        assert (folder / "a.py").read_text() == AFTER
        assert (await only(session)).hunks


async def test_what_became_binary_or_too_large_is_kept_or_left(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        (folder / "a.py").write_bytes(b"\0binary")
        assert ((await only(session)).note, (await only(session)).binary) == (looking.BINARY_CHANGED, True)
        assert (await session.reviewing.undo())[0].why == looking.BINARY_CHANGED
        with (folder / "a.py").open("wb") as file:
            file.truncate(50_000_000)
        assert (await only(session)).note == looking.TOO_LARGE
        assert (await session.reviewing.undo())[0].why == looking.TOO_LARGE
        assert (folder / "a.py").stat().st_size == 50_000_000


async def test_a_link_that_leads_out_is_not_followed(folder: Path, tmp_path: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        (tmp_path / "outside.py").write_text(AFTER)
        (folder / "a.py").unlink()
        (folder / "a.py").symlink_to(tmp_path / "outside.py")
        assert (await session.reviewing.undo())[0].why == looking.OUTSIDE
        assert (tmp_path / "outside.py").read_text() == AFTER


async def test_two_sessions_on_one_file(folder: Path) -> None:
    """What the other session changed is like an edit of the user."""
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        other = await here.new()
        await edit(here, other, ("a.py", AFTER.replace("four", "4")))
        assert [hunk.edited for hunk in (await only(session)).hunks] == [False, False]
        assert [(hunk.new_start, hunk.new_lines) for hunk in (await only(other)).hunks] == [(4, 1)]
        assert await session.reviewing.undo() == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_text() == BEFORE.replace("four", "4")
        assert await other.reviewing.undo() == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_text() == BEFORE


async def test_of_two_turns_one_is_undone(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        first = await edit(here, session, ("a.py", AFTER), prompt="First")
        second = await edit(here, session, ("a.py", AFTER.replace("four", "4")), prompt="Second")
        turns = await session.reviewing.turns()
        assert [(turn.turn_id, turn.title) for turn in turns] == [(first, "First"), (second, "Second")]
        assert [(file.path, file.added, file.removed) for file in turns[0].files] == [("a.py", 2, 1)]
        assert await session.reviewing.version_text("a.py", second) == AFTER
        assert await session.reviewing.undo(turn_id=first) == [DecidedFile("a.py", "done")]
        assert (folder / "a.py").read_text() == BEFORE.replace("four", "4")
        assert [(hunk.new_start, hunk.new_lines) for hunk in (await only(session)).hunks] == [(4, 1)]
        assert await session.reviewing.keep(turn_id=second) == [DecidedFile("a.py", "done")]
        assert await session.reviewing.open_files() == []


def open_turns(session: Session) -> list[tuple[str, int]]:
    return [(turn.title, turn.files) for turn in session.snapshot().changes.turns]


async def test_it_is_told_which_turns_have_open_changes(folder: Path) -> None:
    """Through the user's edits, a compaction, a fork and a restart."""
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        first = await edit(here, session, ("a.py", AFTER), ("b.py", "b\n"), prompt="First")
        mine = "zero\n" + AFTER
        (folder / "a.py").write_text(mine)
        second = await edit(here, session, ("a.py", mine.replace("four", "4")), prompt="Second")
        await here.watcher.until(lambda: open_turns(session) == [("First", 2), ("Second", 1)])
        session.compact()
        await here.idle(session)
        fork = (await here.sessions.fork(session.id)).session
        await here.watcher.until(lambda: open_turns(fork) == [("First", 2), ("Second", 1)])
        assert await session.reviewing.keep(turn_id=second) == [DecidedFile("a.py", "done")]
        await here.watcher.until(lambda: open_turns(session) == [("First", 2)])
        assert await session.reviewing.keep("b.py") == [DecidedFile("b.py", "done")]
        await here.watcher.until(lambda: open_turns(session) == [("First", 1)])
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        await here.watcher.until(lambda: open_turns(session) == [("First", 1)])
        assert {each.outcome for each in await session.reviewing.undo(turn_id=first)} == {"done"}
        assert (folder / "a.py").read_text() == "zero\n" + BEFORE.replace("four", "4")
        await here.watcher.until(lambda: open_turns(session) == [])


async def test_a_turn_that_was_gone_back_over_is_open_again_with_the_way_forward(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER), prompt="First")
        second = await edit(here, session, ("a.py", AFTER.replace("four", "4")), ("b.py", "b\n"), prompt="Second")
        await session.restore(second)
        await here.watcher.until(lambda: open_turns(session) == [("First", 1)])
        [forward] = [each for each in await session.going_back.checkpoints() if each.forward]
        await session.restore(forward.id)
        await here.watcher.until(lambda: open_turns(session) == [("First", 1), ("Second", 2)])


async def test_after_a_restart_the_same_is_open(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        first, _ = (await only(session)).hunks
        await session.reviewing.keep("a.py", first.id)
        before = await only(session)
        session_id = session.id
    async with stage(folder) as here:
        session = await here.sessions.open(session_id)
        assert await only(session) == before
        await here.watcher.until(lambda: session.snapshot().changes.count == 1)


async def test_the_model_is_told_of_an_undo_with_the_next_turn(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        await session.reviewing.undo()
        here.fake.enqueue(Say("I see."))
        await here.say(session, "Go on")
        assert "a.py" in str(here.fake.requests[-1].body["messages"][-1]["content"])
        assert here.refused() == []


async def test_what_is_undone_while_a_command_runs_is_not_the_commands_change(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        here.fake.enqueue(run("echo x > new.py; echo began; until [ -e go ]; do sleep 0.01; done; rm go"), Say("Done."))
        await session.prompt("Run it")
        turn_ends = asyncio.ensure_future(allow_all(here, session))
        await here.watcher.until(lambda: says(session, "began"))
        assert await session.reviewing.undo("a.py") == [DecidedFile("a.py", "done")]
        (folder / "go").touch()
        await turn_ends
        assert [file.path for file in await session.reviewing.open_files()] == ["new.py"]


async def test_a_file_that_an_editor_still_shows_is_known_to_be_gone(folder: Path) -> None:
    async with at_work(folder) as (here, session):
        await edit(here, session, ("new.py", "new\n"))
        here.editor.texts[folder / "new.py"] = "new\n"
        assert await session.reviewing.undo() == [DecidedFile("new.py", "done")]
        assert not (folder / "new.py").exists()
        [changed] = [logged.entry for logged in session.entries if isinstance(logged.entry, FilesChanged)][-1].files
        assert changed.after is None


async def test_what_is_asked_wrongly_is_refused(folder: Path) -> None:
    async with at_work(folder, ("a.py", BEFORE.encode())) as (here, session):
        await edit(here, session, ("a.py", AFTER))
        for wrong in (("b.py",), (None, "h1"), (None, None, "p1")):
            with pytest.raises(SessionError):
                await session.reviewing.undo(*wrong)
        assert await session.reviewing.undo("a.py", "gone") == [DecidedFile("a.py", "conflict", reviewing.NO_SUCH_HUNK)]
        assert await session.reviewing.undo(str(folder / "a.py")) == [DecidedFile("a.py", "done")], "as an editor names it"
        assert any(isinstance(item, UserItem) for item in session.snapshot().items)

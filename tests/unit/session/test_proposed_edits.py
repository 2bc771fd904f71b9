"""An edit that the user changes before they accept it: that is written, the model is told, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import OpenEditor, Stage, calls, stage
from ullage.session.session import Session
from ullage.session.timeline.items import ToolCallItem
from ullage.session.turns.approvals import CHANGED_YOURS

READ = Call("read_file", {"path": "notes.txt"})
EDIT = Call("edit_file", {"path": "notes.txt", "old_text": "two", "new_text": "2"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    return made


async def proposal(here: Stage, session: Session, call: Call = EDIT) -> tuple[ToolCallItem, Path]:
    """Has the model propose it; gives the question and the document."""
    here.fake.enqueue(READ, call, Say("Done."))
    await session.prompt("Go")
    asked = await here.asked(session)
    assert asked.asked is not None
    assert asked.asked.proposed is not None
    return asked, Path(asked.asked.proposed.document)


def told(here: Stage) -> str:
    return here.fake.requests[-1].body["messages"][-1]["content"][-1]["content"]


@pytest.mark.parametrize(
    ("before", "proposed", "made", "after"),
    [
        (b"one\ntwo\n", "one\n2\n", "zero\n2\n", b"zero\n2\n"),
        (b"one\r\ntwo\r\n", "one\n2\n", "zero\n2\n", b"zero\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "one\n2\n", "zero\r\n2\r\n", b"zero\r\n2\r\n"),
        (b"\xef\xbb\xbfone\ntwo", "one\n2", "zero\n2", b"\xef\xbb\xbfzero\n2"),
        (b"\xef\xbb\xbfone\ntwo", "one\n2", "\ufeffzero\n2\n", b"\xef\xbb\xbfzero\n2\n"),
        (b"one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n", "one\n2\nthree\nfour\n", b"one\r\n2\nthree\r\nfour\n"),
        ("größe\ntwo\n".encode("utf-16"), "größe\n2\n", "größer\n2\n", "größer\n2\n".encode("utf-16")),
    ],
)
async def test_what_the_user_left_is_written(folder: Path, before: bytes, proposed: str, made: str, after: bytes) -> None:
    (folder / "notes.txt").write_bytes(before)
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        assert document.read_bytes().decode() == proposed
        assert not document.is_relative_to(folder)
        document.write_bytes(made.encode())
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_bytes() == after
        assert "The user changed your proposal" in told(here)
        assert "```diff" in told(here)
        assert not document.exists()


@pytest.mark.parametrize("shown", ["one\n2\n", "one\r\n2\r\n", "\ufeffone\n2\n"])
async def test_what_an_editor_does_to_line_ends_is_no_change_of_the_user(folder: Path, shown: str) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        here.editor.texts[document] = shown
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_text() == "one\n2\n"
        assert "changed" not in told(here)


async def test_unsaved_text_counts_and_a_closed_document_as_it_was_saved(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    async with stage(folder, editor=OpenEditor()) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        document.write_text("saved\n")
        here.editor.texts[document] = "unsaved\n"
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_text() == "unsaved\n"


@pytest.mark.parametrize(("made", "said"), [("", "emptied"), (" \n", "emptied"), ("one\ntwo\n", "took your whole change back")])
async def test_nothing_is_written_where_nothing_is_left(folder: Path, made: str, said: str) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        document.write_text(made)
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_text() == "one\ntwo\n"
        assert said in told(here)


async def test_the_file_changed_meanwhile_and_the_text_of_the_user_is_kept_and_told(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        document.write_text("mine\n2\n")
        (folder / "notes.txt").write_text("one\ntwo\nthree\n")
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_text() == "one\ntwo\nthree\n"
        assert document.read_text() == "mine\n2\n"
        assert "+mine" in told(here)
        assert str(document) in told(here)


async def test_a_new_file_that_came_meanwhile_is_not_overwritten(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session, Call("write_file", {"path": "new.txt", "content": "theirs\n"}))
        document.write_text("mine\n")
        (folder / "new.txt").write_text("somebody\n")
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "new.txt").read_text() == "somebody\n"
        assert document.read_text() == "mine\n"


async def test_a_new_file_is_made_as_the_user_left_it(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session, Call("write_file", {"path": "new.txt", "content": "theirs\n"}))
        assert asked.asked is not None
        assert asked.asked.proposed is not None
        assert asked.asked.proposed.is_new
        document.write_text("mine\n")
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "new.txt").read_text() == "mine\n"
        assert calls(session)[-1].diff is not None


async def test_a_refused_or_stopped_proposal_keeps_what_the_user_wrote(folder: Path) -> None:
    (folder / "notes.txt").write_text("one\ntwo\n")
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        document.write_text("mine\n")
        session.cancel()
        await here.idle(session)
        assert document.read_text() == "mine\n"
        await here.say(session, "What the model had still to say")
        here.fake.enqueue(EDIT, Say("Done."))
        await session.prompt("Again")
        asked = await here.asked(session)
        assert asked.asked is not None
        assert asked.asked.proposed is not None
        untouched = Path(asked.asked.proposed.document)
        session.answer_permission(asked.id, "reject_once", "no")
        await here.idle(session)
        assert not untouched.exists()
        assert (folder / "notes.txt").read_text() == "one\ntwo\n"


async def test_text_that_the_file_cannot_hold_is_kept(folder: Path) -> None:
    (folder / "notes.txt").write_bytes("größe\ntwo\n".encode("latin-1"))
    async with stage(folder) as here:
        session = await here.new()
        asked, document = await proposal(here, session)
        document.write_text("größe → 2\n", encoding="utf-8")
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "notes.txt").read_bytes() == "größe\ntwo\n".encode("latin-1")
        assert document.exists()
        assert str(document) in told(here)


async def test_a_name_that_leads_to_another_file_meanwhile_is_asked_about_again(folder: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("one\ntwo\n")
    (folder / "notes.txt").symlink_to(folder / "a.txt")
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Call("read_file", {"path": "b.txt"}), Say("Read."))
        await here.say(session, "Read it")
        asked, document = await proposal(here, session)
        document.write_text("mine\n")
        (folder / "notes.txt").unlink()
        (folder / "notes.txt").symlink_to(folder / "b.txt")
        session.answer_permission(asked.id, "allow_once")
        again = await here.asked_anew(session, asked)
        assert again.permission_reason.startswith(CHANGED_YOURS.strip())
        assert (folder / "b.txt").read_text() == "one\ntwo\n"
        session.answer_permission(again.id, "allow_once")
        await here.idle(session)
        assert [(folder / name).read_text() for name in ("a.txt", "b.txt")] == ["one\ntwo\n", "mine\n"]

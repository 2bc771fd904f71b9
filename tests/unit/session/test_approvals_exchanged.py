"""What was allowed is what is done, whatever somebody does to the workspace while the user is asked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from tests.deep import sampled
from tests.fake_api import Call, Say
from tests.unit.session.exchanges import BEFORE, EXCHANGES, Exchange
from tests.unit.session.harness import OpenEditor, calls, stage
from ullage.context.blocks import Json
from ullage.session.session import Session

EDIT: Mapping[str, Json] = {"path": "src/deep/a.py", "old_text": "100", "new_text": "200"}
WRITE: Mapping[str, Json] = {"path": "src/deep/a.py", "content": "CAPACITY = 200\n"}
NEW: Mapping[str, Json] = {"path": "src/deep/new.py", "content": "CAPACITY = 200\n"}

CALLS: Mapping[str, tuple[str, Mapping[str, Json]]] = {
    "edit": ("edit_file", EDIT),
    "write": ("write_file", WRITE),
    "new": ("write_file", NEW),
}

WRITTEN = "CAPACITY = 200\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    (made / "src/deep").mkdir(parents=True)
    (made / "src/deep/a.py").write_text(BEFORE)
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "outside"
    made.mkdir()
    return made


def written(*folders: Path) -> list[str]:
    """The files that hold what the call was to write, links not followed."""
    return [
        str(path)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.read_bytes() == WRITTEN.encode()
    ]


How = Literal["edit", "write", "new"]
HOWS: list[How] = ["edit", "write", "new"]


def is_kept(row: tuple[Exchange, How]) -> bool:
    """Each exchange with one way of writing, and with what comes of another way where that is something else."""
    exchange, how = row
    turned = HOWS[EXCHANGES.index(exchange) % len(HOWS) :] + HOWS[: EXCHANGES.index(exchange) % len(HOWS)]
    first = {getattr(exchange, each): each for each in reversed(turned)}
    return how in first.values()


@sampled(("exchange", "how"), product(EXCHANGES, HOWS), keep=is_kept, ids=lambda each: each.name if isinstance(each, Exchange) else each)
async def test_an_approval_holds_for_what_was_shown(folder: Path, outside: Path, exchange: Exchange, how: How) -> None:
    name, input = CALLS[how]
    expected = {"edit": exchange.edit, "write": exchange.write, "new": exchange.new}[how]
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "src/deep/a.py"}), Call(name, input), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        exchange.do(folder, outside)
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.watcher.until(lambda: not session.busy or waits_for_another(asked.permission_id, session))
        if expected == "asked anew":
            [anew] = [call for call in calls(session) if call.status == "awaiting_permission"]
            assert anew.permission_reason.startswith("It has changed")
            assert written(folder, outside) == []
            session.answer_permission(anew.id, "reject_once", permission_id=anew.permission_id)
        await here.idle(session)
        call = calls(session)[-1]
        assert call.status == ("completed" if expected == "done" else "failed"), call.output
        place = "new.py" if how == "new" else "a.py"
        assert written(folder, outside) == ([str(folder / "src/deep" / place)] if expected == "done" else [])


def waits_for_another(permission_id: str, session: Session) -> bool:
    return any(call.status == "awaiting_permission" and call.permission_id != permission_id for call in calls(session))


async def test_the_card_shows_every_place_that_is_changed(folder: Path) -> None:
    (folder / "src/deep/a.py").write_text("a = 1\nb = 2\n" * 3)
    async with stage(folder) as here:
        edit = {"path": "src/deep/a.py", "old_text": "1", "new_text": "7", "replace_all": True}
        here.fake.enqueue(Call("read_file", {"path": "src/deep/a.py"}), Call("edit_file", edit), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 7")
        asked = await here.asked(session)
        assert asked.diff is not None
        assert (asked.diff.old_text, asked.diff.new_text) == ("a = 1\nb = 2\n" * 3, "a = 7\nb = 2\n" * 3)
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert (folder / "src/deep/a.py").read_text() == asked.diff.new_text


async def test_the_card_of_a_whole_text_shows_what_it_replaces(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("read_file", {"path": "src/deep/a.py"}), Call("write_file", WRITE), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        assert asked.diff is not None
        assert (asked.diff.path, asked.diff.old_text, asked.diff.new_text) == ("src/deep/a.py", BEFORE, WRITTEN)
        session.answer_permission(asked.id, "reject_once")
        await here.idle(session)
        assert calls(session)[-1].diff is None


async def test_an_edit_that_cannot_be_made_is_not_asked_for(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("edit_file", EDIT), Call("edit_file", {**EDIT, "old_text": "300"}), Call("edit_file", EDIT), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        unread, not_there, _ = calls(session)
        assert ("has not been read yet" in unread.output, "does not occur" in not_there.output) == (True, True)
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (folder / "src/deep/a.py").read_text() == WRITTEN


async def test_what_changed_in_the_editor_is_not_written_over(folder: Path) -> None:
    path = folder / "src/deep/a.py"
    editor = OpenEditor({path: BEFORE})
    async with stage(folder, editor=editor) as here:
        here.fake.enqueue(Call("read_file", {"path": "src/deep/a.py"}), Call("edit_file", EDIT), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        editor.texts[path] = "CAPACITY = 100  # typed meanwhile\n"
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert editor.texts[path] == "CAPACITY = 100  # typed meanwhile\n"
        assert "changed since you last saw it" in calls(session)[-1].output


async def test_an_open_document_whose_folder_became_a_link_is_not_edited(folder: Path, outside: Path) -> None:
    path = folder / "src/deep/a.py"
    (outside / "a.py").write_text(BEFORE)
    editor = OpenEditor({path: BEFORE})
    async with stage(folder, editor=editor) as here:
        here.fake.enqueue(Call("read_file", {"path": "src/deep/a.py"}), Call("edit_file", EDIT), Say("Done."))
        session = await here.new()
        await session.prompt("Make it 200")
        asked = await here.asked(session)
        (folder / "src/deep").rename(folder / "src/old")
        (folder / "src/deep").symlink_to(outside)
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert (editor.texts[path], (outside / "a.py").read_text()) == (BEFORE, BEFORE)


async def test_what_is_always_allowed_does_not_follow_a_link_either(folder: Path) -> None:
    async with stage(folder) as here:
        write = Call("write_file", {"path": "src/deep/b.py", "content": "1\n"})
        here.fake.enqueue(write, Call("write_file", {"path": "src/deep/c.py", "content": WRITTEN}), Say("Done."))
        session = await here.new()
        await session.prompt("Write")
        asked = await here.asked(session)
        (folder / ".vscode").mkdir()
        (folder / "src/deep/c.py").symlink_to(folder / ".vscode/tasks.json")
        session.answer_permission(asked.id, "allow_always")
        await here.watcher.until(lambda: len(calls(session)) == 2 and calls(session)[1].status == "awaiting_permission")
        assert ".vscode/tasks.json" in calls(session)[1].permission_reason
        session.answer_permission(calls(session)[1].id, "reject_once")
        await here.idle(session)
        assert written(folder) == []

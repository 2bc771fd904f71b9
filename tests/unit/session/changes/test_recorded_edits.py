"""What the agent's edits change is in the log, by the versions of the files before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call
from tests.unit.session.changes.changing import changes, edit, told, turn, versions, write
from tests.unit.session.filling import make_project
from tests.unit.session.harness import stage
from ullage.context.change_entries import FileVersion
from ullage.session.changes.scanning import IGNORED, TOO_LARGE
from ullage.store.errors import StoreFailed
from ullage.store.versions import Versions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


READ = Call("read_file", {"path": "tank.py"})


async def test_an_edit_and_a_new_file_are_recorded_with_their_bytes(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        edited, made = await turn(here, session, READ, edit("tank.py", "100", "200"), write("src/new.py", "x = 1\n"))
        assert [told(here, each) for each in edited.files] == [("tank.py", b"CAPACITY = 100\n", b"CAPACITY = 200\n")]
        assert [told(here, each) for each in made.files] == [("src/new.py", None, b"x = 1\n")]
        assert edited.tool_use_id is not None
        assert edited.uncovered == ()


async def test_line_ends_marks_and_modes_are_those_of_the_file(folder: Path) -> None:
    (folder / "tank.py").write_bytes(b"\xef\xbb\xbfCAPACITY = 100\r\nEMPTY = 0")
    (folder / "tank.py").chmod(0o755)
    async with stage(folder) as here:
        session = await here.new()
        (edited,) = await turn(here, session, READ, edit("tank.py", "100", "200"))
        before, after = b"\xef\xbb\xbfCAPACITY = 100\r\nEMPTY = 0", b"\xef\xbb\xbfCAPACITY = 200\r\nEMPTY = 0"
        assert [told(here, each) for each in edited.files] == [("tank.py", before, after)]
        assert edited.files[0].after is not None
        assert edited.files[0].after.executable


async def test_of_an_unsaved_document_the_text_in_the_editor_counts(folder: Path) -> None:
    (folder / "tank.py").write_bytes(b"CAPACITY = 100\r\n")
    async with stage(folder) as here:
        here.editor.texts[folder / "tank.py"] = "CAPACITY = 150\r\n"
        session = await here.new()
        (edited,) = await turn(here, session, READ, edit("tank.py", "150", "200"))
        assert [told(here, each) for each in edited.files] == [("tank.py", b"CAPACITY = 150\r\n", b"CAPACITY = 200\r\n")]
        assert (folder / "tank.py").read_bytes() == b"CAPACITY = 100\r\n"


async def test_a_call_that_changes_nothing_leaves_no_record(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        assert await turn(here, session, READ, edit("tank.py", "no such text", "x"), write("tank.py", "CAPACITY = 100\n")) == []


async def test_a_large_file_and_an_ignored_one_are_named_as_not_covered(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.env\n")
    (folder / "a.env").write_text("KEY=1\n")
    (folder / "tank.py").write_text("CAPACITY = 100\n" + "#" * 5_000_000)
    async with stage(folder) as here:
        session = await here.new()
        found = await turn(
            here, session, READ, edit("tank.py", "= 100", "= 200"), Call("read_file", {"path": "a.env"}), edit("a.env", "1", "2")
        )
        assert [(each.files, [(one.path, one.why) for one in each.uncovered]) for each in found] == [
            ((), [("tank.py", TOO_LARGE)]),
            ((), [("a.env", IGNORED)]),
        ]
        assert (folder / "a.env").read_text() == "KEY=2\n"
        assert versions(here).size == 0


async def test_where_nothing_can_be_kept_the_edit_is_made_and_the_reason_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Versions, data: bytes, *, executable: bool = False) -> FileVersion:
        raise StoreFailed("Cannot keep a version of a file: database or disk is full")

    monkeypatch.setattr(Versions, "keep", full)
    async with stage(folder) as here:
        session = await here.new()
        (edited,) = await turn(here, session, READ, edit("tank.py", "100", "200"))
        assert edited.files == ()
        assert [(each.path, each.why) for each in edited.uncovered] == [
            ("tank.py", "Cannot keep a version of a file: database or disk is full")
        ]
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\n"


async def test_it_is_there_after_a_restart(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        found = await turn(here, session, READ, edit("tank.py", "100", "200"))
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        assert changes(session) == found
        assert told(here, found[0].files[0]) == ("tank.py", b"CAPACITY = 100\n", b"CAPACITY = 200\n")

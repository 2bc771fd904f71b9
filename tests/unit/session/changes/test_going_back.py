"""Going back to a checkpoint: every file is as it was, and nothing is lost that somebody else wrote."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Say
from tests.unit.session.changes.changing import edit, run, turn, versions, write
from tests.unit.session.filling import make_project
from tests.unit.session.harness import Stage, stage
from ullage.session.changes.going_back import CHANGED_SINCE, LEADS_ELSEWHERE
from ullage.session.changes.shown import DecidedFile
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.slash_commands import Typed, carry_out
from ullage.store import folder as ullage_folder
from ullage.store.versions import pack

READ = Call("read_file", {"path": "tank.py"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def tree(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """All files with their bytes, and whether they may be run."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), os.access(path, os.X_OK)) for path in files}


async def changed(here: Stage) -> tuple[Session, list[dict[str, tuple[bytes, bool]]]]:
    """A session with three turns that changed files, and what there was before each of them."""
    session = await here.new()
    before = [tree(here.folder)]
    await turn(here, session, READ, edit("tank.py", "100", "200"), write("a/new.py", "x = 1\n"))
    before.append(tree(here.folder))
    await turn(here, session, run("rm tank.py; echo y > a/new.py; printf '\\0\\1\\r\\n' > a.bin; chmod +x readings.csv"))
    before.append(tree(here.folder))
    await turn(here, session, run("rm -r a; echo more >> readings.csv"))
    return session, before


async def ids(session: Session) -> list[str]:
    return [each.id for each in await session.going_back.checkpoints()]


async def test_each_turn_can_be_gone_back_to_and_forward_again(folder: Path) -> None:
    async with stage(folder) as here:
        session, before = await changed(here)
        after = tree(folder)
        found = await ids(session)
        assert len(found) == 3
        for number in (2, 1, 0):
            await session.restore(found[number])
            assert tree(folder) == before[number]
        forward = [each for each in await session.going_back.checkpoints() if each.forward]
        await session.restore(forward[0].id)
        assert tree(folder) == after
        await session.restore(found[1])
        assert tree(folder) == before[1]
        assert not here.refused()


async def test_a_preview_lists_what_would_happen_and_does_nothing(folder: Path) -> None:
    async with stage(folder) as here:
        session, _ = await changed(here)
        before = tree(folder)
        preview = await session.going_back.preview((await ids(session))[0])
        assert [(each.path, each.action, each.conflict) for each in preview.files] == [
            ("a.bin", "delete", ""),
            ("readings.csv", "write", ""),
            ("tank.py", "create", ""),
        ]
        assert tree(folder) == before


async def test_what_the_user_changed_since_is_a_conflict_and_is_not_lost(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"), write("new.py", "x\n"))
        (folder / "tank.py").write_text("CAPACITY = 300\n")
        (folder / "new.py").write_text("mine\n")
        (point,) = await ids(session)
        preview = await session.going_back.preview(point)
        assert [(each.path, each.conflict, each.can_overwrite) for each in preview.files] == [
            ("new.py", CHANGED_SINCE, True),
            ("tank.py", CHANGED_SINCE, True),
        ]
        assert await session.restore(point) == [
            DecidedFile("new.py", "conflict", CHANGED_SINCE),
            DecidedFile("tank.py", "conflict", CHANGED_SINCE),
        ]
        assert (folder / "tank.py").read_text() == "CAPACITY = 300\n"
        decided = await session.restore(point, ["tank.py"])
        assert [each.outcome for each in decided] == ["conflict", "done"]
        assert (folder / "tank.py").read_text() == "CAPACITY = 100\n"
        await session.restore((await ids(session))[-1])
        assert (folder / "tank.py").read_text() == "CAPACITY = 300\n"
        assert (folder / "new.py").read_text() == "mine\n"


async def test_an_open_document_is_changed_in_the_editor(folder: Path) -> None:
    async with stage(folder) as here:
        here.editor.texts[folder / "tank.py"] = "CAPACITY = 100\n"
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        assert here.editor.texts[folder / "tank.py"] == "CAPACITY = 200\n"
        await session.restore((await ids(session))[0])
        assert here.editor.texts[folder / "tank.py"] == "CAPACITY = 100\n"
        assert (folder / "tank.py").read_text() == "CAPACITY = 100\n"


async def test_unsaved_text_is_a_conflict(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        here.editor.texts[folder / "tank.py"] = "CAPACITY = 250\n"
        assert [each.outcome for each in await session.restore((await ids(session))[0])] == ["conflict"]
        assert here.editor.texts[folder / "tank.py"] == "CAPACITY = 250\n"
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\n"


async def test_nothing_is_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text("outside\n")
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"), write("src/a.py", "x\n"))
        (folder / "src/a.py").unlink()
        (folder / "src").rmdir()
        (folder / "src").symlink_to(tmp_path / "outside")
        (folder / "tank.py").unlink()
        (folder / "tank.py").symlink_to("readings.csv")
        readings = (folder / "readings.csv").read_bytes()
        (point,) = await ids(session)
        decided = await session.restore(point, ["tank.py", "src/a.py"])
        assert [(each.outcome, each.why) for each in decided] == [("conflict", LEADS_ELSEWHERE)] * 2
        assert (tmp_path / "outside" / "a.py").read_text() == "outside\n"
        assert (folder / "readings.csv").read_bytes() == readings


async def test_a_read_only_file_is_left_as_it_is(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"), write("new.py", "x\n"))
        (folder / "tank.py").chmod(0o444)
        decided = await session.restore((await ids(session))[0])
        assert [(each.path, each.outcome) for each in decided] == [("new.py", "done"), ("tank.py", "conflict")]
        assert "read-only" in decided[1].why
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\n"
        assert not (folder / "new.py").exists()


async def test_a_file_that_has_grown_huge_is_left_as_it_is(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        (folder / "tank.py").write_bytes(bytes(50_000_000))
        point = (await ids(session))[0]
        assert [each.outcome for each in await session.restore(point, ["tank.py"])] == ["conflict"]
        assert (folder / "tank.py").stat().st_size == 50_000_000


async def test_a_damaged_version_is_said_by_its_hash(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        kept = here.sessions._kept.folder  # noqa: SLF001
        assert kept is not None
        with sqlite3.connect(ullage_folder.versions(kept)) as connection:
            connection.execute("UPDATE content SET packed = ?", (pack(b"other").data,))
        (decided,) = await session.restore((await ids(session))[0], ["tank.py"])
        hash = pack(b"CAPACITY = 100\n").sha256[:12]
        assert (decided.outcome, decided.why) == ("conflict", f"What it held then ({hash}) is damaged")
        assert (folder / "tank.py").read_text() == "CAPACITY = 200\n"


async def test_a_version_that_was_let_go_is_said(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        versions(here).ended(session.id)
        versions(here).limit = 1
        with pytest.raises(Exception, match="limit"):
            versions(here).keep(os.urandom(1000))
        versions(here).limit = 1030
        versions(here).keep(os.urandom(1000))
        (decided,) = await session.restore((await ids(session))[0])
        assert "no longer kept" in decided.why


async def test_a_session_at_work_refuses(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        here.fake.enqueue(Hang())
        await session.prompt("Go on")
        with pytest.raises(SessionError) as refused:
            await session.restore((await ids(session))[0])
        assert refused.value.reason == "session_busy"
        session.cancel()
        await here.idle(session)
        with pytest.raises(SessionError) as refused:
            await session.restore("p-none")
        assert refused.value.reason == "no_such_item"


async def test_the_agent_is_told_which_files_were_changed(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, READ, edit("tank.py", "100", "200"))
        await session.restore((await ids(session))[0])
        here.fake.enqueue(Say("I see."))
        await here.say(session, "And now?")
        assert "`tank.py` has another text on disk" in str(here.fake.requests[-1].body["messages"]).replace("- tank.py", "`tank.py`")


async def test_it_works_after_a_restart_and_in_a_fork(folder: Path) -> None:
    async with stage(folder) as here:
        session, before = await changed(here)
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        point = (await ids(session))[1]
        fork = (await here.sessions.fork(session.id)).session
        assert await ids(fork) == await ids(session)
        await fork.restore(point)
        assert tree(folder) == before[1]
        rewound = await here.sessions.fork(session.id, point)
        assert rewound.prompt is not None
        assert await ids(rewound.session) == (await ids(session))[:1]


async def test_with_its_last_session_what_files_held_is_deleted(folder: Path) -> None:
    async with stage(folder) as here:
        session, _ = await changed(here)
        other = await here.new()
        await turn(here, other, run("echo z > z.py"))
        await here.sessions.delete(session.id)
        assert versions(here).read(pack(b"CAPACITY = 200\n").sha256) is None
        assert versions(here).read(pack(b"z\n").sha256) == b"z\n"
        await here.sessions.delete(other.id)
        assert versions(here).size == 0


async def test_rewind_can_be_typed(folder: Path) -> None:
    async with stage(folder) as here:
        session, before = await changed(here)
        listed = await carry_out(Typed("rewind", ""), here.sessions, session)
        assert listed.text.splitlines()[0] == "1. before “Do it” (2 files)"
        answer = await carry_out(Typed("rewind", "2"), here.sessions, session)
        assert tree(folder) == before[1]
        assert answer.session_id is not None
        assert len(await ids(here.sessions.get(answer.session_id))) == 1
        with pytest.raises(SessionError):
            await carry_out(Typed("rewind", "9"), here.sessions, session)

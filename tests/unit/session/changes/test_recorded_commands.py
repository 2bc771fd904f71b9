"""What commands change is in the log: found by looking through the workspace before and after, without what is the user's."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.patience import PATIENCE
from tests.unit.session.changes.changing import allow_all, changes, edit, run, told, turn, versions
from tests.unit.session.filling import make_project
from tests.unit.session.harness import calls, kept_of, notices, stage
from ullage.context.entries import ToolReturned
from ullage.session.changes.looking import SHARED
from ullage.session.changes.recording import CANNOT, LOST
from ullage.session.changes.scanning import IGNORED, LINK, NO_UTF8, TOO_LARGE, TOO_MANY, Difference, Scan, Scanner
from ullage.session.session import Session
from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreFailed
from ullage.store.versions import Begun, Versions, pack
from ullage.workspace.folders import Folders
from ullage.workspace.regular_files import Regulars
from ullage.workspace.scan import Met, read_as_stamped


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


CAPACITY = b"CAPACITY = 100\n"


def says(session: Session, text: str) -> bool:
    """Whether a command has put that out."""
    return any(text in call.output for call in calls(session))


async def test_what_a_command_wrote_made_and_removed_is_recorded(folder: Path) -> None:
    (folder / "old.py").write_text("old\n")
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("echo 'CAPACITY = 200' > tank.py; mkdir -p a/b; echo new > a/b/new.py; rm old.py"))
        assert [told(here, each) for each in found.files] == [
            ("a/b/new.py", None, b"new\n"),
            ("old.py", b"old\n", None),
            ("tank.py", CAPACITY, b"CAPACITY = 200\n"),
        ]
        assert found.uncovered == ()
        assert await turn(here, session, run("true && echo nothing >&2")) == []


async def test_each_command_is_told_of_what_it_changed_alone(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        one, edited, other = await turn(
            here,
            session,
            run("echo a >> tank.py"),
            Call("read_file", {"path": "tank.py"}),
            edit("tank.py", "100", "200"),
            run("rm tank.py"),
        )
        assert [told(here, each) for each in one.files] == [("tank.py", CAPACITY, CAPACITY + b"a\n")]
        assert [told(here, each) for each in edited.files] == [("tank.py", CAPACITY + b"a\n", b"CAPACITY = 200\na\n")]
        assert [told(here, each) for each in other.files] == [("tank.py", b"CAPACITY = 200\na\n", None)]


async def test_a_change_of_the_same_length_and_time_is_found(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(
            here,
            session,
            run("cp -p tank.py ../before.py; echo 'CAPACITY = 999' > tank.py; touch -r ../before.py tank.py"),
        )
        assert [told(here, each) for each in found.files] == [("tank.py", CAPACITY, b"CAPACITY = 999\n")]


async def test_that_a_file_may_be_run_now_is_a_change(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("chmod +x tank.py"))
        (changed,) = found.files
        assert changed.before is not None
        assert changed.after is not None
        assert (changed.before.executable, changed.after.executable) == (False, True)


async def test_what_the_user_saved_meanwhile_is_theirs(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(run("echo x > new.py; echo began; until [ -e go ]; do sleep 0.01; done; rm go"), Say("Done."))
        await session.prompt("Do it")
        turn_ends = asyncio.ensure_future(allow_all(here, session))
        await here.watcher.until(lambda: says(session, "began"))
        (folder / "tank.py").write_text("CAPACITY = 300\n")
        here.sessions.document_changed(folder / "tank.py", "changed", 1)
        here.sessions.document_changed(folder / "tank.py", "saved")
        (folder / "go").touch()
        await turn_ends
        (found,) = changes(session)
        assert [told(here, each) for each in found.files] == [("new.py", None, b"x\n")]


async def test_a_document_that_the_editor_reads_anew_is_not_the_users_change(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(run("echo x > tank.py; echo began; until [ -e go ]; do sleep 0.01; done; rm go"), Say("Done."))
        await session.prompt("Do it")
        turn_ends = asyncio.ensure_future(allow_all(here, session))
        await here.watcher.until(lambda: says(session, "began"))
        here.sessions.document_changed(folder / "tank.py", "changed", 1)
        (folder / "go").touch()
        await turn_ends
        (found,) = changes(session)
        assert [told(here, each) for each in found.files] == [("tank.py", CAPACITY, b"x\n")]


async def test_what_is_not_covered_is_named_with_the_reason(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret\n")
    (folder / ".gitignore").write_text("*.env\nbuild/\n")
    (folder / "a.env").write_text("KEY=1\n")
    (folder / "way").symlink_to(tmp_path / "outside")
    (folder / "large.bin").write_bytes(bytes(6_000_000))
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, run("true; true"))
        name = "$(printf 'caf\\351')"
        (found,) = await turn(
            here,
            session,
            run(
                "echo KEY=2 > a.env; echo y > way/secret; echo z >> large.bin; mkdir build; echo o > build/o; ln -s /etc/passwd users; "
                f"echo n > {name}; mkfifo pipe"
            ),
        )
        assert found.files == ()
        assert {each.path: each.why for each in found.uncovered} == {
            "a.env": IGNORED,
            "build/": IGNORED,
            "caf\\xe9": NO_UTF8,
            "large.bin": TOO_LARGE,
            "users": LINK,
        }
        kept = [versions(here).read(each.sha256) for each in versions(here).seen().values() if each.sha256 is not None]
        assert not {b"KEY=1\n", b"KEY=2\n", b"secret\n", b"y\n"} & set(kept)


async def test_a_binary_file_and_one_of_4_mb_are_covered(folder: Path) -> None:
    (folder / "a.bin").write_bytes(bytes(range(256)) * 16_000)
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("printf '\\0\\1' > a.bin"))
        assert [told(here, each) for each in found.files] == [("a.bin", bytes(range(256)) * 16_000, b"\0\1")]


async def test_a_folder_that_vanishes_is_recorded_file_by_file(folder: Path) -> None:
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/one.py").write_text("1\n")
    (folder / "a/two.py").write_text("2\n")
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("rm -r a"))
        assert [told(here, each) for each in found.files] == [("a/b/one.py", b"1\n", None), ("a/two.py", b"2\n", None)]


async def test_files_that_git_comes_to_ignore_are_not_taken_for_deleted(folder: Path) -> None:
    (folder / "build").mkdir()
    (folder / "build" / "o").write_text("o\n")
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("echo build/ > .gitignore"))
        assert [told(here, each) for each in found.files] == [(".gitignore", None, b"build/\n")]
        assert ("build/o", IGNORED) in [(each.path, each.why) for each in found.uncovered]


async def test_a_command_that_is_known_to_only_read_is_not_scanned(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[int] = []
    after = Scanner.after

    def counted(self: Scanner, tool_use_id: str, before: Scan, not_of: frozenset[str]) -> Difference:
        scans.append(1)
        return after(self, tool_use_id, before, not_of)

    monkeypatch.setattr(Scanner, "after", counted)
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, run("cat tank.py"))
        read = [each.entry for each in session.entries if isinstance(each.entry, ToolReturned)]
        assert [each.content for each in read] == ["CAPACITY = 100"]
        before = len(scans)
        await turn(here, session, run("echo 1 > one.py"))
        assert len(scans) == before + 1
        assert before in (0, 1)  # without a sandbox nothing is known of it


async def test_what_a_command_changed_that_was_stopped_is_recorded(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(run("echo x > tank.py; echo began; sleep 100"))
        await session.prompt("Do it")
        done = asyncio.ensure_future(allow_all(here, session))
        await here.watcher.until(lambda: says(session, "began"))
        session.cancel()
        await done
        (found,) = changes(session)
        assert [told(here, each) for each in found.files] == [("tank.py", CAPACITY, b"x\n")]
        (changed,) = await turn(here, session, run("rm tank.py"))
        assert [told(here, each) for each in changed.files] == [("tank.py", b"x\n", None)]


async def test_the_next_scan_reads_only_what_changed_also_after_a_restart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = time.time() - 3_600
    for number in range(20):
        (folder / f"{number}.py").write_text(str(number))
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    there = len([*folder.iterdir()])
    read: list[str] = []

    def spy(met: Met, most: int, files: Regulars) -> tuple[bytes, bool]:
        read.append(Path(met.path).name)
        return read_as_stamped(met, most, files)[0], True  # as if it had been written long ago: nobody can set the time of a change

    monkeypatch.setattr("ullage.session.changes.scanning.read_as_stamped", spy)
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, run("echo x > 3.py"))
        assert len(read) == there + 1
    read.clear()
    async with stage(folder) as here:
        session = await here.sessions.open(session.id)
        (found,) = await turn(here, session, run("echo y > 4.py"))
        assert sorted(read) == ["3.py", "4.py"]
        assert [told(here, each) for each in found.files] == [("4.py", b"4", b"y\n")]


async def test_too_many_files_are_said_and_the_command_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.workspace.scan.Walker.__init__.__defaults__", (1,))
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("echo x > tank.py"))
        assert [(each.path, each.why) for each in found.uncovered] == [("./", TOO_MANY)]
        assert (folder / "tank.py").read_text() == "x\n"


async def test_on_a_full_disk_the_command_runs_and_what_it_changed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Versions, *_: object, **__: object) -> None:
        raise StoreFailed("Cannot keep a version of a file: database or disk is full")

    monkeypatch.setattr(Versions, "keep_packed", full)
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("echo x > tank.py"))
        assert found.files == ()
        assert [(each.path, each.why) for each in found.uncovered] == [
            ("tank.py", "Cannot keep a version of a file: database or disk is full")
        ]
        assert (folder / "tank.py").read_text() == "x\n"
        assert [notice.text for notice in notices(session)] == [CANNOT.format("Cannot keep a version of a file: database or disk is full")]


async def test_the_first_scan_begins_while_the_user_is_asked(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(run("echo x > tank.py"), Say("Done."))
        await session.prompt("Do it")
        asked = await here.asked(session)
        async with asyncio.timeout(PATIENCE):
            while versions(here).standing(pack(CAPACITY).sha256) != "kept":
                await asyncio.to_thread(lambda: None)
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        (found,) = changes(session)
        assert [told(here, each) for each in found.files] == [("tank.py", CAPACITY, b"x\n")]


async def test_where_the_copies_were_damaged_the_user_is_told(folder: Path) -> None:
    kept = kept_of(folder)
    kept.mkdir(parents=True, mode=0o700)
    ullage_folder.versions(kept).write_bytes(b"no database")
    async with stage(folder) as here:
        session = await here.new()
        (found,) = await turn(here, session, run("echo x > tank.py"))
        assert [told(here, each) for each in found.files] == [("tank.py", CAPACITY, b"x\n")]
        assert [notice.text for notice in notices(session)] == [LOST.format(versions(here).set_aside)]


def test_what_changed_while_two_commands_ran_is_claimed_by_neither(folder: Path) -> None:
    """Three stretches of time: the first command alone, both, the second alone."""
    scanner = Scanner(Folders((folder,)), Versions(None))

    def begins(name: str) -> Scan:
        return scanner.before(name, lambda: scanner.begun_here.add(name))

    def ends(name: str, before: Scan) -> list[tuple[str, bool]]:
        return [(each.path, each.shared) for each in scanner.after(name, before, frozenset()).files]

    first = begins("first")
    (folder / "one.txt").write_text("1")
    second = begins("second")
    (folder / "both.txt").write_text("2")
    assert ends("first", first) == [("both.txt", True), ("one.txt", False)]
    (folder / "two.txt").write_text("3")
    assert ends("second", second) == [("both.txt", True), ("two.txt", False)]
    third = begins("third")
    (folder / "both.txt").write_text("4")
    assert ends("third", third) == [("both.txt", False)]


async def test_what_changed_while_a_command_ran_in_another_window_is_claimed_by_neither(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, run("echo 1 > one.txt"))
        other = Versions(ullage_folder.versions(kept_of(folder)))
        other.begin(Begun("s-other", "t-other"))
        (found,) = await turn(here, session, run("echo 2 > two.txt"))
        assert [(each.path, each.shared) for each in found.files] == [("two.txt", True)]
        assert [(file.path, file.note) for file in await session.reviewing.open_files()] == [("one.txt", ""), ("two.txt", SHARED)]
        assert [file.note for each in await session.reviewing.turns() for file in each.files] == ["", SHARED]
        other.ended("s-other")
        (found,) = await turn(here, session, run("echo 3 > three.txt"))
        assert [(each.path, each.shared) for each in found.files] == [("three.txt", False)]
        other.close()


def test_a_command_of_another_window_that_began_and_ended_meanwhile_is_noticed(folder: Path, tmp_path: Path) -> None:
    ours, other = Versions(tmp_path / "versions.db"), Versions(tmp_path / "versions.db")
    scanner = Scanner(Folders((folder,)), ours)

    def changed(name: str, meanwhile: Callable[[], None]) -> list[tuple[str, bool]]:
        def begin() -> None:
            scanner.begun_here.add(name)
            ours.begin(Begun("s-ours", name))

        before = scanner.before(name, begin)
        (folder / "new.txt").write_text(name)
        meanwhile()
        found = [(each.path, each.shared) for each in scanner.after(name, before, frozenset()).files]
        ours.ended("s-ours", [name])
        return found

    def runs(*begun: Begun) -> None:
        other.begin(*begun)
        other.ended("s-other")

    assert changed("first", lambda: None) == [("new.txt", False)]
    assert changed("second", lambda: runs(Begun("s-other", "t-1"))) == [("new.txt", True)]
    assert changed("third", lambda: None) == [("new.txt", False)], "it was over before"
    assert changed("fourth", lambda: runs(Begun("s-other", "t-2", str(folder / "tank.py")))) == [("new.txt", False)], "an edit of one file"
    other.close()
    ours.close()


async def test_what_a_command_changed_that_was_cut_off_is_known_until_its_session_is_opened(folder: Path) -> None:
    """However many processes begin and die before that."""
    async with stage(folder) as here:
        cut_off = await here.new()
        await turn(here, cut_off, run("echo 0 > zero.txt"))
    versions_of_old = Versions(ullage_folder.versions(kept_of(folder)))
    versions_of_old.begin(Begun(cut_off.id, "t-cut"))
    versions_of_old.close()
    (folder / "tank.py").write_text("by the command that was cut off\n")
    for number in range(2):
        async with stage(folder) as here:
            await turn(here, await here.new(), run(f"echo {number} > by-another{number}.txt"))
    async with stage(folder) as here:
        session = await here.sessions.open(cut_off.id)
        found = [each for each in changes(session) if each.tool_use_id == "t-cut"]
        assert ("tank.py", CAPACITY) in [told(here, file)[:2] for each in found for file in each.files]
        assert versions(here).begun(cut_off.id) == []

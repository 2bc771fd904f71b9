"""A workspace folder that was renamed or moved: its sessions can be found and taken over, and go on."""

from __future__ import annotations

import os
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.changes.changing import run, turn, versions
from tests.unit.session.harness import kept_of, stage
from tests.unit.session.test_brought_folders import FORGED, ID, forged, log_of, plain
from ullage.cli import main
from ullage.context.blocks import Image
from ullage.context.entries import ToolReturned, UserPrompt
from ullage.session.errors import SessionError
from ullage.session.sessions.brought_sessions import NO_ROOM
from ullage.session.settings import OTHER_LOCATION, OTHER_TEAM
from ullage.store.encode import encode
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore
from ullage.store.origins import is_foreign
from ullage.store.plain_files import file_name, sha256_of
from ullage.workspace.folders import OWN_FOLDER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def moved(folder: Path) -> Path:
    """The folder under another name; what a stage keeps is found from there."""
    folder.with_name(f"{folder.name}-state").rename(folder.with_name("renamed-state"))
    return folder.rename(folder.with_name("renamed"))


async def test_sessions_of_a_renamed_folder_go_on(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Well."))
        session = await here.new()
        await here.say(session, "How is the tank?")
        assert (await here.sessions.importable()).gone == ()
        (kept_of(folder) / "tool-results" / "r1.txt").parent.mkdir(exist_ok=True)
        (kept_of(folder) / "tool-results" / "r1.txt").write_text("whole")
    renamed = moved(folder)
    async with stage(renamed) as here:
        (gone,) = (await here.sessions.importable()).gone
        assert (gone.folder, gone.sessions) == (folder, 1)
        taken = await here.sessions.import_sessions(of_gone=folder)
        assert (taken.sessions, taken.failures, taken.unreadable) == (1, (), 0)
        assert (await here.sessions.importable()).gone == ()
        assert (kept_of(renamed) / "tool-results" / "r1.txt").read_text() == "whole"
        again = await here.sessions.open(session.id)
        here.fake.enqueue(Say("Still well."))
        await here.say(again, "And now?")
        asked = str(here.fake.requests[-1].body["messages"])
        assert "How is the tank?" in asked
        assert "And now?" in asked


async def test_all_that_belongs_to_a_session_comes_along(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await here.sessions.models.choose_effort(session.id, "high")
        here.fake.enqueue(Call("task", {"title": "Find it", "prompt": "Where is it?"}), Say("In dip.txt."), Say("There."))
        await here.say(session, "Where is the dip?")
    renamed = moved(folder)
    async with stage(renamed) as here:
        (gone,) = (await here.sessions.importable()).gone
        assert gone.sessions == 1
        assert (await here.sessions.import_sessions(of_gone=folder)).sessions == 1
        assert [each.session_id for each in here.sessions.summaries()] == [session.id]
        again = await here.sessions.open(session.id)
        here.fake.enqueue(Say("Still there."))
        await here.say(again, "And now?")
        assert here.fake.requests[-1].body["output_config"]["effort"] == "high"


@pytest.mark.parametrize("has_room", [True, False])
async def test_what_the_agent_changed_is_taken_back_in_the_renamed_folder(folder: Path, has_room: bool) -> None:
    (folder / "a.txt").write_bytes(before := os.urandom(100_000))
    async with stage(folder) as here:
        session = await here.new()
        await turn(here, session, run("echo a > a.txt; echo b > b.txt"))
    renamed = moved(folder)
    async with stage(renamed) as here:
        if not has_room:
            versions(here).limit = 50_000
        taken = await here.sessions.import_sessions(of_gone=folder)
        assert (taken.sessions, taken.failures) == (1, () if has_room else (NO_ROOM,))
        session = await here.sessions.open(session.id)
        (point,) = await session.going_back.checkpoints()
        outcomes = [each.outcome for each in await session.restore(point.id)]
        assert outcomes == (["done", "done"] if has_room else ["conflict", "done"])
        assert (renamed / "a.txt").read_bytes() == (before if has_room else b"a\n")
        assert not (renamed / "b.txt").exists()


async def test_a_folder_that_is_there_is_not_gone(folder: Path) -> None:
    async with stage(folder) as here:
        await here.new()
    other = moved(folder)
    folder.mkdir()
    async with stage(other) as here:
        for name in (folder, other, folder / "x", Path("/")):
            with pytest.raises(SessionError, match="No sessions of a folder"):
                await here.sessions.import_sessions(of_gone=name)


async def test_what_the_user_says_is_theirs_goes_on(folder: Path) -> None:
    plain(folder)
    async with stage(folder) as here:
        listed = (await here.sessions.importable()).brought
        assert listed is not None
        assert [(each.title, each.entries, each.waiting) for each in listed.sessions] == [("Forged", 3, 1)]
        taken = await here.sessions.import_sessions(as_mine=True)
        assert taken.sessions == 1
        (summary,) = here.sessions.summaries()
        assert not summary.foreign
        session = await here.sessions.open(summary.session_id)
        here.fake.enqueue(Say("Going on."), Say("And on."))
        session.resume()
        await here.idle(session)
        assert FORGED in str(here.fake.requests[0].body["messages"])


def test_the_command_line_asks_before_sessions_are_mine(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(folder)
    store = tmp_path / "store"
    for said, code in (("no", 1), ("", 1), ("yes", 0)):
        monkeypatch.setattr("sys.stdin", StringIO(f"{said}\n"))
        assert main(["import", str(folder), "--mine", "--store", str(store)]) == code
        shown = capsys.readouterr()
        assert "Forged (3 entries, 1 prompts not sent yet)" in shown.out
        assert ("nothing was imported" in shown.err) == (code == 1)
    log = LogStore.open(folder_of(folder, store))
    (record,) = log.sessions()
    assert not is_foreign(record.id)
    assert isinstance(log.load(record.id)[0].entry, UserPrompt)
    log.close()


def test_the_command_line_takes_over_what_is_kept_of_a_folder_that_is_gone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain(folder)
    store = str(tmp_path / "store")
    assert main(["import", str(folder), "--mine", "--yes", "--store", store]) == 0
    renamed = folder.rename(folder.with_name("renamed"))
    assert main(["import", "--list-gone", "--store", store]) == 0
    assert f"1 sessions  {folder}" in capsys.readouterr().out
    for count in (1, 0):
        assert main(["import", str(renamed), "--from", str(folder), "--store", store]) == 0
        assert f"{count} new sessions of {folder}, now of {renamed}" in capsys.readouterr().out
    assert main(["import", "--list-gone", "--store", store]) == 0
    assert "No sessions are kept" in capsys.readouterr().out


async def test_images_of_foreign_sessions_come_where_they_are_what_they_are_named(folder: Path) -> None:
    good, bad = Image(sha256_of(b"image"), "image/png", 10, 10, 5), Image(sha256_of(b"other"), "image/png", 10, 10, 5)
    result = encode(ToolReturned("toolu_forged", "read_file", "Shown.", False, 6, media=(good, bad)))
    forged(log_of(folder), ID, f"UPDATE entry SET body = '{result}' WHERE seq = 3;")
    media = folder / OWN_FOLDER / "media"
    media.mkdir()
    (media / file_name(good)).write_bytes(b"image")
    (media / file_name(bad)).write_bytes(b"something else")
    async with stage(folder) as here:
        assert (await here.sessions.import_sessions()).unreadable == 0
    assert [path.name for path in (kept_of(folder) / "media").iterdir()] == [file_name(good)]


async def test_an_image_behind_a_link_does_not_come(folder: Path) -> None:
    secret = folder.parent / "secret.png"
    secret.write_bytes(b"image")
    image = Image(sha256_of(b"image"), "image/png", 10, 10, 5)
    result = encode(ToolReturned("toolu_forged", "read_file", "Shown.", False, 6, media=(image,)))
    forged(log_of(folder), ID, f"UPDATE entry SET body = '{result}' WHERE seq = 3;")
    (folder / OWN_FOLDER / "media").mkdir()
    (folder / OWN_FOLDER / "media" / file_name(image)).symlink_to(secret)
    async with stage(folder) as here:
        await here.sessions.import_sessions()
    assert not (kept_of(folder) / "media").exists()


async def test_another_location_asks_for_a_reload(folder: Path) -> None:
    async with stage(folder) as here:
        await here.new()
        before = list(here.watcher.warnings)
        here.sessions.configure(replace(here.settings, store_location=str(folder.with_name("elsewhere"))))
        assert [text for text in here.watcher.warnings if text not in before] == [OTHER_LOCATION]
        here.sessions.configure(replace(here.settings, store_location=str(folder.with_name("elsewhere"))))
        assert len(here.sessions.summaries()) == 1
        assert here.watcher.warnings[-2:] == [OTHER_LOCATION] * 2, "the client forgets what it was told of settings when one changes"
        told = len(here.watcher.warnings)
        here.sessions.configure(here.settings)
        assert len(here.watcher.warnings) == told, "it is as it was"


async def test_another_team_asks_for_a_reload(folder: Path) -> None:
    async with stage(folder) as here:
        await here.new()
        before = len(here.watcher.warnings)
        other = replace(here.settings, store_url="postgresql://ann@localhost/ullage")
        for settings in (other, replace(other, effort="low"), here.settings):
            here.sessions.configure(settings)
        assert here.watcher.warnings[before:] == [OTHER_TEAM] * 2
    assert not folder.with_name("elsewhere").exists()

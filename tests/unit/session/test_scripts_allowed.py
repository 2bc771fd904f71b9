"""A command that is allowed as it stands is allowed with the script that it names as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import calls, stage
from ullage.tools.permission import digest_of_files_named

SCRIPT = "echo first > out.txt\n"
OTHER = "echo other > out.txt\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    (made / "sub").mkdir(parents=True)
    for name in ("s.sh", "sub/s.sh", "a b.sh"):
        (made / name).write_text(SCRIPT)
        (made / name).chmod(0o755)
    return made


LINES = [
    "sh s.sh",
    "sh ./s.sh",
    "./s.sh",
    "bash -e s.sh all",
    "X=1 sh s.sh",
    "sh <s.sh",
    "cat x; sh s.sh",
    "(sh s.sh)",
    "sh 's.sh'",
    'sh "s.sh"',
    "sh s\\.sh",
    "env A=b sh s.sh",
    "sh --rcfile=s.sh",
    "true && sh s.sh || false",
    "$(sh s.sh)",
    "sh sub/../s.sh",
    'sh "$PWD/s.sh"',
    "sh ${PWD}/s.sh",
    "sh s''.sh",
    'sh "sub"/../s.sh',
    f"true {' '.join(f'w{number}' for number in range(1_000))}; sh s.sh",
]


@pytest.mark.parametrize("line", LINES)
def test_a_changed_script_is_another(folder: Path, line: str) -> None:
    before = digest_of_files_named(line, folder, (folder,))
    assert before
    assert digest_of_files_named(line, folder, (folder,)) == before
    (folder / "s.sh").write_text(OTHER)
    assert digest_of_files_named(line, folder, (folder,)) != before


def test_a_changed_script_whose_name_has_a_blank_is_another(folder: Path) -> None:
    before = digest_of_files_named("sh 'a b.sh'", folder, (folder,))
    (folder / "a b.sh").write_text(OTHER)
    assert digest_of_files_named("sh 'a b.sh'", folder, (folder,)) != before


def test_a_changed_script_that_is_named_by_the_home_folder_is_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    lines = ("sh ~/project/s.sh", 'sh "$HOME/project/s.sh"')
    before = [digest_of_files_named(line, folder, (folder,)) for line in lines]
    (folder / "s.sh").write_text(OTHER)
    assert all(digest_of_files_named(line, folder, (folder,)) not in before for line in lines)


def test_a_script_in_the_folder_that_the_line_goes_to(folder: Path) -> None:
    before = digest_of_files_named("cd sub && sh s.sh", folder, (folder,))
    (folder / "sub/s.sh").write_text(OTHER)
    assert digest_of_files_named("cd sub && sh s.sh", folder, (folder,)) != before


@pytest.mark.parametrize("line", ["mytool", "sh nothing.sh", "sh /etc/passwd", "sh ../outside.sh", "sh \0", "sh " + "a" * 5_000])
def test_what_names_no_file_of_the_workspace_has_no_digest(folder: Path, line: str) -> None:
    (folder.parent / "outside.sh").write_text(SCRIPT)
    assert digest_of_files_named(line, folder, (folder,)) == ""


def test_a_large_file_counts_by_its_identity(folder: Path) -> None:
    with (folder / "s.sh").open("wb") as file:
        file.truncate(50_000_000)
    before = digest_of_files_named("sh s.sh", folder, (folder,))
    os.utime(folder / "s.sh", (1, 1))
    assert digest_of_files_named("sh s.sh", folder, (folder,)) != before


def test_a_script_behind_a_large_file_is_another_also_under_its_old_time(folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(50_000_000)
    about = (folder / "s.sh").stat()
    before = digest_of_files_named("cat large; sh s.sh", folder, (folder,))
    (folder / "s.sh").write_text(OTHER)
    os.utime(folder / "s.sh", ns=(about.st_atime_ns, about.st_mtime_ns))
    assert digest_of_files_named("cat large; sh s.sh", folder, (folder,)) != before


def exchange_for_a_link(folder: Path) -> None:
    (folder / "other.sh").write_text(OTHER)
    (folder / "s.sh").unlink()
    (folder / "s.sh").symlink_to("other.sh")


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "s.sh").write_text(OTHER),
    exchange_for_a_link,
    lambda folder: (folder / "s.sh").unlink(),
]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_script_that_changes_while_it_waits_is_asked_for_anew(folder: Path, change: Callable[[Path], object]) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Call("bash", {"command": "sh s.sh"}), Say("Done."))
        session = await here.new()
        await session.prompt("Run")
        asked = await here.asked(session)
        change(folder)
        session.answer_permission(asked.id, "allow_once", permission_id=asked.permission_id)
        anew = await here.asked_anew(session, asked)
        assert anew.permission_reason.startswith("It has changed since you were asked. Run `sh s.sh`")
        session.answer_permission(anew.id, "reject_once", permission_id=anew.permission_id)
        await here.idle(session)
        assert not (folder / "out.txt").exists()


async def test_always_holds_for_the_script_as_it_was(folder: Path) -> None:
    async with stage(folder) as here:
        run = Call("bash", {"command": "sh s.sh"})
        here.fake.enqueue(run, run, Say("Done."), run, Say("Done."))
        session = await here.new()
        await session.prompt("Run")
        asked = await here.asked(session)
        session.answer_permission(asked.id, "allow_always", permission_id=asked.permission_id)
        await here.idle(session)
        assert [call.status for call in calls(session)] == ["completed", "completed"]
        (folder / "s.sh").write_text(OTHER)
        await session.prompt("Run")
        asked = await here.asked(session)
        assert "a file that it names has changed" in asked.permission_reason
        session.answer_permission(asked.id, "reject_once", permission_id=asked.permission_id)
        await here.idle(session)
        assert (folder / "out.txt").read_text() == "first\n"

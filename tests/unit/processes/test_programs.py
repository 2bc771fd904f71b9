"""Which program is run, and which environment variables it gets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ullage.platforms.system import System
from ullage.processes.programs import bare_environment, candidates, find_program, without_relative_entries


def make_program(folder: Path, name: str = "rg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "workspace"
    make_program(made)
    make_program(made / "bin")
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize(
    "entries", [".", "", "bin", "./bin", ":", ".:bin:", "../workspace", "{workspace}", "{workspace}/bin", "{link}", "/no/such", "\0"]
)
def test_a_program_of_the_workspace_is_not_found(entries: str, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "link").symlink_to(workspace / "bin")
    if "\0" not in entries:
        monkeypatch.setenv("PATH", entries.format(workspace=workspace, link=tmp_path / "link"))
    else:
        monkeypatch.setattr(os, "environ", {"PATH": "/a\0b"})
    assert find_program("rg", [workspace]) is None


def test_the_next_one_is_found_instead(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    installed = make_program(tmp_path / "installed")
    (tmp_path / "not runnable").mkdir()
    (tmp_path / "not runnable" / "rg").write_text("")
    monkeypatch.setenv("PATH", f".:{workspace}/bin:{tmp_path}/not runnable:{installed.parent}")
    assert find_program("rg", [workspace]) == str(installed)


def test_a_link_to_a_program_of_the_workspace_is_passed_over(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").symlink_to(workspace / "rg")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program("rg", [workspace]) is None
    assert find_program("rg", []) is not None


def test_the_folder_may_be_named_by_a_link(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "opened").symlink_to(workspace)
    monkeypatch.setenv("PATH", str(workspace))
    assert find_program("rg", [tmp_path / "opened"]) is None


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("PATH", "/usr/bin:.:/bin", "/usr/bin:/bin"),
        ("PATH", ":/usr/bin:", "/usr/bin"),
        ("PATH", "./node_modules/.bin:/usr/bin", "/usr/bin"),
        ("PATH", ".", None),
        ("PATH", "", None),
        ("LD_LIBRARY_PATH", "/opt/lib:", "/opt/lib"),
        ("LD_PRELOAD", "./evil.so", None),
        ("LD_PRELOAD", "libjemalloc.so.2 /opt/a.so evil/b.so", "libjemalloc.so.2:/opt/a.so"),
        ("PYTHONPATH", ".", "."),
    ],
)
def test_lists_of_what_the_system_runs_hold_absolute_entries_alone(name: str, value: str, kept: str | None):
    assert without_relative_entries({name: value}).get(name) == kept


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "RIPGREP_CONFIG_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONHOME",
        ),
        *("NODE_OPTIONS", "BASH_ENV", "ENV", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_EXTERNAL_DIFF", "ANTHROPIC_API_KEY", "SSH_AUTH_SOCK"),
    ],
)
def test_our_own_programs_get_none_of_it(name: str):
    assert bare_environment({name: "/x", "HOME": "/home/user", "SystemRoot": "C:\\Windows"}) == {
        "HOME": "/home/user",
        "SystemRoot": "C:\\Windows",
    }


def test_on_windows_a_program_has_an_ending_that_says_that_it_can_be_run():
    folder = Path("/bin")
    assert candidates(folder, "git", System.LINUX, {}) == candidates(folder, "git", System.MACOS, {}) == [folder / "git"]
    assert candidates(folder, "git", System.WINDOWS, {"PATHEXT": ".EXE;;.CMD"}) == [folder / "git.exe", folder / "git.cmd"]
    assert [path.suffix for path in candidates(folder, "git", System.WINDOWS, {})] == [".com", ".exe", ".bat", ".cmd"]


def test_a_program_can_be_named_by_its_place_unless_that_is_in_the_workspace(tmp_path: Path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    assert find_program(str(program), []) is None
    program.chmod(0o755)
    assert find_program(str(program), []) == str(program)
    assert find_program(str(program), [tmp_path]) is None

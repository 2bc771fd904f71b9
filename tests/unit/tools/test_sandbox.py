"""The sandbox's command line, and how the tool uses what is installed: a stand-in program, and the real one where it works."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools.guarded import Guarded
from ullage.tools.sandbox import find_bubblewrap, sandboxed

STAND_IN = """#!/bin/sh
{before}
while [ "$1" != -- ]; do shift; done; shift
{after}
exec "$@"
"""


def install(folder: Path, after: str, monkeypatch: pytest.MonkeyPatch, before: str = "") -> None:
    """Puts a program named as bubblewrap first on the path that runs the command and nothing more."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(after=after, before=before))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def binds(arguments: list[str], kind: str) -> list[str]:
    """What is bound in that way, in order; each over itself."""
    places = [index for index, argument in enumerate(arguments[: arguments.index("--")]) if argument == kind]
    assert all(arguments[place + 1] == arguments[place + 2] for place in places)
    return [arguments[place + 1] for place in places]


def test_only_the_workspace_is_writable_and_what_is_guarded_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/a")
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    guard = Guarded(
        (Path("/work/a/.ullage"), Path("/work/a/.git/config"), Path("/main/.git/config")),
        (Path("/work/a/.git"), Path("/work/a/.git/modules"), Path("/main/.git")),
    )
    arguments = sandboxed("/usr/bin/bwrap", ["bash", "-c", "true"], [Path("/work/a/b"), Path("/work/a")], guard)
    assert arguments[:4] == ["/usr/bin/bwrap", "--ro-bind", "/", "/"]
    assert arguments[-4:] == ["--", "bash", "-c", "true"]
    assert "--die-with-parent" in arguments
    writable = ["/tmp", "/home/a/.cache", "/work/a", "/work/a/b", "/work/a/.git", "/work/a/.git/modules"]
    assert binds(arguments, "--bind-try") == writable
    assert binds(arguments, "--ro-bind-try") == ["/work/a/.ullage", "/work/a/.git/config"]
    assert arguments.index("--ro-bind-try") > max(index for index, argument in enumerate(arguments) if argument == "--bind-try")


async def test_a_command_gets_the_guard_of_its_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "", monkeypatch, before=f'echo "$@" >> {tmp_path}/line')
    workplace = Workplace(tmp_path, sandbox=True)
    workplace.put({".vscode/settings.json": "{}", ".git/config": "", ".git/hooks/a": ""})
    await workplace.call("bash", command="true")
    line = (tmp_path / "line").read_text()
    for name in (".vscode", ".git/config", ".git/hooks"):
        assert f"--ro-bind-try {tmp_path}/{name} {tmp_path}/{name}" in line
    assert line.index(f"--bind-try {tmp_path}/.git ") < line.index(f"--ro-bind-try {tmp_path}/.git/hooks ")


@pytest.mark.parametrize("said", ["touch: Read-only file system", "could not write config file .git/config: Device or resource busy"])
async def test_a_write_that_was_blocked_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    install(tmp_path, "", monkeypatch)
    workplace = Workplace(tmp_path, sandbox=True)
    outcome = await workplace.call("bash", command=f"echo '{said}'; exit 1")
    assert "The sandbox blocked a write" in outcome.content
    assert outcome.content.endswith("(exit code 1)")


async def test_a_sandbox_that_does_not_work_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "exit 1", monkeypatch)
    assert await find_bubblewrap() is None
    outcome = await Workplace(tmp_path, sandbox=True).call("bash", command="echo plain")
    assert (outcome.content, outcome.is_error) == ("plain", False)


async def test_what_is_installed_here_keeps_writes_inside(tmp_path: Path) -> None:
    """With a working bubblewrap what is guarded stays as it is, and git works; without one commands run all the same."""
    workplace = Workplace(tmp_path, sandbox=True)
    await workplace.call("bash", command="git init -q . && git config user.name a && git config user.email a@example.org")
    workplace.put({".ullage/ullage.db": "log", ".vscode/settings.json": "{}"})
    works = shutil.which("bwrap") is not None and await find_bubblewrap() is not None
    kept = {name: workplace.text(name) for name in (".ullage/ullage.db", ".vscode/settings.json", ".git/config")}
    outcome = await workplace.call("bash", command="echo inside > a.txt && git add a.txt && git commit -qm a && git log --format=%s")
    assert (outcome.content, workplace.text("a.txt")) == ("a", "inside\n")
    for attack in (*(f"echo broken > {name}" for name in kept), "git config core.fsmonitor x", "mv .git/hooks h", "mv .git g && mv g .git"):
        assert (await workplace.call("bash", command=attack)).is_error is works
    assert ({name: workplace.text(name) for name in kept} == kept) is works

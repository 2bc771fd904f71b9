"""The sandbox's command line, and how the tool uses what is installed: a stand-in program, and the real one where it works."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools.sandbox import find_bubblewrap, sandboxed

STAND_IN = """#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift
{after}
exec "$@"
"""


def install(folder: Path, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program named as bubblewrap first on the path that runs the command and nothing more."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(after=after))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_only_the_workspace_is_writable_and_our_own_folder_is_not(tmp_path: Path) -> None:
    arguments = sandboxed("/usr/bin/bwrap", ["bash", "-c", "true"], [tmp_path])
    line = " ".join(arguments)
    assert line.startswith("/usr/bin/bwrap --ro-bind / / ")
    assert arguments[-4:] == ["--", "bash", "-c", "true"]
    assert line.index(f"--bind-try {tmp_path} {tmp_path}") < line.index(f"--ro-bind-try {tmp_path}/.ullage {tmp_path}/.ullage")
    assert "--die-with-parent" in arguments


async def test_a_write_that_was_blocked_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "", monkeypatch)
    workplace = Workplace(tmp_path, sandbox=True)
    outcome = await workplace.call("bash", command="echo 'touch: Read-only file system'; exit 1")
    assert "The sandbox blocked a write" in outcome.content
    assert outcome.content.endswith("(exit code 1)")


async def test_a_sandbox_that_does_not_work_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "exit 1", monkeypatch)
    assert await find_bubblewrap() is None
    outcome = await Workplace(tmp_path, sandbox=True).call("bash", command="echo plain")
    assert (outcome.content, outcome.is_error) == ("plain", False)


async def test_what_is_installed_here_keeps_writes_inside(tmp_path: Path) -> None:
    """With a working bubblewrap the protected folder stays as it is; without one commands run all the same."""
    workplace = Workplace(tmp_path, sandbox=True)
    workplace.put({".ullage/ullage.db": "log"})
    works = shutil.which("bwrap") is not None and await find_bubblewrap() is not None
    outcome = await workplace.call("bash", command="echo inside > a.txt && echo broken > .ullage/ullage.db")
    assert workplace.text("a.txt") == "inside\n"
    assert (workplace.text(".ullage/ullage.db") == "log\n"[:-1]) is works
    assert outcome.is_error is works

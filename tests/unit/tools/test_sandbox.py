"""How the `bash` tool uses the sandbox: what it says with one and without, and what of the workspace is guarded."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace

STAND_IN = """#!/bin/sh
{before}
while [ "$1" != -- ]; do shift; done; shift
{after}
exec "$@"
"""


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test leaves caches behind."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def install(folder: Path, after: str, monkeypatch: pytest.MonkeyPatch, before: str = "") -> None:
    """Puts a program named as bubblewrap first on the path that runs the command and nothing more."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(after=after, before=before))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def place(tmp_path: Path) -> Path:
    """A workspace folder apart from what the tests put beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def test_a_command_gets_the_guard_of_its_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "", monkeypatch, before=f'echo "$@" >> {tmp_path}/line')
    workplace = Workplace(place(tmp_path), sandbox=True)
    workplace.put({".vscode/settings.json": "{}", ".git/config": "", ".git/hooks/a": ""})
    await workplace.call("bash", command="echo a > a.txt")
    line = (tmp_path / "line").read_text()
    root = workplace.root
    for name in (".vscode", ".git/config", ".git/hooks"):
        assert f"--ro-bind-try {root}/{name} {root}/{name}" in line
    assert line.index(f"--bind-try {root}/.git ") < line.index(f"--ro-bind-try {root}/.git/hooks ")


@pytest.mark.parametrize("said", ["touch: Read-only file system", "could not write config file .git/config: Device or resource busy"])
async def test_a_write_that_was_blocked_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    install(tmp_path, "", monkeypatch)
    workplace = Workplace(place(tmp_path), sandbox=True)
    outcome = await workplace.call("bash", command=f"echo '{said}'; exit 1")
    assert "The sandbox blocked a write" in outcome.content
    assert outcome.content.endswith("(exit code 1)")


async def test_a_sandbox_that_does_not_work_is_not_used_and_the_card_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "echo no namespaces here >&2; exit 1", monkeypatch)
    workplace = Workplace(place(tmp_path), sandbox=True)
    outcome = await workplace.call("bash", command="echo plain")
    assert (outcome.content, outcome.is_error) == ("plain", False)
    need = workplace.tools["bash"].permission({"command": "echo plain"})
    assert need is not None
    assert "not sandboxed: bubblewrap does not work here (no namespaces here)" in need.description


async def test_no_command_runs_without_a_sandbox_that_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    workplace = Workplace(place(tmp_path), sandbox="required")
    outcome = await workplace.call("bash", command="echo plain > ran")
    assert outcome.is_error
    assert "bubblewrap is not installed" in outcome.content
    assert not (workplace.root / "ran").exists()


def test_the_card_says_that_the_sandbox_is_off(tmp_path: Path) -> None:
    need = Workplace(place(tmp_path)).tools["bash"].permission({"command": "make"})
    assert need is not None
    assert need.description == 'Run `make`, not sandboxed: the setting "Ullage › Bash: Sandbox" is off. Set it to auto.'

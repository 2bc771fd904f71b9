"""The `bash` tool where the shell is no Unix shell: what the model is told, what is asked, what is remembered, what is run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ullage.platforms.shells import Shell, shell_for
from ullage.platforms.system import System
from ullage.tools.bash import Bash
from ullage.tools.permission import exact_pattern
from ullage.tools.sandbox.sandbox import Sandbox, SandboxFinder
from ullage.tools.tool import ToolCall
from ullage.workspace.folders import Folders

POWERSHELL = replace(shell_for(System.WINDOWS, lambda name: None, {}), words=("/bin/sh", "-c"), before="", after="")
"""As Windows has it; what runs is the shell of the machine that tests."""

GIT_BASH = shell_for(System.WINDOWS, lambda name: "/bin/bash" if name.endswith(r"\bin\bash.exe") else None, {"ProgramFiles": "C:\\"})

UNIX = shell_for(System.LINUX, lambda name: "/bin/bash", {})


class Machine:
    """The tool in a folder of a machine whose shell can change."""

    def __init__(self, folder: Path, shell: Shell) -> None:
        self.shell = shell
        folders = Folders([folder])
        self.tool = Bash(folders, 30.0, Sandbox(SandboxFinder(), "off", folders), lambda not_in: self.shell)

    async def run(self, line: str) -> tuple[str, bool]:
        outcome = await self.tool.run(ToolCall("toolu_1", {"command": line}, lambda text: None, self.tool.permission({"command": line})))
        return outcome.content, outcome.is_error


@pytest.mark.parametrize(("shell", "told"), [(POWERSHELL, "Windows PowerShell 5.1"), (GIT_BASH, "Git Bash on Windows"), (UNIX, "bash")])
def test_the_model_is_told_which_shell_it_has(tmp_path: Path, shell: Shell, told: str) -> None:
    first = Machine(tmp_path, shell).tool.spec.description.split("\n")[0]
    assert f"The shell is {told}." in first
    assert first.endswith(shell.advice)


@pytest.mark.parametrize("shell", [POWERSHELL, GIT_BASH])
@pytest.mark.parametrize("line", ["ls", "cat a.txt", "git status", "echo hi", "npm test", "cd src && ls"])
def test_nothing_counts_as_harmless_and_only_the_line_itself_is_remembered(tmp_path: Path, shell: Shell, line: str) -> None:
    need = Machine(tmp_path, shell).tool.permission({"command": line})
    assert need is not None
    assert not need.harmless
    assert need.judged == ()
    assert need.parts == exact_pattern(line)


def test_on_unix_the_same_line_is_known_to_only_read(tmp_path: Path) -> None:
    need = Machine(tmp_path, UNIX).tool.permission({"command": "ls"})
    assert need is not None and need.harmless


@pytest.mark.parametrize("line", [r".\build.ps1", r"& sub\build.ps1", "sub/build.ps1", r"powershell -File .\sub\build.ps1"])
def test_what_is_allowed_is_the_script_as_it_is_now(tmp_path: Path, line: str) -> None:
    machine = Machine(tmp_path, POWERSHELL)
    (tmp_path / "sub").mkdir()
    digests: list[str] = []
    for text in ("one", "two"):
        for script in (tmp_path / "build.ps1", tmp_path / "sub" / "build.ps1"):
            script.write_text(text)
        need = machine.tool.permission({"command": line})
        assert need is not None
        digests.append(need.files)
    assert digests[0] and digests[1] and digests[0] != digests[1]


@pytest.mark.parametrize("line", [r"type secrets\.env", "Get-Content secrets/.env", r"gc .\secrets\.env", r"cat 'secrets\.env'"])
def test_files_that_may_not_be_read_are_seen_in_the_line(tmp_path: Path, line: str) -> None:
    need = Machine(tmp_path, POWERSHELL).tool.permission({"command": line})
    assert need is not None
    assert "secrets/.env" in need.names


async def test_a_line_is_not_run_in_another_shell_than_it_was_written_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path, POWERSHELL)
    assert await machine.run("echo one > said; cat said") == ("one", False)
    machine.shell = GIT_BASH
    content, is_error = await machine.run("echo two > said")
    assert is_error
    assert content.startswith(
        "Commands run in Git Bash on Windows from now on, and no longer in Windows PowerShell 5.1, so it was not run."
    )
    assert (tmp_path / "said").read_text() == "one\n"
    assert await machine.run('printf %s "a\\\\b"; cat *') == ("a\\bone", False)

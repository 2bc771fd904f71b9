"""Which shell runs command lines, and that a line reaches it as it was written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from ullage.platforms.shells import LINE_VARIABLE, Language, Shell, shell_for
from ullage.platforms.system import System, system_of

GIT = r"C:\Program Files\Git"
BASH = rf"{GIT}\bin\bash.exe"
OF_WSL = r"C:\Windows\System32\bash.exe"
SEVEN = r"C:\Program Files\PowerShell\7\pwsh.exe"
FIVE = r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe"
WINDOWS = {"PROGRAMFILES": r"C:\Program Files", "LOCALAPPDATA": r"C:\Users\a\AppData\Local", "USERPROFILE": r"C:\Users\a"}


def shell_of(system: System, on_path: Mapping[str, str], *files: str, environment: Mapping[str, str] = WINDOWS) -> Shell:
    """The shell of a machine with these programs on PATH and these files."""
    there = {*files, *on_path.values()}
    return shell_for(system, lambda name: on_path.get(name) or (name if name in there else None), environment)


@pytest.mark.parametrize(
    ("on_path", "files", "program"),
    [
        ({"git": rf"{GIT}\cmd\git.exe", "bash": OF_WSL}, [BASH], BASH),
        ({"bash": rf"{GIT}\usr\bin\bash.exe"}, [BASH], BASH),
        ({"bash": BASH}, [], BASH),
        ({"git": r"D:\tools\git\mingw64\bin\git.exe"}, [r"D:\tools\git\bin\bash.exe"], r"D:\tools\git\bin\bash.exe"),
        ({}, [BASH], BASH),
        ({}, [r"C:\Users\a\AppData\Local\Programs\Git\bin\bash.exe"], r"C:\Users\a\AppData\Local\Programs\Git\bin\bash.exe"),
        ({}, [r"C:\Users\a\scoop\apps\git\current\bin\bash.exe"], r"C:\Users\a\scoop\apps\git\current\bin\bash.exe"),
        ({"git": rf"{GIT}\cmd\git.exe"}, [r"C:\bin\bash.exe", r"C:\Program Files\bin\bash.exe"], FIVE),
        ({"bash": OF_WSL}, [r"C:\Windows\bin\bash.exe"], FIVE),
        ({"bash": r"C:\Users\a\AppData\Local\Microsoft\WindowsApps\bash.exe"}, [], FIVE),
        ({"pwsh": r"D:\pwsh.exe"}, [], r"D:\pwsh.exe"),
        ({}, [SEVEN], SEVEN),
        ({}, [], FIVE),
    ],
)
def test_windows_has_git_bash_else_powershell(on_path: dict[str, str], files: list[str], program: str) -> None:
    shell = shell_of(System.WINDOWS, on_path, *files)
    assert shell.words[0] == program
    assert shell.language is (Language.BASH if program.endswith("bash.exe") else Language.POWERSHELL)
    assert not shell.can_be_judged


@pytest.mark.parametrize("system", [System.LINUX, System.MACOS])
def test_elsewhere_it_is_bash_else_sh(system: System) -> None:
    bash = shell_of(system, {"bash": "/usr/bin/bash"})
    assert (bash.language, bash.command("ls *"), bash.variables("ls *")) == (Language.BASH, ["/usr/bin/bash", "-c", "ls *"], {})
    plain = shell_of(system, {})
    assert (plain.language, plain.command("ls"), plain.title) == (Language.SH, ["/bin/sh", "-c", "ls"], "sh")
    assert bash.can_be_judged and plain.can_be_judged


def test_a_relative_place_of_git_is_not_taken() -> None:
    shell = shell_of(System.WINDOWS, {}, r"Git\bin\bash.exe", environment={"ProgramFiles": ".", "LocalAppData": "x"})
    assert shell.words[0] == FIVE


@pytest.mark.parametrize(
    "line", ['printf %s "a\\\\b"', "printf %s *", "printf '%s' \"it's\"", "printf a\nprintf b", 'printf %s "$HOME"', "printf é"]
)
def test_git_bash_gets_the_line_as_it_is(line: str) -> None:
    """Its words hold nothing of the line; the rest is what any bash does with them."""
    shell = shell_of(System.WINDOWS, {}, BASH)
    assert line not in shell.command(line)
    words = ["/bin/bash", *shell.command(line)[1:]]
    environment = {"HOME": "/home/a", **shell.variables(line)}
    as_it_is = subprocess.run(["/bin/bash", "-c", line], capture_output=True, env={"HOME": "/home/a"}, check=True)
    assert subprocess.run(words, capture_output=True, env=environment, check=True).stdout == as_it_is.stdout != b""


def test_the_line_is_not_in_the_environment_of_what_git_bash_starts() -> None:
    shell = shell_of(System.WINDOWS, {}, BASH)
    words = ["/bin/bash", *shell.command("env")[1:]]
    said = subprocess.run(words, capture_output=True, env=shell.variables("env"), check=True).stdout
    assert LINE_VARIABLE.encode() not in said


def test_powershell_reads_no_profile_and_says_how_it_ended() -> None:
    shell = shell_of(System.WINDOWS, {})
    *words, script = shell.command("npm test")
    assert words == [FIVE, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command"]
    first, line, last = script.split("\n")
    assert "UTF8" in first and line == "npm test" and "$LASTEXITCODE" in last


@pytest.mark.parametrize(
    ("on_path", "words"),
    [
        ({"git": rf"{GIT}\cmd\git.exe"}, ["Git Bash"]),
        ({"pwsh": SEVEN}, ["PowerShell 7", "no bash"]),
        ({}, ["5.1", "no bash", "`&&` and `||` are not"]),
    ],
)
def test_the_model_is_told_what_to_write(on_path: dict[str, str], words: list[str]) -> None:
    shell = shell_of(System.WINDOWS, on_path, *([BASH] if "git" in on_path else []))
    assert all(word in f"{shell.title}. {shell.advice}" for word in words)


def test_the_system_is_known_by_its_name() -> None:
    names = {"win32": System.WINDOWS, "darwin": System.MACOS, "linux": System.LINUX, "freebsd14": System.LINUX}
    assert {name: system_of(name) for name in names} == names
    assert sys.platform != "linux" or system_of(sys.platform) is System.LINUX

"""The shell that runs the agent's command lines: which one it is, what the model is told of it, and how a line reaches it unchanged.

Linux and macOS have bash, else `/bin/sh`. Windows has Git Bash where Git is installed, else PowerShell. The `bash.exe` that Windows brings
itself starts a Linux in WSL, where the paths of the workspace are others: it is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PureWindowsPath

from ullage.platforms.system import System

LINE_VARIABLE = "ULLAGE_LINE"
"""The environment variable by which Git Bash gets its line."""


class Language(StrEnum):
    """The language that a command line is written in."""

    BASH = "bash"
    SH = "sh"
    POWERSHELL = "powershell"


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell that is installed here."""

    language: Language
    title: str
    """Its name, as the model is told it."""
    advice: str
    """Advice for the model that writes for this shell."""
    words: tuple[str, ...]
    """The program, by its absolute path, and what stands before the line."""
    system: System
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)
    """The texts that are put before and after the line."""
    in_variable: bool = False
    """Whether the line goes by `LINE_VARIABLE`, and the words are all of the command."""

    def command(self, line: str) -> list[str]:
        """The words of the command that runs a line in this shell."""
        return list(self.words) if self.in_variable else [*self.words, f"{self.before}{line}{self.after}"]

    def variables(self, line: str) -> dict[str, str]:
        """The environment variables that have to be set for that line."""
        return {LINE_VARIABLE: line} if self.in_variable else {}

    @property
    def can_be_judged(self) -> bool:
        """Whether one can know what a line of this shell does and where its paths lead. The rules are those of a Unix shell and of Unix
        paths."""
        return self.language is not Language.POWERSHELL and self.system is not System.WINDOWS


Find = Callable[[str], str | None]
"""The absolute path of a program on PATH, or of the one that an absolute path names; None if there is none that may be run."""


def shell_for(system: System, find: Find, environment: Mapping[str, str]) -> Shell:
    """The shell that runs command lines on that system."""
    if system is System.WINDOWS:
        return _git_bash(find, environment) or _powershell(find, environment)
    bash = find("bash")
    if bash is not None:
        return Shell(Language.BASH, "bash", "", (bash, "-c"), system)
    return Shell(Language.SH, "sh", "It is no bash: write for a POSIX shell.", ("/bin/sh", "-c"), system)


# Git Bash

_GIT_BASH = "It has the programs of Git for Windows. Write paths with `/`: `C:/work` or `/c/work`; `/tmp` is a folder of its own."

_IN_GIT = r"bin\bash.exe"
"""Where bash lies below the folder of Git. It sets up what the programs in there need, and then starts `usr\\bin\\bash.exe`."""

_UNPACKED = f'eval "unset {LINE_VARIABLE};${LINE_VARIABLE}"'
"""Programs of Git for Windows take words of a command line apart by rules of their own: two backslashes in quotes become one, and `*`
without them becomes names of files. So the line goes by a variable, which nobody takes apart."""


def _git_bash(find: Find, environment: Mapping[str, str]) -> Shell | None:
    places = [*_below_git(find("git")), *_below_git(find("bash")), *_usual_gits(environment)]
    for place in places:
        bash = find(str(place / _IN_GIT))
        if bash is not None:
            return Shell(Language.BASH, "Git Bash on Windows", _GIT_BASH, (bash, "-c", _UNPACKED), System.WINDOWS, in_variable=True)
    return None


_FOLDERS_OF_GIT = ((("cmd",), 1), (("usr", "bin"), 2), (("mingw64", "bin"), 2), (("clangarm64", "bin"), 2), (("bin",), 1))
"""The folders below that of Git in which its programs are, each with the number of its names."""


def _below_git(program: str | None) -> list[PureWindowsPath]:
    """The folder of Git, if the program is one of Git's; else empty. No other folder around it is looked at: others may write there."""
    if program is None:
        return []
    folder = PureWindowsPath(program.lower()).parent
    depth = next((depth for names, depth in _FOLDERS_OF_GIT if folder.parts[-depth:] == names), 0)
    return [PureWindowsPath(program).parents[depth]] if depth else []


def _usual_gits(environment: Mapping[str, str]) -> list[PureWindowsPath]:
    variables = ("ProgramFiles", "ProgramW6432", "ProgramFiles(x86)")
    folders = [PureWindowsPath(value) / "Git" for name in variables if (value := _value(environment, name))]
    own = _value(environment, "LocalAppData")
    home = _value(environment, "UserProfile")
    folders += [PureWindowsPath(own) / "Programs" / "Git"] if own else []
    folders += [PureWindowsPath(home) / "scoop" / "apps" / "git" / "current"] if home else []
    return folders


# PowerShell

_POWERSHELL = (
    "It is no bash: write PowerShell. Several commands stand behind one another with `;`, variables of the environment are `$env:NAME`, "
    "and `2>$null` drops errors."
)

_FIVE = "`&&` and `||` are not there: write `if ($?) { … }`."

_QUIET = ("-NoLogo", "-NoProfile", "-NonInteractive", "-Command")

_UTF_8 = "try { [Console]::OutputEncoding = $OutputEncoding = [Text.UTF8Encoding]::new($false) } catch {}\n"
"""Put before the line: else what PowerShell prints is in the code page of the console."""

_EXIT = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE } exit 1 }"
"""Put after the line: else every failure is exit code 1."""


def _powershell(find: Find, environment: Mapping[str, str]) -> Shell:
    files = _value(environment, "ProgramFiles") or r"C:\Program Files"
    seven = find("pwsh") or find(str(PureWindowsPath(files) / "PowerShell" / "7" / "pwsh.exe"))
    if seven is not None:
        return _power_shell("PowerShell 7 on Windows", _POWERSHELL, seven)
    system = PureWindowsPath(_value(environment, "SystemRoot") or r"C:\Windows") / "System32"
    return _power_shell("Windows PowerShell 5.1", f"{_POWERSHELL} {_FIVE}", str(system / "WindowsPowerShell" / "v1.0" / "powershell.exe"))


def _power_shell(title: str, advice: str, program: str) -> Shell:
    return Shell(Language.POWERSHELL, title, advice, (program, *_QUIET), System.WINDOWS, _UTF_8, _EXIT)


def _value(environment: Mapping[str, str], name: str) -> str:
    """The value of a variable that holds an absolute path; empty if it does not. Upper and lower case of the name count as the same, as on
    Windows."""
    found = next((value for each, value in environment.items() if each.upper() == name.upper()), "")
    return found if PureWindowsPath(found).is_absolute() else ""

"""Names of files that mean something else on Windows, and paths that are too long for it."""

from __future__ import annotations

from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from ullage.platforms.names import LONGEST, openable, trap_in
from ullage.platforms.system import System
from ullage.workspace import folders
from ullage.workspace.folders import Folders, OutsideWorkspace

ROOT = PureWindowsPath(r"C:\work\project")

TRAPS = [
    *[r"\\host\share\a.txt", "//host/share/a.txt", r"\\host\share", r"\\.\PhysicalDrive0", r"\\?\C:\work\project\a.txt", "//./pipe/x"],
    *["C:a.txt", "d:secret"],
    *["NUL", "src/nul.txt", "CON", "con .txt", "Aux.h", "com1", "LPT9.log", "COM¹", "CONIN$"],
    *["a.txt:more", "a.txt::$DATA", "src:x/a.py", ".git::$INDEX_ALLOCATION/config"],
    *["a.txt.", "a.txt ", "src./a.py", ".env. ", "..."],
]

PLAIN = [
    *["a.txt", "src/a.py", r"src\a.py", r"C:\work\project\a.txt", "C:/other/a.txt", "../a.py", "./a.py", ".env", ".", "..", "~/a"],
    *["console.log", "com10", "nullable.py", "auxiliary/a.c", "lpt.txt", "a b.txt", "ü.md", ""],
]


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_of_windows_is_seen_by_its_name(name: str) -> None:
    assert trap_in(name, [ROOT], System.WINDOWS)


@pytest.mark.parametrize("name", PLAIN)
def test_other_names_are_no_traps(name: str) -> None:
    assert trap_in(name, [ROOT], System.WINDOWS) is None


@pytest.mark.parametrize("name", [*TRAPS, *PLAIN])
@pytest.mark.parametrize("system", [System.LINUX, System.MACOS])
def test_elsewhere_they_are_plain_names(name: str, system: System) -> None:
    assert trap_in(name, [PurePosixPath("/work")], system) is None


def test_a_workspace_on_a_share_can_be_worked_in() -> None:
    share = PureWindowsPath(r"\\Host\Share\project")
    assert trap_in(r"\\host\share\project\a.txt", [share], System.WINDOWS) is None
    assert trap_in(r"\\host\other\a.txt", [share], System.WINDOWS)
    assert trap_in(r"\\evil\share\project\a.txt", [share], System.WINDOWS)


LONG = "x" * 120


@pytest.mark.parametrize(
    ("path", "opened"),
    [
        (r"C:\work\a.txt", r"C:\work\a.txt"),
        (rf"C:\{LONG}\{LONG}\a.txt", rf"\\?\C:\{LONG}\{LONG}\a.txt"),
        (rf"\\host\share\{LONG}\{LONG}", rf"\\?\UNC\host\share\{LONG}\{LONG}"),
        (rf"\\?\C:\{LONG}\{LONG}\a.txt", rf"\\?\C:\{LONG}\{LONG}\a.txt"),
    ],
)
def test_a_long_path_is_written_such_that_windows_opens_it(path: str, opened: str) -> None:
    assert openable(PureWindowsPath(path), System.WINDOWS) == opened


def test_the_edge_and_other_systems() -> None:
    paths: list[PurePath] = [PureWindowsPath("C:\\" + "x" * (LONGEST - 3 + more)) for more in (-1, 0)]
    assert [openable(path, System.WINDOWS).startswith("\\\\?\\") for path in paths] == [False, True]
    long = PurePosixPath(f"/{LONG}/{LONG}/{LONG}")
    assert openable(long, System.LINUX) == str(long)


@pytest.mark.parametrize("name", [r"\\host\share\a.txt", "//host/share/a.txt", "NUL", "a.txt:more", "C:a.txt"])
def test_a_trap_is_refused_before_anybody_looks_at_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """To look would send the user's login to that host."""
    workspace = Folders([tmp_path])
    monkeypatch.setattr(folders, "HERE", System.WINDOWS)

    def looked(path: Path) -> Path:
        pytest.fail(f"looked for {path}")

    monkeypatch.setattr(Path, "resolve", looked)
    with pytest.raises(OutsideWorkspace, match="is not a usable path"):
        workspace.resolve(name)

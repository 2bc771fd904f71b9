"""What it costs to look through a workspace before and after a command, beside what nobody can do without.

    .venv/bin/python -m bench scans [FILES]

A folder of so many small files of text in folders of 50, on this disk, with a `.gitignore` of ten patterns. The first scan reads and keeps
all of them. The next ones find that nothing, or one file, has changed. Beside it: a walk of `os.walk` with a `stat` for each file, and
`git status` on the same files, committed. Each is done five times, and the middle one counts; the first scan is done once.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.results import machine, table
from ullage.session.changes.scanning import Scanner
from ullage.store.versions import Versions
from ullage.workspace.folders import Folders

TITLE = "## Looking through the workspace around a command"

FILES = 10_000
TIMES = 5
IGNORED = "*.log\n*.tmp\n/dist/\n/build/\n*.o\n*.so\n.cache/\ncoverage/\n*.class\n!keep.log\n"


def make(folder: Path, files: int) -> None:
    """Text as in sources: some 6,000 bytes a file, of words that come again."""
    chance = random.Random(1)  # noqa: S311 - the same files each time
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz_", k=chance.randrange(2, 12))) for _ in range(2_000)]
    (folder / ".gitignore").write_text(IGNORED)
    for number in range(files):
        inside = folder / f"package{number // 2_500}" / f"module{number // 50}"
        inside.mkdir(parents=True, exist_ok=True)
        lines = (" ".join(chance.choices(words, k=8)) for _ in range(120))
        (inside / f"file{number}.py").write_text("\n".join(lines))


def section(today: str, files: int = FILES) -> str:
    """The section of RESULTS.md."""
    return f"{TITLE}, {today}\n\n{_figures(files)}"


def _figures(files: int) -> str:
    parent = Path(tempfile.mkdtemp(prefix="ullage-scans-"))
    try:
        folder, state = parent / "project", parent / "state"
        folder.mkdir()
        state.mkdir()
        make(folder, files)
        time.sleep(2.5)  # what was written just now is read again
        return _measured(folder, state, files)
    finally:
        shutil.rmtree(parent)


def _measured(folder: Path, state: Path, files: int) -> str:
    versions = Versions.open(state)
    scanner = Scanner(Folders((folder,)), versions)
    walk = _middle(lambda: _walk(folder))
    git = _git(folder)
    first = _seconds(scanner.ahead)
    nothing = _middle(lambda: scanner.before("t", lambda: None))
    changed = folder / "package0" / "module0" / "file0.py"

    def one() -> None:
        changed.write_text(str(time.time_ns()))
        before = scanner.before("t", lambda: None)
        scanner.after("t", before, frozenset())
        scanner.logged("t")

    both = _middle(one)
    again = Scanner(Folders((folder,)), versions)
    restarted = _seconds(again.ahead)
    size = sum(path.stat().st_size for path in state.iterdir())
    text = sum(path.stat().st_size for path in folder.rglob("*.py"))
    rows = [
        (what, f"{seconds * 1000:,.0f} ms", f"{seconds / walk:.1f}", "" if git is None else f"{seconds / git:.1f}")
        for what, seconds in (
            ("os.walk and stat", walk),
            *((("git status", git),) if git is not None else ()),
            ("first scan", first),
            ("next scan, nothing changed", nothing),
            ("before and after a command that changed one file", both),
            ("first scan of the next process", restarted),
        )
    ]
    told = f"{files:,} files, {text / 1e6:,.0f} MB of text; kept in {size / 1e6:,.0f} MB. {machine()}"
    return f"{told}\n\n{table(('what', 'time', 'to the walk', 'to git'), rows)}"


def _walk(folder: Path) -> int:
    return sum(os.lstat(f"{inside}/{name}").st_size for inside, _, names in os.walk(folder) for name in names)


def _git(folder: Path) -> float | None:
    """None where there is no git."""
    git = shutil.which("git")
    if git is None:
        return None

    def run(*words: str) -> None:
        who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        subprocess.run((git, *who, *words), cwd=folder, check=True, capture_output=True)

    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "all")
    run("status", "--porcelain")
    return _middle(lambda: run("status", "--porcelain"))


def _seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def _middle(do: Callable[[], object]) -> float:
    return statistics.median(_seconds(do) for _ in range(TIMES))

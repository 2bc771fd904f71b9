"""Programs are started in one room, and everybody who asks for one is known: read from the source itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ullage
from tests.trees import below
from ullage.processes.start import Asker

ROOT = Path(ullage.__file__).parent
ROOM = ROOT / "processes"

CALLERS = {
    ("mcp_servers/starting.py", "start_talking", Asker.MCP_SERVER),
    ("replay/cluster/connecting.py", "local_cluster", Asker.REPLAY),
    ("replay/file_work.py", "process_apart", Asker.REPLAY),
    ("replay/file_work.py", "worker_pool", Asker.REPLAY),
    ("tools/process.py", "start_for_user", Asker.SHELL),
    ("tools/sandbox/bubblewrap.py", "start", Asker.SANDBOX_PROBE),
    ("tools/sandbox/seatbelt.py", "start", Asker.SANDBOX_PROBE),
    ("tools/sandbox/network/doorway.py", "start", Asker.SANDBOX_NETWORK),
    ("tools/line_matching.py", "start", Asker.PATTERN_MATCHER),
    ("tools/search_matching.py", "start", Asker.PATTERN_MATCHER),
    ("tools/search.py", "start", Asker.RIPGREP),
    ("workspace/git_status.py", "start", Asker.CHANGED_FILES),
    ("workspace/worktrees.py", "start", Asker.WORKTREES),
}
"""Every place that has a program started, and who asks there."""

STARTERS = {"start", "start_for_user", "start_talking", "worker_pool", "process_apart", "local_cluster"}

FORBIDDEN_MODULES = {
    "subprocess",
    "asyncio.subprocess",
    "pty",
    "multiprocessing",
    "concurrent.futures.process",
    "_posixsubprocess",
    "webbrowser",
}
"""Modules that start processes."""

FORBIDDEN_NAMES = {
    "ProcessPoolExecutor",
    "LocalCluster",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
    "posix_spawn",
    "posix_spawnp",
    "popen",
    "startfile",
    "forkpty",
}
"""Functions that start processes, whatever they are called on."""

FORBIDDEN_OF_THE_SYSTEM = FORBIDDEN_NAMES | {
    "system",
    "fork",
    *(f"{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
"""The same of `os` and of what `ctypes` loads; elsewhere such names mean something else."""

SYSTEM = {"os", "posix", "nt"}

ALLOWED = {("replay/file_work.py", "concurrent.futures.process")}
"""It catches what a broken pool raises."""


WORDS = re.compile(rf"\b(?:{'|'.join(sorted({name.split('.')[-1] for name in FORBIDDEN_OF_THE_SYSTEM | FORBIDDEN_MODULES}))})\b")
"""Without one of them in its text a file has nothing to look for, and most have none."""


def uses(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    for node in below(ast.parse(text)) if WORDS.search(text) else ():
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in FORBIDDEN_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module in FORBIDDEN_MODULES:
                yield node.module
            forbidden = FORBIDDEN_OF_THE_SYSTEM if node.module in SYSTEM else FORBIDDEN_NAMES
            yield from (name.name for name in node.names if name.name in forbidden or f"{node.module}.{name.name}" in FORBIDDEN_MODULES)
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            forbidden = FORBIDDEN_OF_THE_SYSTEM if owner in SYSTEM or "CDLL" in owner else FORBIDDEN_NAMES
            if node.attr in forbidden or f"{owner}.{node.attr}" in FORBIDDEN_MODULES:
                yield f"{owner}.{node.attr}"


def callers() -> Iterator[tuple[str, str, object]]:
    for file in OUTSIDE:
        text = file.read_text(encoding="utf-8")
        imports_room = "ullage.processes.start" in text
        for node in below(ast.parse(text)) if imports_room or "Asker" in text else ():
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).split(".")[-1]
            asker = ast.unparse(node.args[0]) if node.args else ""
            if name in STARTERS and (asker.startswith("Asker.") or imports_room):
                kind, _, member = asker.partition(".")
                yield str(file.relative_to(ROOT).as_posix()), name, Asker[member] if kind == "Asker" else asker


OUTSIDE = [file for file in sorted(ROOT.rglob("*.py")) if not file.is_relative_to(ROOM)]


def test_programs_are_started_in_one_room_alone():
    found = {(str(file.relative_to(ROOT).as_posix()), use) for file in OUTSIDE for use in uses(file)}
    assert found == ALLOWED


def test_every_caller_is_known_with_its_asker():
    assert set(callers()) == CALLERS


def test_every_asker_has_a_caller():
    assert {asker for _, _, asker in CALLERS} == set(Asker)


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from subprocess import run",
        "from asyncio import subprocess",
        "import asyncio\nasync def f(): await asyncio.create_subprocess_exec('git')",
        "async def f(loop): await loop.subprocess_exec(object, 'git')",
        "import os\nos.system('git')",
        "from os import execv",
        "import os\nos.posix_spawn('git', [], {})",
        "import ctypes\nctypes.CDLL(None).system(b'git')",
        "from concurrent.futures import ProcessPoolExecutor",
        "import multiprocessing",
        "import asyncio\nasyncio.subprocess.DEVNULL",
    ],
)
def test_the_search_finds_what_starts_a_program(source: str, tmp_path: Path):
    file = tmp_path / "module.py"
    file.write_text(source)
    assert list(uses(file))

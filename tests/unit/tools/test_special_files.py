"""Pipes, sockets and devices under names of the workspace: told as such by every tool, and never waited for."""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import ullage
from tests.trees import below
from tests.unit.tools.workplace import TAKE_A_PATH, Workplace, needed
from ullage.tools.sandbox.guarded import guarded

ENGINES = ["python", *(["ripgrep"] if shutil.which("rg") else [])]


@pytest.fixture
def special(workplace: Workplace, tmp_path: Path) -> Iterator[Workplace]:
    workplace.put({"src/text.py": "level = 1\n"})
    os.mkfifo(workplace.root / "src/pipe.py")
    listening = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(workplace.root / "src")  # the path of a socket may be no longer than 108 bytes
    listening.bind("socket.py")
    os.chdir(before)
    with listening:
        yield workplace


@pytest.mark.parametrize("name", ["src/pipe.py", "src/socket.py"])
@pytest.mark.parametrize("tool", TAKE_A_PATH)
async def test_a_tool_says_what_it_is_and_waits_for_nobody(tool: str, name: str, special: Workplace) -> None:
    outcome = await special.call(tool, **needed(special.tools[tool]) | {"path": name})
    assert outcome.is_error
    assert "not a regular file" in outcome.content


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_search_in_its_folder_passes_it_over(engine: str, special: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "python":
        monkeypatch.setenv("PATH", os.devnull)
    assert (await special.call("search", pattern="level", path="src")).content == "src/text.py:1: level = 1"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "name",
    [
        ".gitignore",
        ".ignore",
        ".rgignore",
        ".git/info/exclude",
        "src/.gitignore",
        "left/.gitignore",
        "node_modules/.gitignore",
        "../.gitignore",
    ],
)
async def test_a_search_does_not_wait_for_ignore_rules_in_a_pipe(
    name: str, engine: str, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "python":
        monkeypatch.setenv("PATH", os.devnull)
    workplace.put({"src/text.py": "level = 1\n", "node_modules/text.js": "level = 3\n", "left/text.py": "level = 4\n"})
    if name != ".gitignore":
        workplace.put({".gitignore": "left/\n"})
    (workplace.root / name).parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(workplace.root / name)
    found = (await workplace.call("search", pattern="level", path="src")).content.splitlines()
    assert "src/text.py:1: level = 1" in found
    found = (await workplace.call("search", pattern="level")).content.splitlines()
    assert "src/text.py:1: level = 1" in found
    assert ("left/text.py:1: level = 4" in found) == (name == ".gitignore")
    assert not any(line.startswith(("(", "node_modules")) for line in found)


@pytest.mark.parametrize("engine", ENGINES)
async def test_nor_where_a_link_leads_to_a_pipe(engine: str, special: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "python":
        monkeypatch.setenv("PATH", os.devnull)
    (special.root / ".gitignore").symlink_to(special.root / "src/pipe.py")
    assert (await special.call("search", pattern="level")).content == "src/text.py:1: level = 1"


async def test_a_list_marks_it(special: Workplace) -> None:
    assert (await special.call("list_files", path="src")).content.splitlines() == [
        "src/pipe.py (a pipe, socket or device)",
        "src/socket.py (a pipe, socket or device)",
        "src/text.py",
    ]


@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude", "src/.gitignore"])
async def test_ignore_rules_in_a_pipe_are_none(name: str, workplace: Workplace) -> None:
    workplace.put({"src/text.py": "level = 1\n", ".git/HEAD": ""})
    (workplace.root / name).parent.mkdir(exist_ok=True, parents=True)
    os.mkfifo(workplace.root / name)
    assert "src/text.py" in (await workplace.call("list_files")).content


@pytest.mark.parametrize("name", [".git", ".git/commondir", ".git/modules/a/commondir"])
def test_what_guards_git_does_not_wait_either(name: str, tmp_path: Path) -> None:
    if name != ".git":
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / name)
    guarded([tmp_path])


OPENERS = {"open", "read_bytes", "read_text", "fdopen"}
MAY_OPEN = {
    "tools/tool.py": "the package's own files",
    "session/prelude.py": "the package's own files",
    "workspace/regular_files.py": "the one way",
    "workspace/media_file.py": "Pillow, of bytes",
    "lsp/transport.py": "the null device",
    "acp/stdio.py": "the null device, and what the editor writes",
    "session/sessions/earlier_store.py": "the copy that it makes",
    "session/coming_over/course.py": "its own notes",
    "processes/reaper.py": "what the system says of processes",
    "tools/process.py": "what the system says of processes",
    "tools/sandbox/bubblewrap.py": "what the system says of processes",
    "tools/sandbox/network/enter.py": "the network of a process",
    "tools/sandbox/network/doorway.py": "where a process listens, as the system says",
}
"""Methods of paths and modules that open files, where `regular_files.open_regular` is not used, and what they open."""


def test_files_of_a_workspace_are_opened_in_one_way() -> None:
    root = Path(ullage.__file__).parent
    found: set[str] = set()
    for folder in ("tools", "workspace", "session", "lsp", "acp", "processes"):
        for file in sorted((root / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            for node in below(ast.parse(text)) if any(opener in text for opener in OPENERS) else ():
                if not isinstance(node, ast.Call):
                    continue
                is_method = isinstance(node.func, ast.Attribute) and node.func.attr in OPENERS
                owner = ast.unparse(node.func).rpartition(".")[0]
                if (is_method and owner not in ("sessions", "place.sessions", "self._open", "LogStore")) or ast.unparse(
                    node.func
                ) == "open":
                    found.add(file.relative_to(root).as_posix())
    assert found == MAY_OPEN.keys()

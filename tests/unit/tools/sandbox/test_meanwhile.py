"""What a command newly makes is there until the command has ended. Nothing of ours obeys it in this time."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.unit.tools.workplace import Workplace
from ullage.tools.sandbox.bubblewrap import Bubblewrap
from ullage.tools.sandbox.guarded import guarded
from ullage.tools.tool import ToolCall
from ullage.workspace import git_status
from ullage.workspace.git_status import uncommitted
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.watcher import FileChange, watch

COMMAND = """
echo ../elsewhere/.git > .git/commondir
mkdir .git/hooks && cp trap.sh .git/hooks/post-index-change && cp trap.sh .git/hooks/fsmonitor-watchman
echo made
until [ -e go ]; do sleep 0.05; done
"""


def make_repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_text("# a\n")
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    for words in (["init", "-q"], ["add", "a.py"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    shutil.rmtree(folder / ".git/hooks", ignore_errors=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository, and one inside of it whose configuration runs a trap for each file."""
    made = tmp_path.resolve() / "work"
    make_repository(made)
    make_repository(made / "elsewhere")
    trap = made / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {made / 'sprung'}\ncat\n")
    trap.chmod(0o755)
    for key, value in {"filter.trap.clean": trap, "filter.trap.required": "true", "core.fsmonitor": trap}.items():
        subprocess.run(["git", "config", "--file", made / "elsewhere/.git/config", key, value], check=True)
    (made / ".gitattributes").write_text("* filter=trap\n")
    (made / "a.py").write_text("! a\n")
    return made


def nothing_speaks_against(_: Path) -> str:
    return ""


async def test_what_git_would_obey_is_not_obeyed_while_it_is_there(
    root: Path, bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace = Workplace(root, sandbox="required")
    bash = workplace.tools["bash"]
    said: list[str] = []
    seen: list[FileChange] = []
    made, begun, noticed, stop = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    def hear(text: str) -> None:
        said.append(text)
        if "made" in "".join(said):
            made.set()

    def see(change: FileChange) -> None:
        seen.append(change)
        if change.path == root / "go":
            noticed.set()

    watching = asyncio.create_task(watch([root], OwnWrites(), see, said.append, stop, on_ready=begun.set))
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        running = asyncio.create_task(bash.run(ToolCall("toolu_1", {"command": COMMAND}, hear, bash.permission({"command": COMMAND}))))
        await made.wait()
        assert (root / ".git/commondir").exists()

        assert await uncommitted(root, PATIENCE) == ()
        monkeypatch.setattr(git_status, "_why_not", nothing_speaks_against)  # as if it had been made just after the look
        assert all(path.is_relative_to(root) for path in await uncommitted(root, PATIENCE))
        guard = guarded([root])
        assert root / ".git/hooks" in guard.read_only, "another command cannot change it"
        assert all(path.is_relative_to(root) for path in (*guard.read_only, *guard.held))
        other = await workplace.call("bash", command="cat .git/commondir; echo else > .git/commondir")
        assert "../elsewhere/.git" in other.content

        (root / "go").touch()
        outcome = await running
        await noticed.wait()
        stop.set()
        await watching
    assert "It made .git/commondir" in outcome.content
    assert [path for path in (root / ".git/commondir", root / ".git/hooks", root / "sprung") if path.exists()] == []
    assert [change.path for change in seen if ".git" in change.path.parts] == []

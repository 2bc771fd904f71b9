"""What commands may not write within the workspace, found by what real git makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ullage.tools.sandbox.guarded import Guarded, guarded


def git(folder: Path, *arguments: str) -> None:
    """Runs git there, as somebody."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With one commit."""
    folder = tmp_path / "tank"
    folder.mkdir()
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "a")
    return folder


def test_nothing_is_guarded_where_nothing_is(tmp_path: Path) -> None:
    assert guarded([tmp_path, tmp_path / "gone"]) == Guarded()
    assert guarded([]) == Guarded()


def test_what_the_editor_and_we_obey(tmp_path: Path) -> None:
    for name in (".vscode", ".ullage", "src"):
        (tmp_path / name).mkdir()
    (tmp_path / "tanks.code-workspace").write_text("{}")
    assert guarded([tmp_path]) == Guarded((tmp_path / ".ullage", tmp_path / ".vscode", tmp_path / "tanks.code-workspace"))


def test_a_repository_keeps_its_hooks_and_config_and_cannot_be_moved_away(repository: Path) -> None:
    folder = repository / ".git"
    assert guarded([repository]) == Guarded((folder / "hooks", folder / "config"), (folder,))


def test_a_repository_without_hooks(repository: Path) -> None:
    folder = repository / ".git"
    (folder / "hooks").rename(repository / "hooks")
    assert guarded([repository]).read_only == (folder / "config",)


def test_a_worktree_leads_to_the_repository_that_it_belongs_to(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "other"))
    pointer, common = tmp_path / "other" / ".git", repository / ".git"
    own = common / "worktrees" / "other"
    assert pointer.is_file()
    found = guarded([tmp_path / "other"])
    assert set(found.read_only) == {pointer, common / "hooks", common / "config", own / "commondir"}
    assert found.held == (common, common / "worktrees", own)
    assert own / "commondir" in guarded([repository]).read_only  # else a command here would say what git reads over there


def test_submodules_and_theirs(repository: Path, tmp_path: Path) -> None:
    for name in ("outer", "inner"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init")
        git(tmp_path / name, "commit", "--allow-empty", "-m", "a")
    git(tmp_path / "outer", "submodule", "add", str(tmp_path / "inner"), "in")
    git(tmp_path / "outer", "commit", "-m", "b")
    git(repository, "submodule", "add", str(tmp_path / "outer"), "libs/outer")
    git(repository, "submodule", "update", "--init", "--recursive")
    modules = repository / ".git" / "modules"
    outer = modules / "libs" / "outer"
    inner = outer / "modules" / "in"
    found = guarded([repository])
    for folder in (repository / ".git", outer, inner):
        assert {folder / "hooks", folder / "config"} <= set(found.read_only)
    assert found.held == (repository / ".git", modules, modules / "libs", outer, outer / "modules", inner)
    alone = guarded([repository / "libs" / "outer"])
    assert {repository / "libs" / "outer" / ".git", outer / "hooks", outer / "config", inner / "config"} <= set(alone.read_only)


def test_links_are_followed(repository: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (repository / ".git" / "hooks").rename(shared)
    (repository / ".git" / "hooks").symlink_to(shared)
    (repository / ".vscode").symlink_to("nowhere")
    assert guarded([repository]).read_only == (shared, repository / ".git" / "config")


@pytest.mark.parametrize(
    "said", ["", "gitdir:", "gitdir: ", "gitdir: nowhere\n", "nothing", "gitdir: .git\n", "gitdir: \x00\n", "\xff" * 9000]
)
def test_a_pointer_that_leads_nowhere(tmp_path: Path, said: str) -> None:
    (tmp_path / ".git").write_text(said, "latin-1")
    assert guarded([tmp_path]) == Guarded((tmp_path / ".git",))


@pytest.mark.parametrize("said", ["", "nowhere", "HEAD", "\x00"])
def test_a_common_folder_that_leads_nowhere(repository: Path, said: str) -> None:
    (repository / ".git" / "commondir").write_text(said)
    folder = repository / ".git"
    assert guarded([repository]).read_only == (folder / "hooks", folder / "config", folder / "commondir")


def test_a_link_that_leads_to_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(tmp_path / ".git")
    (tmp_path / ".vscode").symlink_to(tmp_path / ".vscode")
    assert guarded([tmp_path]) == Guarded()

"""What a command sees: of the home folder what tools need, of a worktree its repository, and of both nothing on a workspace's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.tools.sandbox.confinement import view


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for name in (
        ".pyenv/shims",
        ".pyenv/versions",
        ".ssh",
        ".cargo/bin",
        ".docker/bin",
        "tools/node/bin",
        "tools/node/lib",
        "work",
        "main",
    ):
        (folder / name).mkdir(parents=True)
    return folder


def shown(home: Path, path: str = "", *roots: Path) -> set[str]:
    """Names within the home folder."""
    seen = view(home, roots or [home / "work"], {"PATH": path})
    return {place.relative_to(home).as_posix() for _, place in seen.shown if place.is_relative_to(home)}


def test_of_the_home_folder_toolchains_are_there(home: Path) -> None:
    assert shown(home) == {".pyenv", ".cargo/bin"}


def test_what_path_names_is_there(home: Path) -> None:
    assert shown(home, f"{home}/tools/node/bin:{home}/.docker/bin:{home}:{home}/../x:relative") == {
        ".pyenv",
        ".cargo/bin",
        "tools/node/bin",
        "tools/node",
        ".docker/bin",
    }


@pytest.mark.parametrize(("text", "is_there"), [("[user]\n\tname = a\n", True), ("[url 'https://t0ken@example.org']\n\tx = y\n", False)])
def test_the_configuration_of_git_is_there_unless_it_holds_a_secret(home: Path, text: str, is_there: bool) -> None:
    (home / ".gitconfig").write_text(text)
    assert (".gitconfig" in shown(home)) is is_there


def test_a_worktree_sees_its_repository_and_no_other_folder(home: Path) -> None:
    own = home / "main" / ".git" / "worktrees" / "work"
    own.mkdir(parents=True)
    (home / "work" / ".git").write_text(f"gitdir: {own}\n")
    assert "main/.git" not in shown(home)
    (own / "gitdir").write_text(f"{home}/work/.git\n")
    assert "main/.git" in shown(home)
    (own / "gitdir").write_text(f"{home}/elsewhere/.git\n")
    assert "main/.git" not in shown(home)


def test_secrets_are_masked_where_the_home_folder_is_the_workspace(home: Path) -> None:
    assert home / ".ssh" in view(home, [home], {}).masked
    assert home / ".ssh" not in view(home, [home / ".ssh"], {}).masked

"""What a command sees: of the home folder what tools need, of a worktree its repository, and of both nothing on a workspace's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.tools.sandbox.bubblewrap import Bubblewrap
from ullage.tools.sandbox.confinement import view
from ullage.tools.sandbox.sandbox import Sandbox, SandboxFinder
from ullage.workspace.folders import Folders


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


async def test_what_is_the_servers_own_is_hidden_before_it_is_there(
    tmp_path: Path, bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a home folder that is opened: nothing was allowed yet, so there is no folder that tells of it."""
    home = tmp_path.resolve() / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    private, elsewhere = home / ".local/state/ullage", tmp_path.resolve() / "elsewhere/state"
    sandbox = Sandbox(SandboxFinder(), "required", Folders([home], None, [private, elsewhere]))
    for hidden in (sandbox.prepare(bubblewrap, ["true"], {}), sandbox.prepare_reading(bubblewrap, ["true"], {})):
        async with hidden as prepared:
            mounts = list(zip(prepared.command, prepared.command[1:], strict=False))
            assert ("--tmpfs", str(private)) in mounts
    assert (private.is_dir(), elsewhere.exists()) == (True, False)


@pytest.mark.parametrize("opened", ["ullage", "ullage/workspaces"])
async def test_a_folder_of_the_server_that_is_opened_is_only_read(
    tmp_path: Path, bubblewrap: Bubblewrap, opened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    private = tmp_path.resolve() / "ullage"
    root = private.parent / opened
    root.mkdir(parents=True)
    sandbox = Sandbox(SandboxFinder(), "required", Folders([root], None, [private]))
    async with sandbox.prepare(bubblewrap, ["true"], {}) as prepared:
        line = " ".join(prepared.command)
        assert f" --ro-bind {root} {root} " in line
        assert f" --bind {root} {root} " not in line

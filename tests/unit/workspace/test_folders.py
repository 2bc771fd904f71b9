"""Containment: what the agent can name, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.store.folder import READABLE
from ullage.workspace.folders import Folders, OutsideWorkspace, RecordsFolder


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    root, second, outside = tmp_path / "work", tmp_path / "second", tmp_path / "outside"
    for folder in (root / "src", second, outside, root / ".ullage" / "tool-results"):
        folder.mkdir(parents=True)
    (outside / "secret.txt").write_text("secret")
    (root / ".ullage" / "ullage.db").write_text("")
    (root / "escape").symlink_to(outside)
    (root / "escape.txt").symlink_to(outside / "secret.txt")
    (root / "database").symlink_to(root / ".ullage" / "ullage.db")
    (root / "inside").symlink_to(root / "src")
    (root / "loop").symlink_to(root / "loop")
    kept = tmp_path / "state" / "workspaces" / "work-1"
    (kept / "tool-results").mkdir(parents=True)
    (kept / "ullage.db").write_text("")
    (kept / "media").symlink_to(outside)
    (root / "record").symlink_to(kept / "ullage.db")
    (root / "result").symlink_to(kept / "tool-results")
    return Folders((root, second), RecordsFolder(kept, READABLE), (tmp_path / "state", second / "own"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("src/tank.py", "src/tank.py"),
        ("./src/../src/tank.py", "src/tank.py"),
        (".", "."),
        ("inside/tank.py", "src/tank.py"),
        ("new/deep/file.py", "new/deep/file.py"),
    ],
)
def test_names_lead_to_places_inside(folders: Folders, name: str, shown: str) -> None:
    assert folders.show(folders.resolve(name)) == shown


def test_a_file_of_another_folder_is_shown_so_that_it_can_be_named_again(folders: Folders, tmp_path: Path) -> None:
    path = folders.resolve(str(tmp_path / "second" / "lib.py"))
    assert folders.contains(path)
    assert folders.resolve(folders.show(path)) == path


def test_a_place_is_named_by_its_workspace_folder_and_is_said_to_be_outside_of_them_all(folders: Folders, tmp_path: Path) -> None:
    first, second = folders.roots
    assert (folders.named(first), folders.named(first / "src")) == (first.name, f"{first.name}/src")
    assert folders.named(second / "x") == f"{second.name}/x"
    assert folders.named(tmp_path / "elsewhere") is None
    twins = Folders((tmp_path / "one" / "app", tmp_path / "two" / "app"))
    assert twins.named(twins.roots[1]) == (tmp_path / "two" / "app").resolve().as_posix(), "two have the name, so it says which"


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../outside/secret.txt",
        "/etc/passwd",
        "~/x",
        "escape/secret.txt",
        "escape.txt",
        "src/../../outside/secret.txt",
        "database",
        ".ullage",
        ".ullage/ullage.db",
        ".ULLAGE/ullage.db",
        ".ullage/tool-results/../ullage.db",
        ".ullage/nothing/a.txt",
        ".ullage/media/secret.txt",
        "src/.ullage/tool-results/a.txt",
        "record",
        "../state/workspaces/work-1",
        "../state/workspaces/work-1/ullage.db",
        "../state/workspaces/work-1/tool-results/../ullage.db",
        "../state/workspaces/work-2/tool-results/a.txt",
        "../STATE/state.json",
        "../second/own/state.json",
        "../second/OWN/state.json",
        "loop",
        "a\0b",
    ],
)
def test_names_that_lead_outside_are_refused_by_name(folders: Folders, name: str) -> None:
    with pytest.raises(OutsideWorkspace) as refusal:
        folders.resolve(name)
    assert repr(name)[1:-1] in str(refusal.value)


@pytest.mark.parametrize("folder", ["tool-results", "transcripts"])
@pytest.mark.parametrize("name", ["{kept}/{folder}/a.txt", ".ullage/{folder}/a.txt", "./src/../.ullage/{folder}/a.txt"])
def test_own_records_can_be_read_but_not_written(folders: Folders, folder: str, name: str) -> None:
    assert folders.kept is not None
    named = name.format(kept=folders.kept.folder, folder=folder)
    path = folders.kept.folder / folder / "a.txt"
    assert folders.resolve(named) == path == folders.resolve(folders.show(path))
    with pytest.raises(OutsideWorkspace, match="never changed"):
        folders.resolve_for_writing(named)


def test_what_a_link_in_the_workspace_leads_to_is_never_written(folders: Folders) -> None:
    with pytest.raises(OutsideWorkspace, match="never changed"):
        folders.resolve_for_writing("result/a.txt")


def test_in_an_open_home_folder_the_servers_own_folders_are_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "state" / "workspaces" / "home-1"
    folders = Folders((tmp_path,), RecordsFolder(kept, READABLE), (tmp_path / "state",))
    for name in ("state/state.json", "state/workspaces/home-1/ullage.db", "state/workspaces/other-2/tool-results/a.txt", "STATE/x"):
        assert folders.hides(tmp_path / name)
        with pytest.raises(OutsideWorkspace, match="belongs to Ullage"):
            folders.resolve_for_writing(name)
    assert not folders.hides(kept / "tool-results" / "a.txt")
    assert not folders.hides(tmp_path / "project" / "a.py")


def test_a_folder_that_is_ullages_own_hides_its_database_too(tmp_path: Path) -> None:
    (tmp_path / ".ullage").mkdir()
    with pytest.raises(OutsideWorkspace):
        Folders((tmp_path / ".ullage",)).resolve("ullage.db")


def test_without_a_folder_everything_says_so() -> None:
    folders = Folders(())
    assert folders.first is None
    with pytest.raises(OutsideWorkspace, match="No folder is open"):
        folders.resolve("a.py")


@pytest.mark.parametrize(
    ("removed", "added", "left"),
    [
        ([], ["c"], ["a", "b", "c"]),
        (["b"], [], ["a"]),
        (["b"], ["c"], ["a", "c"]),
        ([], ["b"], ["a", "b"]),
        (["other"], [], ["a", "b"]),
        (["a"], ["c"], []),
    ],
)
def test_folders_come_and_go(removed: list[str], added: list[str], left: list[str], tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    folders = Folders([tmp_path / "a", tmp_path / "b"])
    folders.follow([tmp_path / name for name in removed], [tmp_path / name for name in added])
    assert [root.name for root in folders.roots] == left

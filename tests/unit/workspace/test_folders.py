"""Containment: what the agent can name, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.workspace.folders import Folders, OutsideWorkspace


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
    return Folders((root, second))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("src/tank.py", "src/tank.py"),
        ("./src/../src/tank.py", "src/tank.py"),
        (".", "."),
        ("inside/tank.py", "src/tank.py"),
        ("new/deep/file.py", "new/deep/file.py"),
        (".ullage/tool-results/a.txt", ".ullage/tool-results/a.txt"),
        (".ullage/transcripts/a.jsonl", ".ullage/transcripts/a.jsonl"),
    ],
)
def test_names_lead_to_places_inside(folders: Folders, name: str, shown: str) -> None:
    assert folders.show(folders.resolve(name)) == shown


def test_a_file_of_another_folder_is_shown_so_that_it_can_be_named_again(folders: Folders, tmp_path: Path) -> None:
    path = folders.resolve(str(tmp_path / "second" / "lib.py"))
    assert folders.contains(path)
    assert folders.resolve(folders.show(path)) == path


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
        "loop",
        "a\0b",
    ],
)
def test_names_that_lead_outside_are_refused_by_name(folders: Folders, name: str) -> None:
    with pytest.raises(OutsideWorkspace) as refusal:
        folders.resolve(name)
    assert repr(name)[1:-1] in str(refusal.value)


def test_own_records_can_be_read_but_not_written(folders: Folders) -> None:
    with pytest.raises(OutsideWorkspace, match="never changed"):
        folders.resolve_for_writing(".ullage/tool-results/a.txt")


def test_a_folder_that_is_ullages_own_hides_its_database_too(tmp_path: Path) -> None:
    (tmp_path / ".ullage").mkdir()
    with pytest.raises(OutsideWorkspace):
        Folders((tmp_path / ".ullage",)).resolve("ullage.db")


def test_without_a_folder_everything_says_so() -> None:
    folders = Folders(())
    assert folders.first is None
    with pytest.raises(OutsideWorkspace, match="No folder is open"):
        folders.resolve("a.py")

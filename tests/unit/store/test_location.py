"""Where what is kept of a workspace lies, and where it cannot."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ullage.store.errors import StoreFailed
from ullage.store.folder import VARIABLE, BadLocation, folder_of, prepare_for, store_location, workspaces_in


@pytest.mark.parametrize(
    ("setting", "variable", "expected"), [("", "/of/variable", "/of/variable"), ("/of/setting", "/of/variable", "/of/setting")]
)
def test_the_setting_comes_before_the_environment(setting: str, variable: str, expected: str) -> None:
    assert store_location(setting, {VARIABLE: variable}) == Path(expected).resolve()


def test_else_it_is_the_systems_place_for_state() -> None:
    assert store_location("", {}).name == "ullage"


@pytest.mark.parametrize("name", ["store", "./store", "../store", "a\0b", "~nobody-of-this-name/x"])
def test_what_is_no_absolute_path_is_refused(name: str) -> None:
    for setting, environment in ((name, {}), ("", {VARIABLE: name})):
        with pytest.raises(BadLocation, match="absolute path"):
            store_location(setting, environment)


def test_a_place_in_the_workspace_is_refused_and_one_in_an_open_home_folder_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [tmp_path / "project", tmp_path / "second"]
    for location in (roots[0], roots[0] / "store", roots[1] / "a" / "b"):
        with pytest.raises(BadLocation, match="lies in the workspace folder"):
            prepare_for(roots[0], location, roots)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert prepare_for(tmp_path, tmp_path / "store", [tmp_path]).is_dir()


def test_folders_are_the_users_alone_and_say_whose_they_are(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "project", tmp_path / "b" / "project"
    kept = [prepare_for(each, tmp_path / "store", [each]) for each in (first, second)]
    assert len(set(kept)) == 2
    assert all(folder.name.startswith("project-") for folder in kept)
    assert workspaces_in(tmp_path / "store") == dict(zip((first, second), kept, strict=True))
    for folder in (*kept, kept[0].parent, tmp_path / "store"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", "locks", "unfinished", "tool-results", "media", "transcripts"])
def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    workspace, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    folder = folder_of(workspace, tmp_path / "store")
    link = folder / name if name else folder
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    with pytest.raises(StoreFailed, match="is a link"):
        prepare_for(workspace, tmp_path / "store", [workspace])
    assert list(outside.iterdir()) == []

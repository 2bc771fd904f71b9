"""What starts by itself is found however deep it lies; what was listed is not listed again, unless it has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ullage.tools import steering
from ullage.tools.sandbox.guarded import not_looked_through, seen_before, take_back
from ullage.tools.steering import StartingFiles

DEEP = Path("a/b/c/d/e/f/g/h")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ws" / DEEP).mkdir(parents=True)
    return tmp_path / "ws"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that are listed, by name."""
    names: list[str] = []
    listing = os.scandir

    def counted(folder: str) -> object:
        names.append(Path(folder).name)
        return listing(folder)

    monkeypatch.setattr(steering.os, "scandir", counted)
    return names


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_it_is_found_however_deep_it_lies(root: Path) -> None:
    deep, high = put(root / DEEP / ".vscode" / "tasks.json").parent, put(root / "a" / "AGENTS.md")
    put(root / "a" / "node_modules" / "x" / ".envrc")
    (root / "a" / "link").symlink_to(root / "a" / "b", target_is_directory=True)
    assert StartingFiles().below(root) == [high, deep]


def test_only_what_has_changed_is_listed_again(root: Path, listed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "SETTLED_NANOSECONDS", -(10**18))
    known = StartingFiles()
    known.below(root)
    assert listed == ["ws", *DEEP.parts]
    listed.clear()
    known.below(root)
    assert listed == []
    there = (root / "a" / "b").stat()
    (root / "a" / "b").chmod(0o750)
    os.utime(root / "a" / "b", ns=(there.st_atime_ns, there.st_mtime_ns))  # as one does who hides a change
    known.below(root)
    assert listed == ["b"]


def test_what_has_just_changed_is_listed_again_since_a_clock_is_coarse(root: Path, listed: list[str]) -> None:
    known = StartingFiles()
    known.below(root)
    known.below(root)
    assert listed == ["ws", *DEEP.parts] * 2


def test_what_a_command_makes_is_taken_back_however_deep_and_old_it_is(root: Path, tmp_path: Path) -> None:
    moved_in = put(tmp_path / "made_before" / "inner" / ".envrc")
    old, moved = put(root / DEEP / "CLAUDE.md"), put(root / "a" / ".envrc")
    known = StartingFiles()
    before = seen_before([root], known)
    os.utime(moved_in, (0, 0))
    moved_in.parent.parent.rename(root / DEEP / "in")
    moved.rename(root / "a" / "b" / ".envrc")
    new = put(root / DEEP / "i" / ".github" / "workflows" / "x.yml")
    taken = take_back([root], before, lambda path: False, tmp_path / "quarantine", known)
    assert {each.path for each in taken} == {new.parent.parent, root / DEEP / "in" / "inner" / ".envrc"}
    assert old.exists()
    assert (root / "a" / "b" / ".envrc").exists()
    assert not_looked_through([root], known) == []


@pytest.mark.parametrize(
    "name", ["commondir", "config.worktree", "hooks/post-checkout", "modules/a/hooks/pre-commit", "worktrees/b/config.worktree"]
)
def test_what_git_would_obey_in_a_repository_that_was_there_is_taken_back(root: Path, tmp_path: Path, name: str) -> None:
    git = root / "a" / ".git"
    for folder in (git, git / "modules" / "a", git / "worktrees" / "b"):
        put(folder / "HEAD")
        put(folder / "config")
    known = StartingFiles()
    before = seen_before([root], known)
    made, kept = put(git / name), put(git / "objects" / "new")
    (git / "config").unlink()  # as the user's own git exchanges it meanwhile: a command cannot
    put(git / "config")
    taken = take_back([root], before, lambda path: False, tmp_path / "quarantine", known)
    assert [made.is_relative_to(each.path) for each in taken] == [True]
    assert not made.exists()
    assert kept.exists()
    assert (git / "config").exists()
    assert not list((tmp_path / "quarantine").rglob("config"))


def test_nothing_of_another_repository_is_taken_by_a_link(root: Path, tmp_path: Path) -> None:
    git, other = root / ".git", tmp_path / "other"
    put(git / "modules" / "a" / "HEAD")
    put(git / "HEAD")
    hook = put(other / "hooks" / "pre-commit")
    known = StartingFiles()
    before = seen_before([root], known)
    (git / "modules" / "a").rename(root / "away")
    (git / "modules" / "a").symlink_to(other)
    (git / "commondir").write_text(str(other))
    taken = take_back([root], before, lambda path: False, tmp_path / "quarantine", known)
    assert [each.path for each in taken] == [git / "commondir"]
    assert hook.exists()


def test_nothing_of_another_repository_is_taken_where_another_command_made_it_the_common_one(root: Path, tmp_path: Path) -> None:
    """Two commands run at once: when the second one begins, what the first one made is still there."""
    git, other = root / ".git", tmp_path / "other"
    put(git / "HEAD")
    put(other / "HEAD")
    put(git / "commondir").write_text(str(other))
    before = seen_before([root], StartingFiles())
    hook = put(other / "hooks" / "pre-commit")  # by the user
    inside = put(git / "hooks" / "pre-commit")
    taken = take_back([root], before, lambda path: False, tmp_path / "quarantine", StartingFiles())
    assert [each.path for each in taken] == [inside.parent]
    assert hook.exists()


def test_a_workspace_that_is_too_large_is_told_of(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "MOST_FOLDERS", 3)
    known = StartingFiles()
    before = seen_before([root], known)
    unseen, seen = put(root / DEEP / ".envrc"), put(root / "a" / ".envrc")
    assert [each.path for each in take_back([root], before, lambda path: False, tmp_path / "quarantine", known)] == [seen]
    assert unseen.exists()
    assert not_looked_through([root], known)[0].startswith("ws has more than 20,000 folders.")

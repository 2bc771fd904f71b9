"""Ignore rules, compared with what git itself says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ullage.workspace.ignore import PATTERNS, RULES_BYTES, IgnoreRules, walk_files, walk_folders

FILES = {
    ".gitignore": "*.log\n/build/\n!keep.log\ndocs/*\n!docs/kept\n\\\n",
    ".git/info/exclude": "private.txt\n",
    "src/.gitignore": "!special.log\ngenerated/\n",
    "a.py": "",
    "a.log": "",
    "keep.log": "",
    "private.txt": "",
    "build/out.py": "",
    "src/a.log": "",
    "src/special.log": "",
    "src/build/kept.py": "",
    "src/generated/g.py": "",
    "docs/x/dropped.md": "",
    "docs/kept/kept.md": "",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def names(start: Path, rules: IgnoreRules, root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in walk_files(start, rules))


def test_the_same_files_as_git(repository: Path) -> None:
    listed = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert names(repository, IgnoreRules([repository]), repository) == sorted(listed.stdout.split())


def test_rules_above_the_opened_folder_count(repository: Path) -> None:
    rules = IgnoreRules([repository / "src"])
    assert names(repository / "src", rules, repository) == ["src/.gitignore", "src/build/kept.py", "src/special.log"]


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        ("build/out.py", True),
        ("build/deep/deeper.py", True),
        ("src/build/kept.py", False),
        ("src/node_modules/left/pad.js", True),
        (".ullage/ullage.db", True),
        (".git/HEAD", True),
        ("docs/kept/kept.md", False),
    ],
)
def test_a_path_is_ignored_with_its_folder(repository: Path, name: str, ignored: bool) -> None:
    assert IgnoreRules([repository]).ignores(repository / name, is_folder=False) is ignored


def test_a_folder_that_was_named_is_walked_though_ignored(repository: Path) -> None:
    rules = IgnoreRules([repository])
    assert names(repository / "build", rules.below(repository / "build"), repository) == ["build/out.py"]


def test_links_are_not_followed(repository: Path) -> None:
    (repository / "loop").symlink_to(repository)
    assert repository / "loop" not in set(walk_folders(repository, IgnoreRules([repository])))


def test_folders_may_lie_deep_in_each_other(repository: Path) -> None:
    folders = [repository]
    for _ in range(1_100):
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    deepest = folders[-1] / "a.py"
    deepest.write_text("")
    found = set(walk_files(repository, IgnoreRules([repository])))
    deepest.unlink()
    for folder in reversed(folders[1:]):
        folder.rmdir()  # else the cleaning up of old test folders, which recurses, meets it
    assert deepest in found


@pytest.mark.parametrize("place", ["rules", "pipe", "huge"])
def test_rules_are_read_from_small_plain_files_only(repository: Path, place: str) -> None:
    (repository / "rules").write_text("*.py\n")
    os.mkfifo(repository / "pipe")
    (repository / "huge").write_text("*.py\n" + "#\n" * RULES_BYTES)
    (repository / ".gitignore").unlink()
    if place == "rules":
        (repository / ".gitignore").symlink_to(repository / "rules")
    else:
        (repository / place).rename(repository / ".gitignore")
    assert not IgnoreRules([repository]).ignores(repository / "a.py", is_folder=False)


def test_a_rule_that_would_take_for_ever_is_passed_over(repository: Path) -> None:
    (repository / ".gitignore").write_text(f"{'*a' * 20}b\n*.log\n")
    rules = IgnoreRules([repository])
    assert not rules.ignores(repository / ("a" * 200), is_folder=False)
    assert rules.ignores(repository / "a.log", is_folder=False)


def test_changed_rules_count_after_forget(repository: Path) -> None:
    rules = IgnoreRules([repository])
    assert rules.ignores(repository / "a.log", is_folder=False)
    (repository / ".gitignore").write_text("")
    rules.forget()
    assert not rules.ignores(repository / "a.log", is_folder=False)


def test_of_very_many_patterns_the_first_count(tmp_path: Path):
    """Every pattern is tried with every name, so a file with 100,000 of them would hold up everything that walks."""
    lines = [f"**/a{number}*b/**" for number in range(PATTERNS - 1)]
    (tmp_path / ".gitignore").write_text("\n".join(["# " + "x" * 500] * 100 + lines + ["*.log", "*.txt"] * 10_000))
    rules = IgnoreRules([tmp_path]).inside(tmp_path)
    assert rules.ignores("a.log", is_folder=False)
    assert not rules.ignores("a.txt", is_folder=False)

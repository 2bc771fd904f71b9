"""What can happen to a workspace while an approval is waited for, as data: by name, what somebody does, and what has to come of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["asked anew", "refused", "done"]
"""What comes of the approval that was asked before: another question, a result that says why not, or the edit as it was shown."""

BEFORE = "CAPACITY = 100\n"
STEERING = ".vscode/tasks.json"


@dataclass(frozen=True)
class Exchange:
    """`do` gets the workspace and a folder outside of it."""

    name: str
    do: Callable[[Path, Path], object]
    edit: Outcome
    write: Outcome
    """Of an edit of `src/deep/a.py`, and of a new text for the whole of it."""
    new: Outcome
    """Of a new file `src/deep/new.py`."""


def _replace_by_link(path: Path, target: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}.old"))
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


def _steering(root: Path) -> Path:
    target = root / STEERING
    target.parent.mkdir(exist_ok=True)
    target.write_text(BEFORE)
    return target


def _copy_of_src(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True, exist_ok=True)
    (folder / "deep/a.py").write_text(BEFORE)
    return folder


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _exchange_by_rename(root: Path, text: str) -> None:
    (root / "src/deep/other").write_text(text)
    (root / "src/deep/other").replace(root / "src/deep/a.py")


def _hard_link(root: Path, outside: Path) -> None:
    (outside / "a.py").write_text(BEFORE)
    (root / "src/deep/a.py").unlink()
    os.link(outside / "a.py", root / "src/deep/a.py")


def _folder_again(root: Path) -> None:
    (root / "src").rename(root / "gone")
    _copy_of_src(root / "src")


EXCHANGES = [
    Exchange(
        "the file is a link to what steers the editor",
        lambda root, out: _replace_by_link(root / "src/deep/a.py", _steering(root)),
        "refused",
        "refused",
        "done",
    ),
    Exchange(
        "the file is a link outside",
        lambda root, out: (_write(out / "a.py", BEFORE), _replace_by_link(root / "src/deep/a.py", out / "a.py"))[1],
        "refused",
        "refused",
        "done",
    ),
    Exchange(
        "the file is a link to another file of the workspace",
        lambda root, out: (_write(root / "b.py", BEFORE), _replace_by_link(root / "src/deep/a.py", root / "b.py"))[1],
        "refused",
        "refused",
        "done",
    ),
    Exchange(
        "the file is a link to nothing inside",
        lambda root, out: _replace_by_link(root / "src/deep/a.py", root / ".vscode/new.json"),
        "refused",
        "asked anew",
        "done",
    ),
    Exchange(
        "the new file is a link to nothing inside",
        lambda root, out: _replace_by_link(root / "src/deep/new.py", root / ".git/hooks/post-commit"),
        "done",
        "done",
        "asked anew",
    ),
    Exchange(
        "the new file is a link to nothing outside",
        lambda root, out: _replace_by_link(root / "src/deep/new.py", out / "new.py"),
        "done",
        "done",
        "refused",
    ),
    Exchange(
        "the file is a link to itself",
        lambda root, out: _replace_by_link(root / "src/deep/a.py", root / "src/deep/a.py"),
        "refused",
        "refused",
        "done",
    ),
    Exchange(
        "its folder is a link to what steers",
        lambda root, out: _replace_by_link(root / "src/deep", _steering(root).parent),
        "refused",
        "asked anew",
        "asked anew",
    ),
    Exchange("its folder is a link outside", lambda root, out: _replace_by_link(root / "src/deep", out), "refused", "refused", "refused"),
    Exchange(
        "a folder on the way is a link inside",
        lambda root, out: _replace_by_link(root / "src", _copy_of_src(root / ".github")),
        "refused",
        "refused",
        "asked anew",
    ),
    Exchange(
        "a folder on the way is a link outside",
        lambda root, out: _replace_by_link(root / "src", _copy_of_src(out)),
        "refused",
        "refused",
        "refused",
    ),
    Exchange(
        "the workspace itself is a link outside",
        lambda root, out: _replace_by_link(root, _copy_of_src(out / "src").parent),
        "refused",
        "refused",
        "refused",
    ),
    Exchange("the folder was made anew with the same file", lambda root, out: _folder_again(root), "done", "done", "done"),
    Exchange("the folder was renamed", lambda root, out: (root / "src").rename(root / "moved") and None, "refused", "asked anew", "done"),
    Exchange("the file was deleted", lambda root, out: (root / "src/deep/a.py").unlink(), "refused", "asked anew", "done"),
    Exchange("the file has another text", lambda root, out: _write(root / "src/deep/a.py", "# other\n"), "refused", "refused", "done"),
    Exchange(
        "the file has one line more", lambda root, out: _write(root / "src/deep/a.py", BEFORE + "# more\n"), "refused", "refused", "done"
    ),
    Exchange("the file is another with the same text", lambda root, out: _exchange_by_rename(root, BEFORE), "done", "done", "done"),
    Exchange("the file is another with another text", lambda root, out: _exchange_by_rename(root, "# x\n"), "refused", "refused", "done"),
    Exchange("the file was emptied", lambda root, out: _write(root / "src/deep/a.py", ""), "refused", "refused", "done"),
    Exchange("the new file is there by now", lambda root, out: _write(root / "src/deep/new.py", "# theirs\n"), "done", "done", "refused"),
    Exchange("the new file is there and empty", lambda root, out: _write(root / "src/deep/new.py", ""), "done", "done", "asked anew"),
    Exchange("the new file is a folder", lambda root, out: (root / "src/deep/new.py").mkdir(), "done", "done", "refused"),
    Exchange(
        "the file is a folder",
        lambda root, out: ((root / "src/deep/a.py").unlink(), (root / "src/deep/a.py").mkdir())[1],
        "refused",
        "refused",
        "done",
    ),
    Exchange(
        "the file is a pipe",
        lambda root, out: ((root / "src/deep/a.py").unlink(), os.mkfifo(root / "src/deep/a.py"))[1],
        "refused",
        "refused",
        "done",
    ),
    Exchange("the file is read-only", lambda root, out: (root / "src/deep/a.py").chmod(0o444), "refused", "refused", "done"),
    Exchange("the file may be run by now", lambda root, out: (root / "src/deep/a.py").chmod(0o755), "done", "done", "done"),
    Exchange("the file is a hard link of one outside", _hard_link, "done", "done", "done"),
    Exchange("nothing has changed", lambda root, out: None, "done", "done", "done"),
]

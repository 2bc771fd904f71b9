"""Has libgit2 make a worktree, compare it with the commit that it began from, and remove it. Runs as a process of its own, started by
`worktrees.py`.

git itself is not run: it would run the hooks and filters that a configuration names. libgit2 knows none of them. Here it reads no
configuration of the user or the system either. Only the repository of the workspace is opened, and never by what lies in the worktree: an
agent can write there, and could make its `.git` lead elsewhere.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

MOST_FILES = 2_000
"""The most changed files that are listed: nobody brings back more one by one."""

LARGEST_BYTES = 5_000_000
"""The most bytes of a file's text in the commit, which is needed if both sides changed it."""


class WorktreeRefused(Exception):
    """Something cannot be done with a worktree; `str()` says why, for the user."""


def main() -> None:
    """Reads `{"do", …}` from standard input; writes what came of it as JSON, `{"refused": why}` where nothing was done."""
    asked = json.load(sys.stdin)
    try:
        answer = _DO[asked.pop("do")](**asked)
    except WorktreeRefused as error:
        answer = {"refused": str(error)}
    except Exception as error:  # noqa: BLE001 - libgit2 has a class for each kind, and what it says is of use
        answer = {"refused": f"libgit2 says: {error}"}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


def add(top: str, name: str, path: str, branch: str) -> dict[str, Any]:
    """Makes a worktree at `path` on a new branch from the commit that is checked out. Gives that commit. Raises `WorktreeRefused`."""
    repository = _opened(top)
    if repository.head_is_unborn:
        raise WorktreeRefused("The repository has no commit yet, and a worktree begins from one")
    commit = repository[repository.head.target].peel(_pygit2().Commit)
    Path(path).parent.mkdir(exist_ok=True)
    made = repository.branches.local.create(branch, commit)
    try:
        repository.add_worktree(name, path, made)
    except Exception:
        made.delete()
        raise
    return {"base": str(commit.id)}


def compare(top: str, path: str, branch: str, base: str) -> dict[str, Any]:
    """The files that differ in the worktree from the commit that it began from, and whether each was changed in the main folder too.

    For a file that was changed on both sides, the text in the commit is given.
    """
    repository = _opened(top)
    tree = repository[base].peel(_pygit2().Tree)
    here = {name for name, _, _ in _changes(repository, tree)}
    repository.workdir = path
    found: list[dict[str, Any]] = []
    more = False
    for name, status, blob in _changes(repository, tree):
        if len(found) == MOST_FILES:
            more = True
            break
        file: dict[str, Any] = {"path": name, "status": status, "changedHere": name in here}
        if name in here and blob is not None and blob.size <= LARGEST_BYTES:
            file["base"] = base64.b64encode(blob.data).decode()
        found.append(file)
    return {"files": found, "more": more, "commits": _commits(repository, branch, base)}


def remove(top: str, name: str, path: str, branch: str, base: str) -> dict[str, Any]:
    """Removes the folder with all that is in it, and git's note of it. A branch with commits of its own stays; the result says whether it
    does."""
    repository = _opened(top)
    if Path(path).is_symlink():
        raise WorktreeRefused("A link stands in its place")
    if Path(path).exists():
        shutil.rmtree(path)
    if name in repository.list_worktrees():
        repository.lookup_worktree(name).prune(True)
    stays = _commits(repository, branch, base) > 0
    if not stays and branch in repository.branches.local:
        repository.branches.local[branch].delete()
    return {"branchStays": stays}


def _changes(repository: Any, tree: Any) -> Iterator[tuple[str, str, Any]]:
    """The files that differ from the commit: the name, `created`, `modified` or `deleted`, and the blob of the commit (None for a created
    one)."""
    from pygit2.enums import DeltaStatus, DiffOption

    flags = DiffOption.INCLUDE_UNTRACKED | DiffOption.RECURSE_UNTRACKED_DIRS | DiffOption.IGNORE_SUBMODULES | DiffOption.SKIP_BINARY_CHECK
    words = {DeltaStatus.ADDED: "created", DeltaStatus.UNTRACKED: "created", DeltaStatus.DELETED: "deleted"}
    for delta in tree.diff_to_workdir(flags).deltas:
        status = words.get(delta.status, "modified")
        blob = None if status == "created" else repository.get(delta.old_file.id)
        yield os.fsdecode(delta.new_file.raw_path), status, blob


def _commits(repository: Any, branch: str, base: str) -> int:
    """How many commits the branch has beyond the one that it began from."""
    if branch not in repository.branches.local:
        return 0
    target = repository.branches.local[branch].target
    return 0 if str(target) == base else max(1, repository.ahead_behind(target, base)[0])


def _opened(top: str) -> Any:
    pygit2 = _pygit2()
    from pygit2.enums import ConfigLevel, RepositoryOpenFlag

    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = os.devnull
    repository = pygit2.Repository(str(Path(top) / ".git"), RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT)
    workdir = cast("str | None", repository.workdir)
    if workdir is None or Path(workdir).resolve() != Path(top).resolve():
        raise WorktreeRefused("Its configuration names another folder")
    return repository


def _pygit2() -> Any:
    import pygit2

    return pygit2


_DO = {"add": add, "compare": compare, "remove": remove}


if __name__ == "__main__":
    main()

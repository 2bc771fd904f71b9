"""Asks libgit2 what changed since the last commit. Runs as a process of its own, started by `git_status.py`.

libgit2 knows no external filters, hooks, monitors or text converters. Here it also reads no configuration of the user or the system, opens
no submodules, writes nothing, and has bounds of memory and time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

MEMORY_BYTES = 2_000_000_000
"""The most bytes of address space. It holds the repository's packs, too: they are mapped."""

PROCESSOR_SECONDS = 10


def main() -> None:
    """Reads `{"top", "below", "most"}` from standard input; writes the names of changed files as one line."""
    asked = json.load(sys.stdin)
    _limit()
    sys.stdout.write(f"{json.dumps(changed(asked['top'], asked['below'], asked['most']))}\n")
    sys.stdout.flush()


def changed(top: str, below: str, most: int) -> list[str]:
    """The names of changed files in the folder `below`, relative to `top`; at most one more than `most`."""
    import pygit2
    from pygit2.enums import ConfigLevel, DiffOption, RepositoryOpenFlag

    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = os.devnull
    git = str(Path(top) / ".git")
    repository = pygit2.Repository(git, RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.NO_DOTGIT)
    workdir = cast("str | None", repository.workdir)
    if workdir is None or Path(workdir).resolve() != Path(top).resolve():
        return []  # checked before, but by another reading of the configuration
    flags = DiffOption.IGNORE_SUBMODULES | DiffOption.SKIP_BINARY_CHECK
    diffs = [repository.index.diff_to_workdir(flags)]
    if not repository.head_is_unborn:
        diffs.append(repository[repository.head.target].peel(pygit2.Tree).diff_to_index(repository.index, flags))
    before = "" if below == "." else f"{below}/"
    names: dict[str, None] = {}
    for name in (name for diff in diffs for name in _new_names(diff)):
        if name.startswith(before):
            names[name] = None
        if len(names) > most:
            break
    return list(names)


def _new_names(diff: Any) -> Iterable[str]:
    for delta in diff.deltas:
        yield os.fsdecode(delta.new_file.raw_path)


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, PROCESSOR_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, highest = resource.getrlimit(kind)
        wanted = most if highest == resource.RLIM_INFINITY else min(most, highest)
        try:
            resource.setrlimit(kind, (wanted, wanted))
        except (OSError, ValueError):  # macOS refuses some
            continue


if __name__ == "__main__":
    main()

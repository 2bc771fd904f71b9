"""Which program the shell would run under a name: one of the system, or one that the workspace brings."""

from __future__ import annotations

import os
from pathlib import Path

BUILT_IN = frozenset({"cd", "command", "echo", "false", "pwd", "true"})
"""Every shell of POSIX has these itself (or, of `false` and `true`, looks them up only where it has not)."""

STARTS = {"egrep": "grep", "fgrep": "grep"}
"""Scripts that look up another program in turn."""


def is_of_the_system(name: str, search_path: str, workspaces: tuple[Path, ...]) -> bool:
    """Whether the first program of that name lies outside of the workspace, as its place is given and with links followed.

    Also where there is none: then nothing runs. A relative place in the search path before it (`.`, or nothing) is a place in the
    workspace.
    """
    if name in BUILT_IN:
        return True
    if name in STARTS and not is_of_the_system(STARTS[name], search_path, workspaces):
        return False
    for place in search_path.split(os.pathsep):
        folder = Path(place)
        if not folder.is_absolute():
            return False
        program = folder / name
        if not os.path.lexists(program):
            continue
        if any(_is_in(program, workspace) for workspace in workspaces):
            return False
        if program.is_file() and os.access(program, os.X_OK):
            return True
    return True


def _is_in(program: Path, workspace: Path) -> bool:
    folder = Path(os.path.realpath(program.parent))
    return any(each.is_relative_to(workspace) for each in (program, folder, Path(os.path.realpath(program))))

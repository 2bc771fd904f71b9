"""Names of files that run by themselves or steer a tool, so that a harmless-looking edit of one can have any effect later.

One list for all who need it: edits of these ask each time (`steers`), and what a command in the sandbox makes new of those that run
without anybody starting them is taken back (`starts_by_itself`). A build makes files of the other kind all the time (`Makefile`,
`package.json`), so these are not taken back.

The lists are in `steering_names.py`. Only names are looked at, the way the most forgiving file system reads them (`compared`). What a link
leads to is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import translate
from pathlib import PurePath

from ullage.tools.steering_names import FILES_THAT_START, FILES_THAT_STEER, FOLDERS_THAT_START, FOLDERS_THAT_STEER, GIT
from ullage.workspace.folders import compared

BARE_REPOSITORY = ".git"
"""How the folder of a repository without a working tree ends; its hooks and its config run programs as those of `.git` do."""

SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..*)?")
"""What Windows may take for another name (`GIT~1`)."""


def starts_by_itself(path: PurePath) -> str | None:
    """Why the file is read or run without anybody starting it: in words that follow "because"; None where it is not."""
    names = [compared(part) for part in path.parts]
    for name in names:
        if name in _STARTING_FOLDERS:
            return _STARTING_FOLDERS[name]
        if name.endswith(BARE_REPOSITORY):
            return GIT
        if SHORT_NAME.fullmatch(name):
            return "Windows may take it for another name"
    return _first(names, _STARTING_FILES)


def steers(path: PurePath) -> str | None:
    """Why an edit of that file can run something later or steer a tool: in words that follow "because"; None where it cannot.

    The path is one within a workspace folder, or absolute; a workspace that itself lies below such a folder steers, too.
    """
    names = [compared(part) for part in path.parts]
    below = next((_STEERING_FOLDERS[name] for name in names if name in _STEERING_FOLDERS), None)
    return starts_by_itself(path) or below or _first(names, _STEERING_FILES)


def _first(names: Sequence[str], table: Sequence[tuple[re.Pattern[str], str]]) -> str | None:
    if not names:
        return None
    return next((reason for pattern, reason in table if pattern.match(names[-1])), None)


def _compiled(table: Mapping[str, Sequence[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile("|".join(map(translate, names))), reason) for reason, names in table.items())


_STARTING_FOLDERS = {name: reason for reason, names in FOLDERS_THAT_START.items() for name in names}
_STEERING_FOLDERS = {name: reason for reason, names in FOLDERS_THAT_STEER.items() for name in names}
_STARTING_FILES = _compiled(FILES_THAT_START)
_STEERING_FILES = _compiled(FILES_THAT_STEER)

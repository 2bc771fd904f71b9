"""The environment variables that programs get, and what is taken out of them for each."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

NEEDED = frozenset(
    {
        "HOME",
        "USER",
        "LOGNAME",
        "USERPROFILE",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TMPDIR",
        "TEMP",
        "TMP",
        "TZ",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
    }
)
"""What a program needs to start, to find the temporary folder and to know its character set. None of it names a program, a library or a
configuration file."""

SEARCHED = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES")
"""Lists of folders or files in which the system looks for what it runs. An entry that is relative, or empty, means the folder in which a
program is started; that is the workspace, so the workspace would choose what runs."""


def bare_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What our own programs get: no preloads, no settings of theirs (`RIPGREP_CONFIG_PATH`, `PYTHONPATH`, `GIT_DIR`), no PATH."""
    return {name: value for name, value in inherited.items() if name.upper() in NEEDED}


def without_relative_entries(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment, with `SEARCHED` lists that hold absolute entries alone."""
    cleaned = dict(inherited)
    drop_relative_entries(cleaned)
    return cleaned


def drop_relative_entries(environment: MutableMapping[str, str]) -> None:
    """The same in place, as for this process's own environment, from which libraries start programs, too (`uname`, `lsb_release`)."""
    for name in SEARCHED:
        value = environment.get(name)
        if value is None:
            continue
        # The loader also takes spaces between the entries of LD_PRELOAD.
        entries = value.replace(" ", os.pathsep).split(os.pathsep) if name in ("LD_PRELOAD", "LD_AUDIT") else value.split(os.pathsep)
        kept = [entry for entry in entries if _is_allowed(entry, name)]
        if kept == entries:
            continue
        if kept:
            environment[name] = os.pathsep.join(kept)
        else:
            del environment[name]


def _is_allowed(entry: str, name: str) -> bool:
    if name in ("LD_PRELOAD", "LD_AUDIT") and entry and "/" not in entry:
        return True  # a library's bare name is looked for in the system's folders alone
    return Path(entry).is_absolute()

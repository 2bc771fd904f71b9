"""Which program is run, and which environment variables it gets.

Programs are found by absolute paths, and our own code runs in a Python process of its own. A folder that somebody else may have filled is
never looked in. From the environment is taken out what could name a program, a library or a configuration file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

import ullage
from ullage.platforms.system import HERE, System

_START = "import json, runpy, sys; sys.path[:0] = json.loads(sys.argv[1]); runpy.run_module(sys.argv[2], run_name='__main__')"


def find_program(name: str, not_in: Sequence[Path]) -> str | None:
    """The absolute path of a program on PATH, or of the one that an absolute path names; None if there is none.

    Passed over are relative entries of PATH (`.`, an empty one), and whatever lies in one of the folders `not_in`, or is a link into them.
    """
    forbidden = [*not_in, *(folder.resolve() for folder in not_in)]
    if Path(name).is_absolute():
        return name if _can_run(Path(name)) and not _lies_in(Path(name), forbidden) else None
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(entry)
        if not folder.is_absolute():
            continue
        for candidate in candidates(folder, name, HERE, os.environ):
            if _can_run(candidate) and not _lies_in(candidate, forbidden):
                return str(candidate)
    return None


def candidates(folder: Path, name: str, system: System, environment: Mapping[str, str]) -> list[Path]:
    """The files that may be that program in a folder of PATH. On Windows each has an ending that says that it can be run."""
    if system is not System.WINDOWS:
        return [folder / name]
    endings = environment.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").lower().split(";")
    return [folder / f"{name}{ending}" for ending in endings if ending]


def _can_run(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def _lies_in(path: Path, folders: Sequence[Path]) -> bool:
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):
        return True
    return any(each.is_relative_to(folder) for each in (path, resolved) for folder in folders)


def own_python(module: str, needs: Sequence[str] = ()) -> list[str]:
    """The command that runs a module of Ullage as `__main__`.

    The process is isolated (`-I`): neither the folder in which it starts nor a PYTHON* variable has a say in what it imports. It looks for
    modules where the interpreter does, and where `ullage` and the packages `needs` are.
    """
    folders = [str(Path(ullage.__file__).resolve().parents[1])]
    for package in needs:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = str(Path(spec.origin).resolve().parents[1])
            if folder not in folders:
                folders.append(folder)
    return [sys.executable, "-I", "-X", "utf8", "-c", _START, json.dumps(folders), module]


def reaper(control: int) -> list[str] | None:
    """The words to put before a command so that all that comes of it ends with it (`reaper.py`). It is told to by the socket of that
    number. None on systems other than Linux."""
    if HERE is not System.LINUX:
        return None
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve().with_name("reaper.py")), str(control)]


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
"""The variables that a program needs to start, to find the temporary folder and to know its character set. None of them names a program, a
library or a configuration file."""

SEARCHED = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES")
"""Lists of folders or files in which the system looks for what it runs. An entry that is relative, or empty, means the folder in which a
program is started; that is the workspace, so the workspace would choose what runs."""


def bare_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment for our own programs: no preloads, no settings of theirs (`RIPGREP_CONFIG_PATH`, `PYTHONPATH`, `GIT_DIR`), no
    PATH."""
    return {name: value for name, value in inherited.items() if name.upper() in NEEDED}


def without_relative_entries(inherited: Mapping[str, str]) -> dict[str, str]:
    """A copy of the environment in which the lists of `SEARCHED` hold absolute entries alone."""
    cleaned = dict(inherited)
    drop_relative_entries(cleaned)
    return cleaned


def drop_relative_entries(environment: MutableMapping[str, str]) -> None:
    """Drops all entries of the lists of `SEARCHED` that are not absolute. Changes the environment in place: it may be this process's own,
    from which libraries start programs, too (`uname`, `lsb_release`)."""
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

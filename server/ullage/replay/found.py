"""Which files the names on the command line stand for. What is in them is known in `readers/`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

_DATABASE = "ullage.db"
_OF_A_WORKSPACE = Path(".ullage", _DATABASE)
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".jsonl.bz2")


_NO_FILE = "neither a file nor a folder: pipes and devices are not read, copy what they hold to a file"


class NothingFound(Exception):
    """A name stands for no file; `str()` says which and why."""


def transcripts_in(name: Path, failures: list[str]) -> Sequence[Path]:
    """The file itself, or the transcripts in a folder and the folders below it, in the order of their names.

    Of a workspace of Ullage it is the log alone: other JSON lines in it are the user's own. Folders below it that cannot be listed,
    and what is called like a transcript and is no file (a pipe would be waited for), are added to `failures`. Raises `NothingFound`.
    """
    if not name.exists():
        asked = "; standard input is not read: name a file" if str(name) == "-" else ""
        raise NothingFound(f"{name} does not exist{asked}")
    if name.is_file():
        return (name,)
    if not name.is_dir():
        raise NothingFound(f"{name} is {_NO_FILE}")
    told = len(failures)
    found = tuple(_below(name, failures))
    if not found and len(failures) == told:
        raise NothingFound(f"{name} holds no transcripts: neither *.jsonl (plain or as .gz, .xz, .bz2) nor {_OF_A_WORKSPACE.as_posix()}")
    return found


def _below(top: Path, failures: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        failures.append(f"{error.filename} cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(top, onerror=unreadable):
        here = Path(folder)
        database = next((each for each in (here / _OF_A_WORKSPACE, here / _DATABASE) if each.is_file()), None)
        if database is not None:
            folders.clear()
            yield database
            continue
        folders.sort()
        for path in (here / name for name in sorted(names) if name.endswith(_ENDINGS)):
            if path.exists() and not path.is_file():
                failures.append(f"{path} is {_NO_FILE}")
            else:
                yield path

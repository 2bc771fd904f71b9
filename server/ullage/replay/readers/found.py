"""Which files the names on the command line stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ullage.store.folder import database

_DATABASE = "ullage.db"
_OF_EARLIER_VERSIONS = Path(".ullage", _DATABASE)
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".jsonl.bz2")


_NO_FILE = "neither a file nor a folder: pipes and devices are not read, copy what they hold to a file"


class NothingFound(Exception):
    """A name stands for no file; `str()` says which and why."""


def transcripts_in(name: Path, failures: list[str], kept: Mapping[Path, Path]) -> Sequence[Path]:
    """The file itself, or the transcripts in a folder and the folders below it, in the order of their names.

    Of a workspace of Ullage it is the log alone: other JSON lines in it are the user's own. `kept` has the folder that holds the log of
    each workspace, by its path with links resolved. Folders below it that cannot be listed,
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
    found = tuple(_below(name, failures, kept))
    if not found and len(failures) == told:
        raise NothingFound(f"{name} holds no transcripts: neither *.jsonl (plain or as .gz, .xz, .bz2) nor sessions of Ullage")
    return found


def _below(top: Path, failures: list[str], kept: Mapping[Path, Path]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        failures.append(f"{error.filename} cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(top, onerror=unreadable):
        here = Path(folder)
        log = _log_of(here, kept)
        if log is not None:
            folders.clear()
            yield log
            continue
        folders.sort()
        for path in (here / name for name in sorted(names) if name.endswith(_ENDINGS)):
            if path.exists() and not path.is_file():
                failures.append(f"{path} is {_NO_FILE}")
            else:
                yield path


def _log_of(folder: Path, kept: Mapping[Path, Path]) -> Path | None:
    own = kept.get(folder.resolve())
    candidates = [] if own is None else [database(own)]
    return next((each for each in (*candidates, folder / _OF_EARLIER_VERSIONS, folder / _DATABASE) if each.is_file()), None)

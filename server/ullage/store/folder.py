"""The folder in which all of a workspace is kept: where each thing in it lies, and making it so that only its user can read it.

Which folder that is for a workspace says `location.py`. No link is followed: somebody else could say by it what is written where.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ullage.store.errors import StoreFailed, UnknownSession
from ullage.store.origins import is_id

RESULTS, MEDIA, TRANSCRIPTS = "tool-results", "media", "transcripts"

READABLE = frozenset({RESULTS, MEDIA, TRANSCRIPTS})
"""What the agent may read there: plain copies of what it was told. The database it gets at with `recall` only."""

_LOCKS, _UNFINISHED, _NEWS = "locks", "unfinished", "news"

_OWNER_ONLY = 0o700


def prepare(folder: Path) -> Path:
    """Makes the folder and what lies around it, for its user alone; gives its path. Raises `StoreFailed`."""
    try:
        make_private(folder)
        for name in (*sorted(READABLE), _LOCKS, _UNFINISHED, _NEWS):
            _refuse_link(folder / name)
    except OSError as error:
        raise StoreFailed(f"Cannot write to {folder}: {error.strerror or error}. Make the folder writable, or open another one.") from error
    return folder


def make_private(folder: Path) -> None:
    """Makes a folder that only its user can use, and those around it that are missing. Raises `StoreFailed` for a link, and `OSError`."""
    for missing in reversed([parent for parent in folder.parents if not parent.exists()]):
        missing.mkdir(_OWNER_ONLY, exist_ok=True)
    _refuse_link(folder)
    folder.mkdir(_OWNER_ONLY, exist_ok=True)
    mode = stat.S_IMODE(folder.lstat().st_mode)
    if os.name == "posix" and mode & 0o077:
        folder.chmod(_OWNER_ONLY)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise StoreFailed(
            f"{path} is a link, and nothing is kept behind links. Remove it, or choose another folder in the setting"
            ' "Ullage › Store: Location".'
        )


def database(folder: Path) -> Path:
    """The log."""
    return folder / "ullage.db"


def search_index(folder: Path) -> Path:
    """The full-text index; can be thrown away, it is made again from the log."""
    return folder / "search.db"


def session_lock(folder: Path, session_id: str) -> Path:
    """Held by the process that writes the session. Raises `UnknownSession` for what is no id."""
    return folder / _LOCKS / f"{_checked(session_id)}.lock"


def unfinished(folder: Path, session_id: str) -> Path:
    """The reply that streams in, or did when the process was killed. Raises `UnknownSession` for what is no id."""
    return folder / _UNFINISHED / f"{_checked(session_id)}.jsonl"


def results(folder: Path) -> Path:
    """Whole outputs of clipped tool results."""
    return folder / RESULTS


def media(folder: Path) -> Path:
    """Images and documents that the model was shown, by their hash."""
    return folder / MEDIA


def transcripts(folder: Path) -> Path:
    """Messages as they were before each summary."""
    return folder / TRANSCRIPTS


def transcript(folder: Path, session_id: str, number: int) -> Path:
    """Those before one summary of a session. Raises `UnknownSession` for what is no id."""
    return transcripts(folder) / f"{_checked(session_id)}-{number}.jsonl"


def _checked(session_id: str) -> str:
    if not is_id(session_id):
        raise UnknownSession(session_id)
    return session_id


def last_rows(folder: Path) -> Path:
    """How far each session has come, known outside of the log."""
    return folder / "last-rows"


def news(folder: Path) -> Path:
    """Where processes tell each other that the list of sessions changed."""
    return folder / _NEWS


def waiting(folder: Path) -> Path:
    """What was written while another program had the log locked."""
    return folder / "waiting"

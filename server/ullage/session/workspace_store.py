"""Opening what a workspace keeps on disk; in memory, with a word to the user, where the disk does not let us."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.media import MediaFiles
from ullage.store.results import ResultFiles
from ullage.store.search import SearchIndex


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """The log, the whole outputs, the images and the search index of one workspace. `folder` is None where they are in memory."""

    folder: Path | None
    log: LogStore
    results: ResultFiles
    media: MediaFiles
    index: SearchIndex
    warnings: tuple[str, ...]
    """What the user should know about it."""


def open_workspace_store(folder: Path | None) -> WorkspaceStore:
    """Opens the store in `.ullage/` of that folder. Never raises for what the disk refuses: memory it is, then."""
    if folder is None:
        return _open(None, ("No folder is open: this session is kept in memory only and is gone when the window closes",))
    try:
        return _open(folder, ())
    except StoreFailed as error:
        return _open(None, (f"{str(error).removesuffix('.')}. Sessions are kept in memory only and are gone when the window closes",))


def _open(folder: Path | None, warnings: tuple[str, ...]) -> WorkspaceStore:
    log = LogStore.open(folder)
    if log.set_aside is not None:
        warnings = (*warnings, str(log.set_aside))
    results = ResultFiles(folder)
    try:
        index = SearchIndex(folder, log, results)
    except StoreFailed as error:  # it is made from the log, which is sound: searching is slower then, and nothing is lost
        index = SearchIndex(None, log, results)
        warnings = (*warnings, f"{error}. What was said is searched in memory until the window closes")
    return WorkspaceStore(folder, log, results, MediaFiles(folder), index, warnings)

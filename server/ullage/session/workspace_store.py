"""Opening what a workspace keeps on disk; in memory, with a word to the user, where the disk does not let us."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ullage.store.errors import StoreBusy, StoreFailed
from ullage.store.location import advice, goes_with_the_container, prepare_for, store_location, systems_own
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.search import SearchIndex

_CONTAINER = "told: container"


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """The log, the whole outputs, the images and the search index of one workspace. `folder`, outside of it, holds them; None: memory."""

    folder: Path | None
    log: LogStore
    results: ResultFiles
    media: MediaFiles
    index: SearchIndex
    warnings: tuple[str, ...]
    """What the user should know about it."""


def open_workspace_store(roots: Sequence[Path], location: str = "") -> WorkspaceStore:
    """Opens what is kept for the first of these folders, where the setting `location` says. Never raises for what the disk refuses: memory
    it is, then."""
    if not roots:
        return _open(None, ("No folder is open: this session is kept in memory only and is gone when the window closes",))
    try:
        place = store_location(location)
        kept = _open(prepare_for(roots[0], place, roots), ())
    except StoreFailed as error:
        return _open(None, (f"{str(error).removesuffix('.')}. Sessions are kept in memory only and are gone when the window closes",))
    if place != systems_own() or not goes_with_the_container(place) or not _is_first_time(kept.log, _CONTAINER):
        return kept
    return replace(kept, warnings=(*kept.warnings, advice(place)))


def _is_first_time(log: LogStore, told: str) -> bool:
    """Whether the user was not told of it in this workspace; notes that they are now."""
    try:
        known = log.recalled(told) is not None
        if not known:
            log.remember(told, True)
    except StoreFailed:
        return True
    return not known


def _open(folder: Path | None, warnings: tuple[str, ...]) -> WorkspaceStore:
    if folder is None:
        return _around(LogStore.open(None), None, None, warnings)
    try:
        log = LogStore.open(folder)
    except StoreBusy as error:
        until = "Until it is free, what is said is kept beside it. Then it is written there, and the older sessions are here again"
        return _around(LogStore.until_free(folder), folder, None, (*warnings, f"{error}. {until}"))
    if log.set_aside is not None:
        warnings = (*warnings, str(log.set_aside))
    return _around(log, folder, folder, warnings)


def _around(log: LogStore, folder: Path | None, index_folder: Path | None, warnings: tuple[str, ...]) -> WorkspaceStore:
    results = ResultFiles(folder)
    try:
        index = SearchIndex(index_folder, log, results)
    except StoreFailed as error:  # it is made from the log, which is sound: searching is slower then, and nothing is lost
        index = SearchIndex(None, log, results)
        warnings = (*warnings, f"{error}. Search finds only what is in memory until the window closes")
    return WorkspaceStore(folder, log, results, MediaFiles(folder), index, warnings)

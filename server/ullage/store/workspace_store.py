"""All that is kept of one workspace: opening it, and deleting one session of it for good.

What cannot be opened on disk is kept in memory, and the user is told.

A session is deleted with its log, its place in the search index, its clipped outputs, transcripts, images and an unfinished reply. Forks
share outputs and transcripts, and any two sessions may share an image. What another session still names stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ullage.context.blocks import Media
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Clipped, Notice, ToolReturned, media_in, versions_in
from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreBusy, StoreFailed, UnknownSession
from ullage.store.folder import advice, goes_with_the_container, prepare_for, store_location, systems_own
from ullage.store.log_store import LogStore
from ullage.store.origins import Lineage, is_foreign, is_id, origin_of
from ullage.store.plain_files import MediaFiles, ResultFiles, unfinished_file
from ullage.store.search import SearchIndex
from ullage.store.team.address import TeamPlace, address_of, workspace_name
from ullage.store.versions import Versions

if TYPE_CHECKING:
    from ullage.store.team.following import Following

_CONTAINER = "told: container"


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """The log, the whole outputs, the images, the search index and the versions of files of one workspace. `folder`, outside of it, holds
    them; None: memory."""

    folder: Path | None
    log: LogStore
    results: ResultFiles
    media: MediaFiles
    index: SearchIndex
    versions: Versions
    warnings: tuple[str, ...]
    """What the user should know about the opening, a sentence each."""
    following: Following | None = None
    """What sends the log to the store of a team; None if there is none. Whoever opened the store starts it."""


def open_workspace_store(roots: Sequence[Path], location: str = "", team: TeamPlace | None = None) -> WorkspaceStore:
    """Opens what is kept for the first of these folders, where the setting `location` says, and in the store of a team where `team` or the
    environment names one. Never raises for what the disk refuses: memory it is, then. For another thread."""
    kept = _open_here(roots, location)
    return kept if kept.folder is None else _with_team(kept, roots[0], team or TeamPlace())


def _with_team(kept: WorkspaceStore, workspace: Path, team: TeamPlace) -> WorkspaceStore:
    try:
        address = address_of(team.url)
        if address is None:
            return kept
        from ullage.store.team.following import Following  # not everybody has a team
        from ullage.store.team.passing import Here
        from ullage.store.team.postgres import PostgresStore

        here = Here(kept.log.rows, kept.results, kept.media, kept.versions, kept.folder)
        name, holder = workspace_name(team.workspace, workspace), kept.log.identity()
    except StoreFailed as error:
        return replace(
            kept, warnings=(*kept.warnings, f"{str(error).removesuffix('.')}. Sessions are kept on this machine alone until then")
        )
    writes, reads = PostgresStore(address, name, holder), PostgresStore(address, name, holder, durable=False)

    def erase(session_id: str) -> None:
        erase_session(session_id, kept.folder, kept.log, kept.index, kept.results, kept.media, kept.versions)

    following = Following(here, writes, reads, kept.log.claim, kept.log.release, erase=erase)
    kept.log.keep_elsewhere(following)
    return replace(kept, following=following)


def _open_here(roots: Sequence[Path], location: str) -> WorkspaceStore:
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
    """Whether the user is told this for the first time in this workspace; notes that they are now."""
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
        told = f"{error}. Until it is free, what is said is kept beside it. Then it is written there, and the older sessions are here again"
        return _around(LogStore.until_free(folder), folder, None, (*warnings, told))
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
    return WorkspaceStore(folder, log, results, MediaFiles(folder), index, Versions.open(folder), warnings)


def erase_session(
    session_id: str, folder: Path | None, log: LogStore, index: SearchIndex, results: ResultFiles, media: MediaFiles, versions: Versions
) -> None:
    """Deletes a session for good. Raises `SessionInUse` or `UnknownSession`, and has then deleted nothing. The log goes first: what could
    not be deleted after it is never shown again.

    Do it in another thread: it reads that log and those that have entries in common with it.
    """
    log.claim(session_id)
    lineages = log.lineages()
    lineage = lineages.pop(session_id, ())
    # What somebody else wrote names no files of ours.
    outputs = set[str]() if is_foreign(session_id) else set(_outputs(log, session_id))
    transcripts = set[str]() if is_foreign(session_id) else set(_transcripts(log, session_id, lineage))
    if folder is not None:
        transcripts |= {path.name for path in ullage_folder.transcripts(folder).glob(f"{session_id}-*.jsonl")}
    family = {session_id, *(origin for origin, _ in lineage)}
    for other, of_other in lineages.items():
        if family.intersection((other, *(origin for origin, _ in of_other))):
            with suppress(UnknownSession):  # another window has just deleted it
                outputs.difference_update(_outputs(log, other))
                transcripts.difference_update(_transcripts(log, other, of_other))
    shown = _shown(log, session_id)
    changed_files = any(versions_in(each.entry) for each in log.entries(session_id))
    log.elsewhere.delete(session_id)
    log.delete(session_id)
    unfinished_file(folder, session_id).remove()
    index.forget(session_id, lineage)
    for path in outputs:
        results.remove(path)
    if shown:
        for each in shown - log.shown_media():  # another session may have been shown the same
            media.remove(each)
    if changed_files:
        with suppress(StoreFailed):  # they go with the next session that is deleted
            versions.ended(session_id)
            versions.forget_all_but(log.named_versions(), keep_scans=bool(log.sessions()))
    if folder is not None:
        for document in (*ullage_folder.plans_of(folder, session_id), *ullage_folder.proposals_of(folder, session_id)):
            document.unlink(missing_ok=True)
            with suppress(OSError):  # the user may keep something of their own beside it
                document.parent.rmdir()
        for name in transcripts:
            if is_id(name.removesuffix(".jsonl")):  # a damaged lineage must not lead out of the folder
                (ullage_folder.transcripts(folder) / name).unlink(missing_ok=True)


def _shown(log: LogStore, session_id: str) -> set[Media]:
    logged = {media for each in log.entries(session_id) for media in media_in(each.entry)}
    return logged | {media for prompt in log.prompts.of(session_id) for media in media_in(prompt)}


def _outputs(log: LogStore, session_id: str) -> Iterator[str]:
    for logged in log.entries(session_id):
        if isinstance(logged.entry, ToolReturned | Clipped | Notice) and logged.entry.full_output is not None:
            yield logged.entry.full_output


def _transcripts(log: LogStore, session_id: str, lineage: Lineage) -> Iterator[str]:
    """The names of the transcripts that a session's compactions left: each is named after the session that made it, and its number
    there."""
    made = 0
    for logged in log.entries(session_id):
        if isinstance(logged.entry, Compaction):
            made += 1
            yield f"{origin_of(session_id, lineage, logged.seq)}-{made}.jsonl"

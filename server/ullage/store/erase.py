"""Deleting a session for good: its log, its place in the search index, its clipped outputs, its transcripts, its images and an unfinished
reply.

Forks share outputs and transcripts by their names, and any sessions images by their hash: what another one still speaks of stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ullage.context.blocks import Media
from ullage.context.entries import Clipped, Compaction, ToolReturned, media_in
from ullage.store import folder as ullage_folder
from ullage.store.errors import UnknownSession
from ullage.store.log_store import LogStore
from ullage.store.origins import Lineage, is_foreign, is_id, origin_of
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.search import SearchIndex
from ullage.store.unfinished import unfinished_file


def erase_session(session_id: str, folder: Path | None, log: LogStore, index: SearchIndex, results: ResultFiles, media: MediaFiles) -> None:
    """Raises `SessionInUse` or `UnknownSession`, and has then deleted nothing. The log goes first: what could not be deleted after it is
    never shown again.

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
    log.delete(session_id)
    unfinished_file(folder, session_id).remove()
    index.forget(session_id, lineage)
    for path in outputs:
        results.remove(path)
    if shown:
        for each in shown - log.shown_media():  # another session may have been shown the same
            media.remove(each)
    if folder is not None:
        for name in transcripts:
            if is_id(name.removesuffix(".jsonl")):  # a damaged lineage must not lead out of the folder
                (ullage_folder.transcripts(folder) / name).unlink(missing_ok=True)


def _shown(log: LogStore, session_id: str) -> set[Media]:
    logged = {media for each in log.entries(session_id) for media in media_in(each.entry)}
    return logged | {media for prompt in log.queued(session_id) for media in media_in(prompt)}


def _outputs(log: LogStore, session_id: str) -> Iterator[str]:
    for logged in log.entries(session_id):
        if isinstance(logged.entry, ToolReturned | Clipped) and logged.entry.full_output is not None:
            yield logged.entry.full_output


def _transcripts(log: LogStore, session_id: str, lineage: Lineage) -> Iterator[str]:
    """The names of those that its compactions left: each is named after the session that made it, and its number there."""
    made = 0
    for logged in log.entries(session_id):
        if isinstance(logged.entry, Compaction):
            made += 1
            yield f"{origin_of(session_id, lineage, logged.seq)}-{made}.jsonl"

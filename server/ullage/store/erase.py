"""Deleting a session for good: its log, its place in the search index, its clipped outputs, its transcripts and an unfinished reply."""

from __future__ import annotations

from pathlib import Path

from ullage.context.entries import Clipped, ToolReturned
from ullage.store import folder as ullage_folder
from ullage.store.log_store import LogStore
from ullage.store.results import ResultFiles
from ullage.store.search import SearchIndex
from ullage.store.unfinished import unfinished_file


def erase_session(session_id: str, workspace: Path | None, log: LogStore, index: SearchIndex, results: ResultFiles) -> None:
    """Raises `SessionInUse` or `UnknownSession`, and has then deleted nothing.

    The log goes first: what could not be deleted after it is never shown again.
    """
    log.claim(session_id)
    outputs = [
        logged.entry.full_output
        for logged in log.load(session_id)
        if isinstance(logged.entry, ToolReturned | Clipped) and logged.entry.full_output is not None
    ]
    log.delete(session_id)
    unfinished_file(workspace, session_id).remove()
    index.forget(session_id)
    for path in outputs:
        results.remove(path)
    if workspace is not None:
        for path in ullage_folder.transcripts(workspace).glob(f"{session_id}-*.jsonl"):
            path.unlink(missing_ok=True)

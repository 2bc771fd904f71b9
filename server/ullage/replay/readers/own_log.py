"""Ullage's own sessions, out of the log of a workspace (`.ullage/ullage.db`), which is not written to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ullage.context.entries import (
    Clipped,
    Compaction,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    Entry,
    EntryPinned,
    FilePinned,
    Logged,
    TurnEnded,
)
from ullage.context.view.epoch import Epoch
from ullage.replay.readers.errors import NotATranscript
from ullage.replay.readers.flaws import DAMAGED_ENTRY, NO_SUMMARY, UNDONE, Tally
from ullage.replay.readers.log import Log
from ullage.replay.transcript import RecordedCompaction, Transcript
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.read_only import NoLog, open_to_read

_MAGIC = b"SQLite format 3\x00"
_SPOKEN_OF_ELSEWHERE = (Compaction, CompactionUndone, CompactionRedone, CompactionFailed, EntryPinned, FilePinned, TurnEnded)


def is_database(path: Path) -> bool:
    """Whether the file is an SQLite database. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> tuple[Transcript, ...]:
    """All sessions of a workspace, last updated first. Raises `NotATranscript` where it is no log of Ullage that can be read."""
    try:
        store = open_to_read(path)
    except NoLog as error:
        raise NotATranscript(str(error)) from error
    try:
        return tuple(_transcript(store, session.id) for session in store.sessions())
    except StoreFailed as error:
        raise NotATranscript(f"{path} is no log of Ullage that can be read: {error}") from error
    finally:
        store.close()


def _transcript(store: LogStore, session_id: str) -> Transcript:
    tally = Tally()
    logged = store.load(session_id)
    tally.count(DAMAGED_ENTRY, len(store.damaged(session_id)))
    log, compactions = _without_compactions(logged, tally)
    return Transcript(session_id, "ullage", log.entries, compactions, tally.repairs, tally.notes)


def _without_compactions(logged: Sequence[Logged], tally: Tally) -> tuple[Log, tuple[RecordedCompaction, ...]]:
    """What was said, under new seqs, and the compactions that are in force at the end."""
    log = Log(tally)
    epoch = Epoch()
    places: dict[int, int] = {}
    recorded: dict[int, RecordedCompaction] = {}
    for each in logged:
        epoch = epoch.after(each)
        if isinstance(each.entry, Compaction):
            recorded[each.seq] = _recorded(each.entry, log.length, each.at)
        elif not isinstance(each.entry, _SPOKEN_OF_ELSEWHERE):
            entry = _moved(each.entry, places)
            if entry is not None:
                places[each.seq] = log.add(entry, each.at)
    tally.count(UNDONE, len(epoch.undone))
    in_force = tuple(recorded[seq] for seq in epoch.active)
    tally.count(NO_SUMMARY, sum(not each.summary for each in in_force))
    return log, in_force


def _moved(entry: Entry, places: dict[int, int]) -> Entry | None:
    """The entry with the new seq of the one that it speaks of; None where that one is not there."""
    if not isinstance(entry, Clipped):
        return entry
    return replace(entry, seq=places[entry.seq]) if entry.seq in places else None


def _recorded(compaction: Compaction, after_seq: int, at: float) -> RecordedCompaction:
    summary = compaction.summarised.words if compaction.summarised is not None else ""
    return RecordedCompaction(after_seq, summary, compaction.trigger != "manual", compaction.tokens_before, at)

"""Ullage's own sessions, out of the log of a workspace (`ullage.db`), which is not written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import (
    ASKED_FOR,
    BY_THE_USER,
    Compaction,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    Reworded,
    SpentInVain,
)
from ullage.context.entries import AssistantReply, Clipped, Entry, EntryPinned, Forked, Logged, SizeStated
from ullage.context.view.epoch import Epoch
from ullage.replay.readers.entries import Log
from ullage.replay.readers.flaws import COUNTED_ELSEWHERE, DAMAGED_ENTRY, NO_SUMMARY, SMALL, UNDONE, NotATranscript, Tally
from ullage.replay.transcript import RecordedCompaction, Transcript
from ullage.store.errors import StoreFailed
from ullage.store.folder import workspace_of
from ullage.store.log_store import LogStore, NoLog, open_to_read
from ullage.store.origins import Lineage, origin_of

_MAGIC = b"SQLite format 3\x00"
_SPOKEN_OF_ELSEWHERE = (
    Compaction,
    CompactionUndone,
    CompactionRedone,
    CompactionFailed,
    Forked,
    Reworded,
    SizeStated,
    SpentInVain,
)


def is_database(path: Path) -> bool:
    """Whether the file is an SQLite database. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> Iterator[Transcript]:
    """All sessions of a workspace, last updated first, each when it is asked for. Raises `NotATranscript` where it is no log of Ullage
    that can be read."""
    try:
        store = open_to_read(path)
        project = str(workspace_of(path.parent) or path.resolve().parent)
    except NoLog as error:
        raise NotATranscript(str(error)) from error
    try:
        shared = _Shared(store.lineages())
        for session in store.sessions():
            yield replace(_transcript(store, session.id, shared), project=project)
    except StoreFailed as error:
        raise NotATranscript(f"{path} is no log of Ullage that can be read: {error}") from error
    finally:
        store.close()


class _Shared:
    """What forks have in common is counted once: where it was first logged, or, where that session is gone, with the first that is read."""

    def __init__(self, lineages: Mapping[str, Lineage]) -> None:
        self._lineages = lineages
        self._taken: set[tuple[str, int]] = set()

    def without_repeated(self, session_id: str, logged: Sequence[Logged], tally: Tally) -> list[Logged]:
        """The entries with no count of tokens where another session has it."""
        lineage = self._lineages.get(session_id, ())
        kept: list[Logged] = []
        for each in logged:
            origin = origin_of(session_id, lineage, each.seq)
            repeats = origin != session_id and (origin in self._lineages or (origin, each.seq) in self._taken)
            if origin not in self._lineages:
                self._taken.add((origin, each.seq))
            if repeats and isinstance(each.entry, AssistantReply):
                tally.count(COUNTED_ELSEWHERE)
                each = replace(each, entry=replace(each.entry, usage=None, cost=None))
            kept.append(each)
        return kept


def _transcript(store: LogStore, session_id: str, shared: _Shared) -> Transcript:
    tally = Tally()
    logged = shared.without_repeated(session_id, store.load(session_id), tally)
    tally.count(DAMAGED_ENTRY, len(store.damaged(session_id)))
    log, compactions = _without_compactions(logged, tally)
    return Transcript(session_id, "ullage", log.entries, compactions, tally.repairs, tally.notes)


def _without_compactions(logged: Sequence[Logged], tally: Tally) -> tuple[Log, tuple[RecordedCompaction, ...]]:
    """What was said, under new seqs, and the compactions that are in force at the end: those that a full context or somebody asked for."""
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
    tally.count(UNDONE, sum(not _is_small(each) for each in epoch.undone))
    tally.count(SMALL, sum(map(_is_small, epoch.active.values())))
    in_force = tuple(recorded[seq] for seq, each in epoch.active.items() if not _is_small(each))
    tally.count(NO_SUMMARY, sum(not each.summary for each in in_force))
    return log, in_force


def _is_small(compaction: Compaction) -> bool:
    """Whether it is what a policy does before every call, or something that the user took out: neither stands for the context that was."""
    return compaction.trigger == "upkeep" or compaction.policy == BY_THE_USER


def _moved(entry: Entry, places: dict[int, int]) -> Entry | None:
    """The entry with the new seq of the one that it speaks of; None where that one is not there."""
    if not isinstance(entry, Clipped | EntryPinned):
        return entry
    return replace(entry, seq=places[entry.seq]) if entry.seq in places else None


def _recorded(compaction: Compaction, after_seq: int, at: float) -> RecordedCompaction:
    summary = compaction.summarised.words if compaction.summarised is not None else ""
    used = compaction.usage or Usage(0, 0)
    automatic = compaction.trigger not in ASKED_FOR
    return RecordedCompaction(
        *(after_seq, summary, automatic, compaction.tokens_before, at), usage=used, trigger=compaction.trigger, focus=compaction.focus
    )

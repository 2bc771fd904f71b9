"""Ullage's own sessions, out of the log of a workspace (`ullage.db`), which is not written to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ullage.context.blocks import Usage
from ullage.context.change_entries import FilesChanged, Reviewed, ReviewedTogether
from ullage.context.compaction.forgotten import all_fetched_again
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
from ullage.context.entries import AssistantReply, CameOver, Clipped, Entry, EntryPinned, Forked, Logged, SizeStated
from ullage.context.view.epoch import EpochState
from ullage.context.view.taken_out import messages_taken_out
from ullage.recorded.readers.entries import RecordedLog
from ullage.recorded.readers.flaws import COUNTED_ELSEWHERE, DAMAGED_ENTRY, NO_SUMMARY, SMALL, UNDONE, FlawTally, NotATranscript
from ullage.recorded.transcript import Happening, RecordedAside, RecordedCompaction, RecordedExclusion, RecordedReversal, Transcript
from ullage.store.errors import StoreFailed
from ullage.store.folder import workspace_of
from ullage.store.log_store import NoLog, open_to_read
from ullage.store.origins import Lineage, origin_of

_MAGIC = b"SQLite format 3\x00"
_SPOKEN_OF_ELSEWHERE = (Forked, Reworded, CameOver)


def is_database(path: Path) -> bool:
    """Whether the file is an SQLite database. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> Iterator[Transcript]:
    """The sessions of a workspace, last updated first, each read when it is asked for. Raises `NotATranscript` if the file is no log of
    Ullage that can be read."""
    try:
        store = open_to_read(path)
        project = str(workspace_of(path.parent) or path.resolve().parent)
    except NoLog as error:
        raise NotATranscript(str(error)) from error
    try:
        shared = Shared(store.lineages())
        for session in store.sessions():
            logged = store.load(session.id)
            yield replace(transcript_of(session.id, logged, len(store.damaged(session.id)), shared), project=project)
    except StoreFailed as error:
        raise NotATranscript(f"{path} is no log of Ullage that can be read: {error}") from error
    finally:
        store.close()


class Shared:
    """Sees to it that what forks have in common is counted once: in the session that logged it first or, if that one is gone, in the first
    that is read."""

    def __init__(self, lineages: Mapping[str, Lineage]) -> None:
        self._lineages = lineages
        self._taken: set[tuple[str, int]] = set()

    def without_repeated(self, session_id: str, logged: Sequence[Logged], tally: FlawTally) -> list[Logged]:
        """The entries, with their token counts taken away where another session has counted them."""
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


def transcript_of(session_id: str, entries: Sequence[Logged], damaged: int, shared: Shared) -> Transcript:
    """The transcript of a session with these entries of its log. `damaged` is how many more of its entries cannot be read."""
    tally = FlawTally()
    logged = shared.without_repeated(session_id, entries, tally)
    tally.count(DAMAGED_ENTRY, damaged)
    parted = _Parting(tally)
    for each in logged:
        parted.take(each)
    compactions = parted.in_force(logged)
    return Transcript(
        session_id, "ullage", parted.log.entries, compactions, tally.repairs, tally.notes, history=tuple(parted.history.values())
    )


class _Parting:
    """Parts a log into what was said, under new seqs, and what became of it: compactions, and what the user did by hand."""

    def __init__(self, tally: FlawTally) -> None:
        self.log = RecordedLog(tally)
        self.history: dict[int, Happening] = {}
        """What happened to the conversation, by the seq in the log that is read."""
        self._compactions: dict[int, RecordedCompaction] = {}
        """Compactions by their seq in the log that is read. Upkeep and what the user took out are left out: neither stands for the context
        that was."""
        self._tally = tally
        self._epoch = EpochState()
        self._places: dict[int, int] = {}
        """The new seq of each entry that was taken over, by its seq in the log that is read."""
        self._before: Entry | None = None

    def take(self, logged: Logged) -> None:
        """Takes in the next entry of the log."""
        seq, entry = logged.seq, logged.entry
        self._epoch = self._epoch.after(logged)
        match entry:
            case Compaction():
                self._take_compaction(seq, entry, logged.at)
            case CompactionUndone() | CompactionRedone():
                redo = isinstance(entry, CompactionRedone)
                self.history[seq] = RecordedReversal(entry.compaction_id, entry.compaction_id, self.log.length, logged.at, redo)
            case CompactionFailed() | SpentInVain() | FilesChanged() | Reviewed() | ReviewedTogether() | SizeStated():
                self.history[seq] = RecordedAside(self.log.length, logged.at, entry)
            case _ if not isinstance(entry, _SPOKEN_OF_ELSEWHERE):
                moved = _moved(entry, self._places)
                if moved is not None:
                    self._places[seq] = self.log.add(moved, logged.at)
            case _:
                pass
        self._before = entry

    def in_force(self, log: Sequence[Logged]) -> tuple[RecordedCompaction, ...]:
        """The compactions that are in force at the end of `log`: those that a full context made necessary, or that somebody asked for."""
        active, undone = self._epoch.active, {each.id for each in self._epoch.undone}
        self._tally.count(UNDONE, sum(each.id in undone for each in self._compactions.values()))
        again = all_fetched_again(log, active)
        found = tuple(
            replace(self._compactions[seq], fetched_again=again.get(self._compactions[seq].id))
            for seq in active
            if seq in self._compactions
        )
        self._tally.count(SMALL, len(active) - len(found))
        self._tally.count(NO_SUMMARY, sum(not each.summary for each in found))
        return found

    def _take_compaction(self, seq: int, made: Compaction, at: float) -> None:
        after = self.log.length
        if made.policy == BY_THE_USER:
            path = next((file.path for file in made.without_files), "")
            out = {*(each.seq for each in made.cleared), *messages_taken_out(made)}
            place = 0 if path else self._places.get(min(out, default=0), 0)
            if path or place:
                self.history[seq] = RecordedExclusion(made.id, after, at, place, path)
        elif made.trigger != "upkeep" and not self._only_fits(made):
            recorded = self._compactions[seq] = replace(_recorded(made, after, at), planned_after=self._new_seq(made.through))
            again = next((each for each in self._epoch.undone if self._is_again(made, each)), None)
            self.history[seq] = RecordedReversal(made.id, again.id, after, at, redo=True) if again is not None else recorded

    def _only_fits(self, made: Compaction) -> bool:
        """Whether the compaction was only made so that the conversation fits the window after an undo."""
        return isinstance(self._before, CompactionUndone | CompactionRedone) and made.rung == "moves" and made.trigger == "manual"

    def _is_again(self, made: Compaction, undone: Compaction) -> bool:
        """Whether `made` is `undone`, made once more. It is if it was planned after the same entry: any other one is planned after the
        undone one."""
        seq = next(seq for seq, each in self._epoch.compactions.items() if each.id == undone.id)
        return made.through == undone.through < seq and (made.trigger, made.rung) == (undone.trigger, undone.rung)

    def _new_seq(self, seq: int) -> int | None:
        """The new seq of the last entry up to `seq` that was taken over; None if there is none."""
        known = list(self._places)
        place = bisect_right(known, seq)
        return self._places[known[place - 1]] if place else None


def _moved(entry: Entry, places: dict[int, int]) -> Entry | None:
    """The entry with the new seq of the one that it speaks of; None if that one is not there."""
    if not isinstance(entry, Clipped | EntryPinned):
        return entry
    return replace(entry, seq=places[entry.seq]) if entry.seq in places else None


def _recorded(compaction: Compaction, after_seq: int, at: float) -> RecordedCompaction:
    summary = compaction.summarised.words if compaction.summarised is not None else ""
    used = compaction.usage or Usage(0, 0)
    automatic = compaction.trigger not in ASKED_FOR
    return RecordedCompaction(
        *(after_seq, summary, automatic, compaction.tokens_before, at),
        usage=used,
        trigger=compaction.trigger,
        focus=compaction.focus,
        saves=compaction.saves,
        by_program=compaction.rung in ("digest", "tail"),
        policy=compaction.policy,
        id=compaction.id,
    )

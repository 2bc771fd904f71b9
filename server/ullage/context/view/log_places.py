"""Where an entry stands in a log, found by its seq: however long the log is, nothing but the entry is looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ullage.context.entries import AssistantReply, Clipped, Entry, Logged
from ullage.context.view.paged_log import Entries


def entry_at(entries: Sequence[Logged], seq: int) -> Entry | None:
    """The entry with this seq; None where there is none."""
    index = place_of(entries, seq)
    return entries[index].entry if index < len(entries) and entries[index].seq == seq else None


def place_of(entries: Sequence[Logged], seq: int) -> int:
    """The index of the first entry whose seq is not less. At once in a log without gaps, as all are that a store wrote."""
    if isinstance(entries, Entries):
        return entries.place(seq)
    if 0 < seq <= len(entries) and entries[seq - 1].seq == seq:
        return seq - 1
    return bisect_left(entries, seq, key=_seq_of)


def clipped_to(entries: Sequence[Logged], seq: int) -> Clipped | None:
    """What shortened the result of entry `seq` on arrival, together with the others of its message; None where nothing did."""
    for index in range(place_of(entries, seq) + 1, len(entries)):
        entry = entries[index].entry
        if isinstance(entry, Clipped) and entry.seq == seq:
            return entry
        if isinstance(entry, AssistantReply):  # nothing is clipped once it was sent
            return None
    return None


def _seq_of(logged: Logged) -> int:
    return logged.seq

"""Which entries tell what the user took out of which session, for the search index: a search need not read whole logs for it.

The index keeps the places of those entries alone; what they say is read from the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from ullage.context.entries import Compaction, CompactionRedone, CompactionUndone, Entry
from ullage.context.view.taken_out import gone_by, out_of_sight
from ullage.store.lineage import Lineage
from ullage.store.log_store import LogStore

TABLE = """
CREATE TABLE telling (
    session_id TEXT NOT NULL, seq INTEGER NOT NULL, takes_out INTEGER NOT NULL, PRIMARY KEY (session_id, seq)
)
"""
"""By where an entry was first logged, as everything in the index."""

_Places = tuple[int, ...]


def take_in(connection: sqlite3.Connection, origin: str, seq: int, entry: Entry) -> None:
    """Notes an entry that tells of it: what takes something out, records, which may speak of it, and what undoes and redoes."""
    match entry:
        case Compaction():
            takes_out = bool(gone_by(entry))
            tells = takes_out or entry.summarised is not None
        case CompactionUndone() | CompactionRedone():
            takes_out, tells = False, True
        case _:
            return
    if tells:
        connection.execute("INSERT OR REPLACE INTO telling VALUES (?, ?, ?)", (origin, seq, takes_out))


def places(connection: sqlite3.Connection, lineages: Mapping[str, Lineage]) -> dict[str, _Places]:
    """The seqs of those entries by session; of sessions from which nothing was ever taken out, none."""
    told: dict[str, list[tuple[int, bool]]] = {}
    for origin, seq, takes_out in connection.execute("SELECT session_id, seq, takes_out FROM telling ORDER BY seq"):
        told.setdefault(origin, []).append((seq, bool(takes_out)))
    found: dict[str, _Places] = {}
    for session_id, lineage in lineages.items() if told else ():
        rows = list(told.get(session_id, ()))
        after = 0
        for origin, through in lineage:
            rows += [row for row in told.get(origin, ()) if after < row[0] <= through]
            after = through
        if any(takes_out for _, takes_out in rows):
            found[session_id] = tuple(sorted(seq for seq, _ in rows))
    return found


class OutOfSight:
    """What is not to be found of each session, kept while nothing more tells of it there."""

    def __init__(self, log: LogStore) -> None:
        self._log = log
        self._known: dict[str, tuple[_Places, AbstractSet[int]]] = {}

    def of_all(self, telling: Mapping[str, _Places]) -> Mapping[str, AbstractSet[int]]:
        """By session, from what `places` gave. Raises `StoreFailed`."""
        known = self._known
        self._known = {
            session_id: known[session_id] if known.get(session_id, ((),))[0] == seqs else (seqs, self._read(session_id, seqs))
            for session_id, seqs in telling.items()
        }
        return {session_id: hidden for session_id, (_, hidden) in self._known.items() if hidden}

    def _read(self, session_id: str, seqs: _Places) -> AbstractSet[int]:
        return out_of_sight(logged for seq in seqs for logged in self._log.between(session_id, seq, seq))

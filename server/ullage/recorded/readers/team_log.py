"""Sessions out of a team's database: the same entries as in the log of a workspace, so the same transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ullage.context.entries import Logged
from ullage.recorded.readers.own_log import Shared, transcript_of
from ullage.recorded.transcript import Transcript
from ullage.store.encode import DamagedEntry
from ullage.store.origins import Lineage
from ullage.store.statements import logged_of
from ullage.store.team.reading import TeamReader


def read(
    reader: TeamReader, workspace: str, sessions: Mapping[str, Lineage], at: Callable[[int], None] = lambda position: None
) -> Iterator[Transcript]:
    """The transcripts of these sessions, each read when it is asked for. What forks among them have in common is counted once. A session
    that was deleted meanwhile is passed over. `at` is told how many bytes of a session were read so far, and may raise to end it. Raises
    the errors in `faults.py`."""
    shared = Shared(sessions)
    for session_id in sessions:
        last = reader.last_seq(workspace, session_id)
        if last is None:
            continue
        logged, size = list[Logged](), 0
        for row in reader.entries(workspace, session_id, last):
            size += len(row.body)
            at(size)
            try:
                logged.append(logged_of(row))
            except DamagedEntry:
                continue
        yield replace(transcript_of(session_id, logged, last - len(logged), shared), project=workspace)

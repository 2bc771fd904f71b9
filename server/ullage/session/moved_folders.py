"""Sessions of workspace folders that are gone: renamed, moved or deleted. They lie in our own folder still, and another one can take them
over.

What is kept there is the user's own, so nothing has to be proven. The sessions are copied, each whole or not at all, and those that are
there are passed over: so it can be done again after it was killed. What was kept stays, and is told no more.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ullage.context.entries import Logged, Notice
from ullage.session.earlier_store import Taken, copy_files
from ullage.store.adding import SessionRecord
from ullage.store.errors import StoreFailed
from ullage.store.location import workspaces_in
from ullage.store.log_store import LogStore
from ullage.store.whole_file import write_whole

_TAKEN_BY = "taken-by.json"
_LOST = "(Here stood an entry that could not be read when the session was taken over.)"


@dataclass(frozen=True, slots=True)
class GoneFolder:
    """A folder that is no more, with the sessions that are kept of it. `updated_at` is of the last one, Unix seconds."""

    folder: Path
    sessions: int
    updated_at: float


def gone_folders(location: Path) -> list[GoneFolder]:
    """Those with sessions that no other folder has taken over, last used first. Logs that cannot be opened just now are left out."""
    found: list[GoneFolder] = []
    for folder, kept in workspaces_in(location).items():
        if folder.exists() or (kept / _TAKEN_BY).exists():
            continue
        try:
            with closing(LogStore.open(kept)) as log:
                records = log.sessions()
        except StoreFailed:
            continue
        if records:
            found.append(GoneFolder(folder, len(records), max(record.updated_at for record in records)))
    return sorted(found, key=lambda gone: -gone.updated_at)


def take_over(folder: Path, location: Path, workspace: Path, kept: Path, log: LogStore) -> Taken:
    """Takes the sessions of a folder that is gone into the log of `workspace`, which is kept in `kept`. Raises `StoreFailed`."""
    source = workspaces_in(location).get(folder)
    if source is None or folder.exists() or source == kept:
        raise StoreFailed(f"No sessions of a folder {folder} that is gone are kept in {location}")
    taken, unreadable = 0, 0
    failures: list[str] = []
    with closing(LogStore.open(source)) as old:
        copy_files(source, kept)
        for record in old.sessions():
            try:
                old.claim(record.id)  # nobody writes it meanwhile
                lost = _take_one(old, log, record)
            except StoreFailed as error:
                failures.append(f"{record.title or record.id}: {error}")
                continue
            taken += lost is not None
            unreadable += lost or 0
    if not failures:
        write_whole(source / _TAKEN_BY, json.dumps({"workspace": str(workspace)}) + "\n")
    return Taken(taken, tuple(failures), unreadable)


def _take_one(old: LogStore, log: LogStore, record: SessionRecord) -> int | None:
    """How many entries of it could not be read; None where it is there already."""
    logged = old.load(record.id)
    last = max([each.seq for each in logged] + [row.seq for row in old.damaged(record.id)], default=0)
    by_seq = {each.seq: each for each in logged}
    at = record.created_at
    whole: list[Logged] = []
    for seq in range(1, last + 1):
        entry = by_seq.get(seq)
        at = at if entry is None else entry.at
        whole.append(Logged(seq, at, Notice("resume", _LOST)) if entry is None else entry)
    for key in (f"lineage:{record.id}", f"model:{record.id}"):
        value = old.recalled(key)
        if value is not None:
            log.remember(key, value)
    is_new = log.take_in(record, whole, old.queued(record.id))
    return last - len(logged) if is_new else None

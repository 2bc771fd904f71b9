"""Sessions that the workspace can be given: those in its `.ullage` (`earlier_store.py`), looked for at the start, and those of workspace
folders that are gone: renamed, moved or deleted.

The latter lie in our own folder still, and are the user's own, so nothing has to be proven. They are copied, each whole or not at all, and
those that are there are passed over: so it can be done again after it was killed. What was kept stays, and is told no more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ullage.context.entries import Logged, Notice
from ullage.session.errors import SessionError, refusing
from ullage.session.sessions.earlier_store import OFFERED, EarlierSessions, EarlierStore, TakenIn, copy_files, taken_over
from ullage.store import folder as kept_folder
from ullage.store.brought import NotBrought
from ullage.store.errors import StoreFailed
from ullage.store.folder import workspaces_in
from ullage.store.log_store import LogStore
from ullage.store.recovery import LOST
from ullage.store.session_list import AGENT
from ullage.store.session_rows import GO_ALONG
from ullage.store.shared_files import write_whole
from ullage.store.statements import SessionRecord
from ullage.store.versions import Versions
from ullage.store.workspace_store import WorkspaceStore

IN_MEMORY = "Sessions are in memory only here, so none can be imported"


@dataclass(frozen=True, slots=True)
class Importable:
    """What lies in `.ullage` of the workspace (None: nothing that can be read), and folders that are gone."""

    brought: EarlierSessions | None
    gone: tuple[GoneFolder, ...]


class BroughtSessions:
    """What a workspace brings along, and the store that takes it in."""

    def __init__(
        self, workspace: Path | None, kept: WorkspaceStore, remembered_session: str | None, on_warning: Callable[[str], None]
    ) -> None:
        """`remembered_session`: the id of a session that the editor itself remembers for this workspace."""
        self._earlier = None if workspace is None or kept.folder is None else EarlierStore(workspace, kept.folder, kept.log)
        self._workspace = workspace
        self._kept = kept
        self._remembered_session = remembered_session
        self._on_warning = on_warning

    async def look(self) -> None:
        """Takes over what an earlier version kept in the workspace, if it is this user's; warns of what else lies there."""
        earlier = self._earlier
        try:
            state = "none" if earlier is None else await asyncio.to_thread(earlier.state)
            if earlier is None or state in ("none", "taken"):
                return
            taken = None
            if self._remembered_session is not None:
                taken = await asyncio.to_thread(earlier.take_over, self._remembered_session)
            if taken is None:
                if state == "new":
                    self._on_warning(OFFERED)
                    await asyncio.to_thread(earlier.offered)
                return
        except (NotBrought, StoreFailed) as error:
            self._on_warning(f"There are sessions in .ullage of this folder that were not imported: {error}. They stay where they are")
            return
        self._on_warning(taken_over(taken, self._kept.folder))

    async def importable(self) -> Importable:
        """The sessions that can be imported here. Raises `SessionError`."""
        earlier, location = self._here()
        with refusing():
            try:
                brought = await asyncio.to_thread(lambda: None if earlier.state() == "none" else earlier.listed())
            except NotBrought:
                brought = None
            return Importable(brought, tuple(await asyncio.to_thread(gone_folders, location)))

    async def take_in(self, *, as_mine: bool = False) -> TakenIn:
        """Imports what lies in `.ullage` of the workspace: to be read and searched, or to be gone on with where the user says that it is
        theirs. Raises `SessionError`."""
        earlier, _ = self._here()
        with refusing():
            try:
                return await asyncio.to_thread(earlier.take_as_mine if as_mine else earlier.import_foreign)
            except NotBrought as error:
                raise SessionError("invalid", f"No session was imported: {error}") from error

    async def take_over(self, folder: Path) -> TakenIn:
        """Takes over the sessions of a folder that is gone. Raises `SessionError`."""
        _, location = self._here()
        workspace, kept = self._workspace, self._kept
        with refusing():
            if workspace is None or kept.folder is None:
                raise SessionError("invalid", IN_MEMORY)
            return await asyncio.to_thread(take_over, folder, location, workspace, kept.folder, kept.log, kept.versions)

    def _here(self) -> tuple[EarlierStore, Path]:
        if self._earlier is None or self._kept.folder is None:
            raise SessionError("invalid", IN_MEMORY)
        return self._earlier, self._kept.folder.parent.parent


_TAKEN_BY = "taken-by.json"
NO_ROOM = "older copies of changed files found no room, so those changes cannot be taken back"
_LOST = "(Here stood an entry that could not be read when the session was taken over.)"


@dataclass(frozen=True, slots=True)
class GoneFolder:
    """A folder that is no more, with the sessions that are kept of it. `updated_at` is of the last one, Unix seconds."""

    folder: Path
    sessions: int
    updated_at: float


def gone_folders(location: Path) -> list[GoneFolder]:
    """The folders that are gone and whose sessions no other folder has taken over, last used first. Logs that cannot be opened just now are
    left out."""
    found: list[GoneFolder] = []
    for folder, kept in workspaces_in(location).items():
        if folder.exists() or (kept / _TAKEN_BY).exists():
            continue
        try:
            with closing(LogStore.open(kept)) as log:
                agents = log.recalled_all(AGENT)
                records = [record for record in log.sessions() if record.id not in agents]
        except StoreFailed:
            continue
        if records:
            found.append(GoneFolder(folder, len(records), max(record.updated_at for record in records)))
    return sorted(found, key=lambda gone: -gone.updated_at)


def take_over(folder: Path, location: Path, workspace: Path, kept: Path, log: LogStore, versions: Versions) -> TakenIn:
    """Takes the sessions of a folder that is gone into the log of `workspace`, which is kept in `kept`. Raises `StoreFailed`."""
    source = workspaces_in(location).get(folder)
    if source is None or folder.exists() or source == kept:
        raise StoreFailed(f"No sessions of a folder {folder} that is gone are kept in {location}")
    taken, unreadable = 0, 0
    failures: list[str] = []
    with closing(LogStore.open(source)) as old:
        copy_files(source, kept)
        agents = old.recalled_all(AGENT)  # their logs come along, and are no sessions of the list
        missing = () if versions.take_from(kept_folder.versions(source)) else (NO_ROOM,)  # first: no entry names what is not there
        for record in old.sessions():
            try:
                old.claim(record.id)  # nobody writes it meanwhile
                lost = _take_one(old, log, record)
            except StoreFailed as error:
                failures.append(f"{record.title or record.id}: {error}")
                continue
            taken += lost is not None and record.id not in agents
            unreadable += lost or 0
    if not failures:
        write_whole(source / _TAKEN_BY, json.dumps({"workspace": str(workspace)}) + "\n")
    return TakenIn(taken, (*failures, *missing), unreadable)


def _take_one(old: LogStore, log: LogStore, record: SessionRecord) -> int | None:
    """Takes one session over; gives how many entries of it could not be read, or None if it is there already."""
    logged = old.load(record.id)
    last = max([each.seq for each in logged] + [row.seq for row in old.damaged(record.id)], default=0)
    by_seq = {each.seq: each for each in logged}
    at = record.created_at
    whole: list[Logged] = []
    for seq in range(1, last + 1):
        entry = by_seq.get(seq)
        at = at if entry is None else entry.at
        whole.append(Logged(seq, at, Notice("resume", _LOST)) if entry is None else entry)
    for before_id in GO_ALONG:
        value = old.recalled(before_id + record.id)
        if value is not None and before_id != LOST:  # a notice stands for what was lost
            log.remember(before_id + record.id, value)
    is_new = log.take_in(record, whole, old.prompts.of(record.id))
    return last - len(logged) if is_new else None

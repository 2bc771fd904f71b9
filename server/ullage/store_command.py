"""`ullage store`: the tables of a team's database, and sessions copied there and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from ullage.context.quoting import visible_line
from ullage.store.errors import StoreFailed
from ullage.store.folder import prepare_for, store_location
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.team.address import is_address, read_address, workspace_name
from ullage.store.team.faults import SessionTaken
from ullage.store.team.passing import Here, can_go, common, fetch, is_same, say, send
from ullage.store.team.postgres import PostgresStore
from ullage.store.team.tables import set_up
from ullage.store.versions import Versions


def set_up_tables(database: str) -> int:
    """Makes the tables in that database, or updates them; gives the exit code."""
    try:
        address = read_address(database, "ADDRESS")
        is_new = set_up(address)
    except StoreFailed as error:
        return _failed(str(error))
    sys.stdout.write(
        f"The tables of Ullage {'were made' if is_new else 'are as they should be'} in {address.shown}.\n"
        "Whoever is to keep sessions there needs the role: GRANT ullage_member TO somebody;\n"
    )
    return 0


def copy(source: str, target: str, workspace: str, location: str) -> int:
    """Copies all sessions of a workspace, and says what came of it; gives the exit code: 0 if all of them were copied whole."""
    if is_address(source) == is_address(target):
        return _failed("Name the folder of a workspace and the address of a database, in the order in which sessions are to go.")
    to_database = is_address(target)
    folder, database = (Path(source), target) if to_database else (Path(target), source)
    if not folder.is_dir():
        return _failed(f"{folder} is no folder")
    try:
        with _opened(folder, location) as (log, here), closing(_connected(database, workspace, folder, log)) as team:
            return _Copying(log, here, team).send_all() if to_database else _Copying(log, here, team).fetch_all()
    except StoreFailed as error:
        return _failed(str(error))


@contextmanager
def _opened(folder: Path, location: str) -> Generator[tuple[LogStore, Here]]:
    workspace = folder.resolve()
    kept = prepare_for(workspace, store_location(location), (workspace,))
    with closing(LogStore.open(kept)) as log, closing(Versions.open(kept)) as versions:
        yield log, Here(log.rows, ResultFiles(kept), MediaFiles(kept), versions, kept)


def _connected(database: str, workspace: str, folder: Path, log: LogStore) -> PostgresStore:
    name = workspace or workspace_name("", folder)
    return PostgresStore(read_address(database, "The address"), name, f"{log.identity()} copying")


class _Copying:
    """One run of copying sessions. What was copied before is passed over, so that another run goes on with one that was cut off."""

    def __init__(self, log: LogStore, here: Here, team: PostgresStore) -> None:
        self._log = log
        self._here = here
        self._team = team
        self._failed = self._entries = self._copied = 0

    def send_all(self) -> int:
        """Copies all sessions from this machine into the database; gives the exit code."""
        for session_id in filter(can_go, self._here.rows.ids()):
            self._one(session_id, self._send)
        return self._told(self._team.address.shown)

    def fetch_all(self) -> int:
        """Copies all sessions from the database to this machine; gives the exit code."""
        for listed in self._team.sessions():
            session_id = listed.id
            if can_go(session_id):
                self._one(session_id, self._fetch)
        return self._told("this machine")

    def _one(self, session_id: str, work: Callable[[str], int]) -> None:
        try:
            self._log.claim(session_id)
            try:
                entries = work(session_id)
                if not is_same(self._here, self._team, session_id):
                    raise StoreFailed("the entries here and there are not the same")
            finally:
                self._log.release(session_id)
        except StoreFailed as error:
            self._failed += 1
            sys.stderr.write(f"{session_id}: {visible_line(str(error))}\n")
        else:
            self._copied += 1
            self._entries += entries

    def _send(self, session_id: str) -> int:
        heads = self._here.rows.heads(session_id)
        if heads is None:
            return 0
        self._team.make(heads.session)
        if not self._team.take(session_id):
            raise SessionTaken
        try:
            before = common(self._here, self._team, session_id)
            last = send(self._here, self._team, session_id, before).there
            say(self._here, self._team, session_id, last)
        finally:
            self._team.give_back(session_id)
        return last - before

    def _fetch(self, session_id: str) -> int:
        before = self._here.rows.last(session_id)
        return fetch(self._here, self._team, session_id) - before

    def _told(self, where: str) -> int:
        sys.stdout.write(
            f"{self._copied:,} sessions are in {where}, the same by count and hash; {self._entries:,} of their entries are new there.\n"
        )
        if self._failed:
            sys.stderr.write(f"{self._failed:,} sessions were not copied. Do it again when what stands above is put right.\n")
        return 1 if self._failed else 0


def _failed(message: str) -> int:
    sys.stderr.write(f"ullage store: {message}\n")
    return 1

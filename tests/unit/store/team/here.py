"""Machines with a workspace and sessions in it, for the tests of the team's store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Entry, ToolReturned, TurnEnded, UserPrompt
from ullage.store.errors import StoreFailed
from ullage.store.folder import prepare_for
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.team.address import Address
from ullage.store.team.following import Following
from ullage.store.team.passing import Here
from ullage.store.team.postgres import PostgresStore
from ullage.store.versions import Versions


def turn(number: int, said: str = "Why does the parser hang?") -> list[Entry]:
    """The entries of a turn."""
    used = ToolUse(f"t{number}", "bash", {"command": "ls"})
    return [
        UserPrompt(f"p{number}", said),
        AssistantReply(f"r{number}a", (Text("I look."), used), "m", "tool_use", None),
        ToolReturned(used.id, "bash", "nothing", is_error=False, characters=7),
        AssistantReply(f"r{number}b", (Text("Done."),), "m", "end_turn", None),
        TurnEnded("end_turn"),
    ]


class Machine:
    """What one machine keeps of the workspace `folder`."""

    def __init__(self, folder: Path, location: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.location = folder, location
        self.kept = prepare_for(folder, location, (folder,))
        self.log = LogStore.open(self.kept)
        self.media, self.results, self.versions = MediaFiles(self.kept), ResultFiles(self.kept), Versions.open(self.kept)
        self.here = Here(self.log.rows, self.results, self.media, self.versions, self.kept)

    def close(self) -> None:
        self.versions.close()
        self.log.close()


class Killable(PostgresStore):
    """One whose process can be killed: then it asks the database nothing more."""

    def __init__(self, address: Address, workspace: str, holder: str, lease_seconds: float, *, durable: bool) -> None:
        super().__init__(address, workspace, holder, lease_seconds, durable=durable)
        self.killed = threading.Event()

    def _ask(self, statement: str, given: Iterable[object]) -> list[tuple[Any, ...]]:
        if self.killed.is_set():
            raise StoreFailed("The process was killed")
        return super()._ask(statement, given)


class Colleague:
    """One machine that follows the database."""

    def __init__(self, machine: Machine, writes: Killable, reads: Killable, lease_seconds: float) -> None:
        self.machine, self.log, self.writes, self.reads = machine, machine.log, writes, reads
        self.is_closed = False
        self.told: list[str] = []
        self.erase = machine.log.delete
        self.following = Following(
            *(machine.here, writes, reads, machine.log.claim, machine.log.release, lease_seconds), lambda session_id: self.erase(session_id)
        )
        self.following.tell = self.told.append
        self.following.is_well = self.told.append
        machine.log.keep_elsewhere(self.following)
        self.following.start()

    def say(self, session_id: str, *entries: Entry) -> None:
        """Writes, and waits until it is there."""
        self.log.append_many(session_id, entries, 5.0)
        self.settle(session_id)

    def settle(self, session_id: str) -> None:
        settled = self.log.settled(session_id)
        if settled is not None:
            settled.result(PATIENCE)

    def new(self, title: str = "A session") -> str:
        session_id = self.log.create_session(title, 1.0).id
        self.following.open(session_id)
        return session_id

    def entries(self, session_id: str) -> list[Entry]:
        return [each.entry for each in self.log.load(session_id)]

    def close(self) -> None:
        self.is_closed = True
        self.log.elsewhere.close()
        self.machine.close()

    def stops_sending(self) -> None:
        """What is said from now on does not come there before the process dies."""
        for store in (self.writes, self.reads):
            store.killed.set()

    def dies(self) -> None:
        """As a process that is killed: nothing more is sent, and nothing is given back."""
        self.stops_sending()
        self.close()


def until(true: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.005)

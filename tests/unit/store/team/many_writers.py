"""A process that writes a session of its own over the team's database when it is told to, and says what became of it."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from pathlib import Path

from tests.patience import PATIENCE
from tests.unit.store.team.here import Machine, turn
from ullage.store.team.address import read_address
from ullage.store.team.following import Following
from ullage.store.team.passing import digest_of
from ullage.store.team.postgres import PostgresStore


def write(folder: Path, location: Path, url: str, workspace: str, turns: int, parent: Connection) -> None:
    """Tells the id of its session, waits for a word, writes, tells the digest of what was acknowledged and how long entries took, and waits
    for another word before it ends."""
    machine = Machine(folder, location)
    address = read_address(url, "test")
    writes, reads = (PostgresStore(address, workspace, machine.log.identity(), durable=durable) for durable in (True, False))
    following = Following(machine.here, writes, reads, machine.log.claim, machine.log.release)
    machine.log.keep_elsewhere(following)
    following.start()
    session = machine.log.create_session(location.name, 1.0).id
    following.open(session)
    parent.send(session)
    parent.recv()
    took: list[float] = []
    for number in range(turns):
        for entry in turn(number, f"{location.name} says {number}"):
            began = time.monotonic()
            machine.log.append_many(session, [entry], float(number))
            settled = machine.log.settled(session)
            if settled is not None:
                settled.result(10 * PATIENCE)
            took.append(time.monotonic() - began)
    parent.send((digest_of(machine.here.rows.after(session, 0, 1_000_000)), took))
    parent.recv()
    machine.log.elsewhere.close()
    machine.close()

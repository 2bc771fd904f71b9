"""A process that writes into a session over the team's database until it is killed, and says of each entry when it is there."""

from __future__ import annotations

import random
from multiprocessing.connection import Connection
from pathlib import Path

from tests.patience import PATIENCE
from tests.unit.store.team.here import Machine, turn
from ullage.store.team.address import read_address
from ullage.store.team.following import Following
from ullage.store.team.postgres import PostgresStore


def send(folder: Path, location: Path, url: str, workspace: str, lease_seconds: float, seed: int, acknowledge: Connection) -> None:
    """Never ends by itself. Tells the id of its session, and then the seq of the last entry that is there."""
    chance = random.Random(seed)
    machine = Machine(folder, location)
    address = read_address(url, "test")
    writes, reads = (PostgresStore(address, workspace, machine.log.identity(), lease_seconds, durable=durable) for durable in (True, False))
    following = Following(machine.here, writes, reads, machine.log.claim, machine.log.release, lease_seconds)
    following.tell = lambda text: None
    machine.log.keep_elsewhere(following)
    following.start()
    session = machine.log.create_session(f"killed {seed}", 1.0).id
    following.open(session)
    acknowledge.send(session)
    number = 0
    while True:
        number += 1
        entries = turn(number, "x" * chance.choice([10, 2_000, 100_000]))
        while entries:
            several = chance.randrange(1, len(entries) + 1)
            logged = machine.log.append_many(session, entries[:several], float(number))
            entries = entries[several:]
            settled = machine.log.settled(session)
            if settled is not None:
                settled.result(PATIENCE)
            acknowledge.send(logged[-1].seq)

"""The process, the database or the connection is killed at any moment: no acknowledged entry is lost, none is out of order, and the session
is free when its lease is over."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.deep import many
from tests.forking import forking
from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.store.team.here import Machine
from tests.unit.store.team.killed_sender import send
from ullage.store.errors import SessionInUse
from ullage.store.team.following import Following
from ullage.store.team.passing import is_same
from ullage.store.team.postgres import PostgresStore

LEASE = 1.0
GRACE = 2.0
"""Seconds that a busy machine may take for the rest."""


def taken(here: Connection) -> int | str:
    assert here.poll(PATIENCE)
    return here.recv()


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(many(3, deep=300)))
def test_nothing_acknowledged_is_lost(
    tmp_path: Path, postgres: Postgres, workspace: str, connect: Callable[..., PostgresStore], seed: int
) -> None:
    chance = random.Random(seed)
    here, there = forking().Pipe(duplex=False)
    given = (tmp_path / "project", tmp_path / "first", postgres.url("ann"), workspace, LEASE, seed, there)
    process = forking().Process(target=send, args=given, daemon=True)
    process.start()
    there.close()
    try:
        session = str(taken(here))
        acknowledged = [taken(here) for _ in range(chance.randrange(8))]
        time.sleep(chance.random() * 0.02)
        match ("process", "database", "connection")[seed % 3]:
            case "database":
                postgres.kill()
                while here.poll():
                    acknowledged.append(here.recv())
                postgres.start()
                acknowledged += [taken(here) for _ in range(3)]
            case "connection":
                postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'")
                acknowledged += [taken(here) for _ in range(3)]
            case _:
                pass
    finally:
        process.kill()
        process.join()
    died = time.monotonic()
    while here.poll():
        try:
            acknowledged.append(here.recv())
        except EOFError:
            break
    here.close()
    last = max((each for each in acknowledged if isinstance(each, int)), default=0)

    machine = Machine(tmp_path / "project", tmp_path / "second")
    identity = machine.log.identity()
    following = Following(
        machine.here,
        connect("ann", identity, LEASE),
        connect("ann", identity, LEASE, reads=True),
        machine.log.claim,
        machine.log.release,
        LEASE,
    )
    machine.log.keep_elsewhere(following)
    with closing(machine):
        while True:
            try:
                following.open(session)
                break
            except SessionInUse:
                assert time.monotonic() - died < LEASE + GRACE
        seqs = [each.seq for each in machine.log.load(session)]
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) >= last
        assert is_same(machine.here, connect(), session)
        following.close()

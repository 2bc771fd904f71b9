"""A PostgreSQL for the tests of this folder, one for each process of pytest."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres import Postgres, started
from tests.unit.store.team.here import Colleague, Killable, Machine
from ullage.store.team.address import read_address
from ullage.store.team.tables import set_up

MEMBERS = ("ann", "bob", "eve")
"""Users of the database who may use Ullage there."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One with the tables of Ullage and three users."""
    server = started()
    try:
        set_up(read_address(server.url(), "test"))
        for name in MEMBERS:
            server.sql(f"CREATE ROLE {name} LOGIN IN ROLE ullage_member")
        yield server
    finally:
        server.end()


@pytest.fixture
def workspace() -> str:
    """A workspace of the test's own."""
    return f"workspace {secrets.token_hex(4)}"


@pytest.fixture
def connect(postgres: Postgres, workspace: str) -> Iterator[Callable[..., Killable]]:
    """Makes stores of that workspace, which are closed at the end: `connect(user, holder, lease_seconds)`. `reads` has one that reads."""
    made: list[Killable] = []
    postgres.start()  # if a test has ended it, the next ones do not each wait for it

    def make(
        user: str = "ann", holder: str = "", lease_seconds: float = 30.0, workspace: str = workspace, *, reads: bool = False
    ) -> Killable:
        address = read_address(postgres.url(user), "test")
        store = Killable(address, workspace, holder or secrets.token_hex(4), lease_seconds, durable=not reads)
        made.append(store)
        return store

    yield make
    for each in made:
        each.close()


@pytest.fixture
def join(tmp_path: Path, connect: Callable[..., Killable]) -> Iterator[Callable[..., Colleague]]:
    """Makes a machine: `join("ann")`."""
    made: list[Colleague] = []

    def make(name: str, user: str = "ann", lease_seconds: float = 30.0) -> Colleague:
        machine = Machine(tmp_path / "project", tmp_path / name)
        stores = [connect(user, machine.log.identity(), lease_seconds, reads=reads) for reads in (False, True)]
        made.append(Colleague(machine, stores[0], stores[1], lease_seconds))
        return made[-1]

    yield make
    for each in made:
        if not each.is_closed:
            each.close()

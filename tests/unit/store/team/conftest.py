"""A PostgreSQL for the tests of this folder, one for each process of pytest."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import pytest

from tests.postgres import Postgres, started
from ullage.store.team.address import read_address
from ullage.store.team.postgres import PostgresStore, set_up

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
def connect(postgres: Postgres, workspace: str) -> Iterator[Callable[..., PostgresStore]]:
    """Makes stores of that workspace, which are closed at the end: `connect(user, holder, lease_seconds)`."""
    made: list[PostgresStore] = []

    def make(user: str = "ann", holder: str = "", lease_seconds: float = 30.0, workspace: str = workspace) -> PostgresStore:
        store = PostgresStore(read_address(postgres.url(user), "test"), workspace, holder or secrets.token_hex(4), lease_seconds)
        made.append(store)
        return store

    yield make
    for each in made:
        each.close()

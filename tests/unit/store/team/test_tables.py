"""The tables are made and brought up to date by their owner, step by step, whatever ends in the middle and however many do it at once."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.postgres import Postgres
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, entry_sum
from ullage.store.team import tables
from ullage.store.team.address import Address, read_address
from ullage.store.team.faults import Away, LaterSchema, TeamStoreFailed, TeamStoreRefused
from ullage.store.team.postgres import PostgresStore
from ullage.store.team.store import Batch, IndexedWords
from ullage.store.team.tables import SCHEMA_VERSION, set_up


@pytest.fixture
def database(postgres: Postgres) -> tuple[Address, Callable[[str], list[tuple[object, ...]]]]:
    """An empty one of the test's own: the address of its owner, and what runs SQL in it."""
    name = f"d{secrets.token_hex(4)}"
    postgres.sql(f"CREATE DATABASE {name}")
    return read_address(postgres.url(database=name), "test"), lambda statement: postgres.sql(statement, database=name)


Database = tuple[Address, Callable[[str], list[tuple[object, ...]]]]


def numbers(database: Database) -> list[object]:
    return [number for (number,) in database[1]("SELECT number FROM ullage.schema_version ORDER BY number")]


def row(seq: int) -> EntryRow:
    return EntryRow(b"5e55", seq, float(seq), b"{}", entry_sum(b"5e55", seq, float(seq), b"{}"))


def test_every_step_has_a_file_and_every_file_is_a_step() -> None:
    found = sorted(int(path.stem.removeprefix("tables_")) for path in Path(tables.__file__).parent.glob("tables_*.sql"))
    assert found == list(range(1, SCHEMA_VERSION + 1))


def test_tables_of_the_first_version_are_brought_up_with_all_that_is_in_them(database: Database) -> None:
    address, sql = database
    assert set_up(address, to=1)
    sql("SELECT ullage.enter('w')")
    sql("SELECT ullage.make_session('w', '5e55', 'title', 1), ullage.take_lease('w', '5e55', 'h', 9)")
    sql("SELECT ullage.append('w', '5e55', 'h', 9, 0, '{1}', '{1}', '{x}', '{y}', '{}', '{}')")
    sql("SELECT ullage.say('w', '5e55', 0, 1, '{1}', '{user}', '{NULL}', '{look at server/tank.py}')")
    with closing(PostgresStore(address, "w", "h")) as store:
        with pytest.raises(TeamStoreRefused, match=r"earlier version.*ullage store setup"):
            store.sessions()
        assert set_up(address)
        assert numbers(database) == list(range(1, SCHEMA_VERSION + 1))
        assert [hit.seq for hit in store.search("tank", 5)] == [1]
        (entry,) = store.since("5e55", 0, 9)
        assert (entry.body, entry.sum) == (b"x", b"y")
        assert store.take("5e55")
        store.append("5e55", 1, Batch([row(2)]))


def test_a_new_step_runs_once_and_what_fails_in_it_changes_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, sql = database
    assert set_up(address)
    assert not set_up(address), "to do it again changes nothing"
    for path in Path(tables.__file__).parent.glob("tables_*.sql"):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    def here(package: str) -> Path:
        return tmp_path

    monkeypatch.setattr(tables, "files", here)
    half = tmp_path / f"tables_{SCHEMA_VERSION + 1}.sql"
    half.write_text("CREATE TABLE ullage.news (number integer); SELECT 1 / 0;")
    with pytest.raises(TeamStoreFailed, match="division by zero"):
        set_up(address, to=SCHEMA_VERSION + 1)
    assert numbers(database)[-1] == SCHEMA_VERSION
    assert sql("SELECT to_regclass('ullage.news')") == [(None,)]
    half.write_text("CREATE TABLE ullage.news (number integer);")
    assert set_up(address, to=SCHEMA_VERSION + 1)
    assert not set_up(address, to=SCHEMA_VERSION + 1)
    for call in (lambda: PostgresStore(address, "w", "h").sessions(), lambda: set_up(address)):
        with pytest.raises(LaterSchema, match="Update Ullage"):
            call()


@pytest.mark.parametrize("before", [0, 1])
def test_several_that_start_at_once_bring_them_up_once(database: Database, before: int) -> None:
    address, _ = database
    if before:
        set_up(address, to=before)
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(set_up, [address] * 6))
    assert done.count(True) == 1
    assert numbers(database) == list(range(1, SCHEMA_VERSION + 1))


def test_who_writes_meanwhile_goes_on_and_loses_nothing(database: Database) -> None:
    """A process of this version that has a connection already, while another database brings its tables up."""
    address, sql = database
    set_up(address)
    sql(f"DELETE FROM ullage.schema_version WHERE number > {SCHEMA_VERSION}")
    with closing(PostgresStore(address, "w", "h")) as store:
        store.make(make_session(b"5e55", b"title", 1.0, 1.0))
        store.take("5e55")
        store.append("5e55", 0, Batch([row(1)]))
        sql(f"INSERT INTO ullage.schema_version VALUES ({SCHEMA_VERSION + 1})")
        store.append("5e55", 1, Batch([row(2)]))
        assert store.say("5e55", 0, 2, [IndexedWords(1, "user", None, "words")])
        store.close()
        with pytest.raises(LaterSchema, match="Update Ullage"):
            store.append("5e55", 2, Batch([row(3)]))
    assert sql("SELECT count(*) FROM ullage.entry") == [(2,)]


def test_a_database_without_tables_says_how_they_are_made(database: Database) -> None:
    with pytest.raises(TeamStoreRefused, match="ullage store setup"):
        PostgresStore(database[0], "w", "h").sessions()


def test_a_database_that_cannot_hold_all_texts_is_refused(postgres: Postgres) -> None:
    postgres.sql("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(TeamStoreRefused, match="encoding LATIN1"):
        set_up(read_address(postgres.url(database="latin"), "test"))


def test_who_is_not_the_owner_cannot_make_them(postgres: Postgres, database: Database) -> None:
    name = str(database[0].parameters["dbname"])
    with pytest.raises(TeamStoreFailed) as refused:
        set_up(read_address(postgres.url("ann", name), "test"))
    assert not isinstance(refused.value, Away)
    with psycopg.connect(postgres.url(database=name)) as connection:
        assert connection.execute("SELECT to_regnamespace('ullage')").fetchone() == (None,)

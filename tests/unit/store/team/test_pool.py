"""Connections to read by: lent to several at once, no more than are allowed, without a round trip for it, and closed when nobody wants
them."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psycopg
import pytest

from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.store.team.here import until
from tests.unit.store.team.slow import slowly
from ullage.store.recovery import make_session
from ullage.store.team.address import Address, read_address
from ullage.store.team.faults import Away, LinkLost
from ullage.store.team.pool import LENT_AT_ONCE
from ullage.store.team.postgres import PostgresStore

Connect = Callable[..., PostgresStore]


def connections(postgres: Postgres, user: str = "ann") -> int:
    ((count,),) = postgres.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = %s", user)
    assert isinstance(count, int)
    return count


@pytest.fixture
def quiet(postgres: Postgres) -> None:
    """No other test is connected any more as this user."""
    until(lambda: connections(postgres) == 0)


@contextmanager
def held_up(postgres: Postgres, workspace: str) -> Generator[None]:
    """Whoever asks how far the words for the search are waits."""
    with psycopg.connect(postgres.url()) as other:
        other.execute("LOCK TABLE ullage.said IN ACCESS EXCLUSIVE MODE")
        yield


def test_one_does_not_wait_for_the_statement_of_another(postgres: Postgres, connect: Connect, workspace: str, quiet: None) -> None:
    connect().make(make_session(b"s", b"A session", 1.0, 1.0))
    store = connect(reads=True)
    with ThreadPoolExecutor() as threads:
        with held_up(postgres, workspace):
            waits = threads.submit(store.said_through, "s")
            until(lambda: postgres.sql("SELECT pid FROM pg_locks WHERE NOT granted"))
            assert [each.session.id for each in store.sessions()] == [b"s"]
            assert not waits.done()
        assert waits.result(PATIENCE) == 0


def test_no_more_are_open_than_are_allowed_and_all_are_answered(postgres: Postgres, connect: Connect, workspace: str, quiet: None) -> None:
    store = connect(reads=True)
    with ThreadPoolExecutor(12) as threads:
        with held_up(postgres, workspace):
            waiting = [threads.submit(store.said_through, "s") for _ in range(12)]
            until(lambda: connections(postgres) == LENT_AT_ONCE)
            assert not any(each.done() for each in waiting)
        assert [each.result(PATIENCE) for each in waiting] == [0] * 12
    assert connections(postgres) <= LENT_AT_ONCE
    store.close()
    until(lambda: connections(postgres) == 0)


def test_what_takes_turns_has_one_and_a_search_does_not_wait_for_it(
    postgres: Postgres, connect: Connect, workspace: str, quiet: None
) -> None:
    store = connect(reads=True)
    behind = store.in_turn()
    with ThreadPoolExecutor(6) as threads:
        with held_up(postgres, workspace):
            waiting = [threads.submit(behind.said_through, "s") for _ in range(6)]
            until(lambda: postgres.sql("SELECT pid FROM pg_locks WHERE NOT granted"))
            assert store.search("a word", 5) == []
            assert not any(each.done() for each in waiting) and connections(postgres) == 2
        assert [each.result(PATIENCE) for each in waiting] == [0] * 6
    store.close()
    with pytest.raises(LinkLost):
        behind.sessions()


def test_none_is_open_before_one_is_asked_for(postgres: Postgres, connect: Connect, quiet: None) -> None:
    threads = threading.active_count()
    connect(reads=True)
    assert connections(postgres) == 0 and threading.active_count() == threads


def test_one_that_nobody_wants_any_more_is_closed(
    postgres: Postgres, connect: Connect, monkeypatch: pytest.MonkeyPatch, quiet: None
) -> None:
    monkeypatch.setattr("ullage.store.team.pool.IDLE_SECONDS", 0.05)
    store = connect(reads=True)
    store.sessions()
    until(lambda: connections(postgres) == 0)
    assert store.sessions() == []


def test_one_that_was_closed_meanwhile_is_not_lent(postgres: Postgres, connect: Connect, quiet: None) -> None:
    store = connect(reads=True)
    store.sessions()
    known = set[object]()

    def all_have_ended() -> bool:
        # Ends them each time: one more may just have been opened in the background, and would stay for as long as one that nobody wants.
        # And waits for their processes: the database forgets one a moment before it hangs up.
        ended = {pid for pid, _ in postgres.sql("SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'")}
        known.update(ended)
        return not ended and known.isdisjoint(postgres.processes())

    for _ in range(3):
        until(all_have_ended)
        assert store.sessions() == []


def test_a_database_that_goes_away_is_told_and_reached_again(postgres: Postgres, connect: Connect) -> None:
    store = connect(reads=True)
    store.sessions()
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(Away, match=r"nothing answers there.*tried again by itself"):
                store.sessions()
    finally:
        postgres.start()
    assert store.sessions() == []


def test_one_that_was_closed_is_not_asked_any_more(connect: Connect) -> None:
    for is_used in (True, False):
        store = connect(reads=True)
        if is_used:
            store.sessions()
        store.close()
        with pytest.raises(LinkLost):
            store.sessions()
        store.close()


def test_each_failure_took_one_try() -> None:
    """Else a password that is wrong would be given twice, and some servers count that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        tried = hung_up_on(server)
        address = read_address(f"postgresql://me@127.0.0.1:{server.getsockname()[1]}/x?sslmode=disable", "it")
        with closing(PostgresStore(address, "w", "h", durable=False)) as store:
            for _ in range(3):
                with pytest.raises(Away):
                    store.sessions()
                assert tried.acquire(timeout=PATIENCE)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def hung_up_on(server: socket.socket) -> threading.Semaphore:
    """Lets three connections go at once; released with each."""
    tried = threading.Semaphore(0)

    def let_go() -> None:
        for _ in range(3):
            server.accept()[0].close()
            tried.release()

    threading.Thread(target=let_go, daemon=True).start()
    return tried


async def test_lending_takes_no_round_trip(postgres: Postgres, workspace: str) -> None:
    """Each message waits for the answer to the one before it. So as many as there are, so many round trips."""
    messages = 0

    def came() -> None:
        nonlocal messages
        messages += 1

    def asked_20_times(address: Address, durable: bool) -> int:
        with closing(PostgresStore(address, workspace, "h", durable=durable)) as store:
            for _ in range(6):
                store.said_through("s")  # at the fifth time psycopg prepares it, which is a round trip of its own, once
            before = messages
            for _ in range(20):
                store.said_through("s")
            return messages - before

    async with slowly(postgres.folder, 0.0, came) as port:
        address = read_address(f"postgresql://ann@127.0.0.1:{port}/postgres?sslmode=disable", "it")
        assert [await asyncio.to_thread(asked_20_times, address, durable) for durable in (True, False)] == [20, 20]

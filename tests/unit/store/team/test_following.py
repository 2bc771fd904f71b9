"""What is written here is in the team's database, in order, whatever happens to either of them in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.store.team.here import Colleague, Machine, turn, until
from ullage.context.entries import UserPrompt
from ullage.store.errors import SessionInUse, StoreFailed
from ullage.store.team.faults import SessionTaken
from ullage.store.team.following import BACK
from ullage.store.team.postgres import PostgresStore

Join = Callable[..., Colleague]


def test_what_is_settled_is_in_the_database(join: Join, connect: Callable[..., PostgresStore]) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    assert [row.seq for row in connect().since(session, 0, 99)] == [1, 2, 3, 4, 5]
    assert ann.log.settled(session) is None, "nobody waits twice"
    ann.log.rename(session, "Another title")
    ann.log.prompts.add(session, UserPrompt("waits", "I wait"))
    until(lambda: (heads := connect().heads(session)) and heads.session.title == b"Another title" and len(heads.prompts) == 1)


def test_a_colleague_goes_on_where_another_stopped(join: Join) -> None:
    ann, bob = join("ann"), join("bob")
    session = ann.new()
    ann.say(session, *turn(1))
    with pytest.raises(SessionInUse, match="A colleague"):
        bob.following.open(session)
    ann.log.release(session)
    until(lambda: not ann.following.followed())
    bob.following.open(session)
    assert bob.entries(session) == turn(1)
    bob.say(session, *turn(2))
    bob.log.release(session)
    until(lambda: not bob.following.followed())
    ann.following.open(session)
    assert ann.entries(session) == turn(1) + turn(2)


def test_a_session_of_a_dead_container_is_listed_found_and_gone_on_with(join: Join) -> None:
    ann = join("ann", lease_seconds=1.0)
    session = ann.new("Mid-turn")
    ann.say(session, *turn(1), *turn(2, "The valve of the tank leaks")[:2])
    until(lambda: ann.following.search("valve leaks", 5))
    ann.dies()
    bob = join("bob")
    until(lambda: [each.title for each in bob.log.sessions()] == ["Mid-turn"])
    assert [(hit.session_id, hit.what) for hit in bob.following.search("valve leaks", 5)] == [(session, "user")]
    began = time.monotonic()
    while True:
        try:
            bob.following.open(session)
            break
        except SessionInUse:
            assert time.monotonic() - began < 5.0, "stuck for longer than its lease"
    assert len(bob.entries(session)) == 7
    bob.say(session, *turn(3))


def test_what_a_killed_process_did_not_send_is_sent_at_the_next_start(join: Join, connect: Callable[..., PostgresStore]) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    ann.stops_sending()
    ann.log.append_many(session, turn(2), 6.0)
    ann.dies()
    assert len(connect().since(session, 0, 99)) == 5
    again = join("ann")
    until(lambda: len(connect().since(session, 0, 99)) == 10)
    again.following.open(session)
    assert again.entries(session) == turn(1) + turn(2)


def test_the_database_goes_away_and_comes_back(join: Join, postgres: Postgres, connect: Callable[..., PostgresStore]) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    postgres.kill()
    ann.log.append_many(session, turn(2), 6.0)
    settled = ann.log.settled(session)
    assert settled is not None
    until(lambda: ann.told)
    assert not settled.done()
    new = ann.new("Made meanwhile")
    ann.log.append_many(new, turn(3), 7.0)
    postgres.start()
    settled.result(PATIENCE)
    ann.settle(new)
    until(lambda: ann.told[-1] == BACK)
    assert "Nothing is lost" in ann.told[0]
    assert [len(connect().since(each, 0, 99)) for each in (session, new)] == [10, 5]
    ann.say(session, *turn(4))


def test_a_session_that_went_on_elsewhere_meanwhile_is_kept_twice(join: Join, postgres: Postgres) -> None:
    ann = join("ann", lease_seconds=0.5)
    session = ann.new("Ours")
    ann.say(session, *turn(1))
    ann.dies()
    away = Machine(ann.machine.folder, ann.machine.location)
    away.log.load(session)
    away.log.append_many(session, turn(2), 6.0)  # said without the database
    away.close()
    bob = join("bob")
    while True:
        try:
            bob.following.open(session)
            break
        except SessionInUse:
            time.sleep(0.02)
    bob.say(session, *turn(3))
    bob.log.release(session)
    until(lambda: not bob.following.followed())
    again = join("ann")
    again.following.open(session)
    assert again.entries(session) == turn(1) + turn(3)
    (kept,) = [each for each in again.log.sessions() if each.title == "Ours (as it went on here)"]
    assert again.entries(kept.id) == turn(1) + turn(2)
    assert any("kept as a session of its own" in told for told in again.told)


def test_who_lost_the_session_to_a_colleague_is_told(join: Join, postgres: Postgres, workspace: str) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    postgres.sql("UPDATE ullage.lease SET holder = 'somebody' WHERE workspace = %s", workspace)
    ann.log.append_many(session, turn(2), 6.0)
    settled = ann.log.settled(session)
    assert settled is not None
    with pytest.raises(SessionTaken, match="A colleague"):
        settled.result(PATIENCE)
    assert len(ann.entries(session)) == 10, "it is kept here"


def test_an_event_loop_never_waits_for_a_slow_database(join: Join, postgres: Postgres) -> None:
    ann = join("ann")
    session = ann.new()
    with psycopg.connect(postgres.url()) as other:
        other.execute("SELECT FROM ullage.session FOR UPDATE")
        began = time.monotonic()
        ann.log.append_many(session, turn(1), 6.0)
        settled = ann.log.settled(session)
        ann.log.append_many(session, turn(2), 6.0)
        assert time.monotonic() - began < 1.0
        assert settled is not None and not settled.done()
    settled.result(PATIENCE)


def test_no_entry_waits_for_the_look_at_the_list(join: Join, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.team.team_list.LIST_SECONDS", 0.01)
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    with psycopg.connect(postgres.url()) as other:
        other.execute("LOCK TABLE ullage.deleted IN ACCESS EXCLUSIVE MODE")
        until(lambda: postgres.sql("SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'ullage.deleted'::regclass"))
        ann.say(session, *turn(2))
        assert postgres.sql("SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'ullage.deleted'::regclass")
    assert ann.told == []


def test_a_list_that_cannot_be_read_is_told_and_entries_are_sent(
    join: Join, postgres: Postgres, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.store.team.team_list.LIST_SECONDS", 0.01)
    ann = join("ann")
    session = ann.new()
    postgres.sql("REVOKE SELECT ON ullage.deleted FROM ullage_member")
    try:
        until(lambda: ann.told)
        ann.say(session, *turn(1))
        assert len(ann.told) == 1 and "no right" in ann.told[0]
    finally:
        postgres.sql("GRANT SELECT ON ullage.deleted TO ullage_member")
    until(lambda: ann.told[1:] == [BACK])


def test_one_that_is_not_here_is_not_opened_without_the_database(join: Join, postgres: Postgres) -> None:
    ann, bob = join("ann"), join("bob")
    session = ann.new()
    ann.say(session, *turn(1))
    ann.close()
    bob.following.team_list.look()
    postgres.stop()
    try:
        with pytest.raises(StoreFailed, match="in the team's database only"):
            bob.following.open(session)
    finally:
        postgres.start()
    bob.following.open(session)
    assert bob.entries(session) == turn(1)


def test_a_deleted_session_is_gone_there(join: Join, connect: Callable[..., PostgresStore], postgres: Postgres) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    ann.following.delete(session)
    assert connect().heads(session) is None
    ann.log.delete(session)
    until(lambda: session not in ann.following.followed())


def test_several_sessions_at_once(join: Join, connect: Callable[..., PostgresStore]) -> None:
    machines = [join(name) for name in ("ann", "bob", "carol")]
    sessions = [(machine, machine.new()) for machine in machines for _ in range(4)]

    def write(machine: Colleague, session: str) -> None:
        for number in range(5):
            machine.say(session, *turn(number))

    threads = [threading.Thread(target=write, args=each) for each in sessions]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with closing(connect()) as store:
        for machine, session in sessions:
            assert [row.seq for row in store.since(session, 0, 99)] == list(range(1, 26))
            assert machine.entries(session) == [entry for number in range(5) for entry in turn(number)]

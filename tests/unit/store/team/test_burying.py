"""A session that was deleted stays deleted, on all machines; what only one of them had is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fake_api import Say
from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.store.team.here import Colleague, turn, until
from tests.unit.store.team.here import Machine as Here
from tests.unit.store.team.test_live_sessions import Machine, machine
from tests.unit.store.team.test_live_sessions import until as until_async
from ullage.session.errors import SessionError
from ullage.session.sessions import sessions
from ullage.store.errors import StoreFailed
from ullage.store.recovery import make_session
from ullage.store.team.faults import Deleted
from ullage.store.team.postgres import PostgresStore

__all__ = ["machine"]

Join = Callable[..., Colleague]


def titles(colleague: Colleague) -> list[str]:
    return [record.title for record in colleague.log.sessions()]


def deleted_by(colleague: Colleague, session: str) -> None:
    """As a user does it."""
    colleague.following.delete(session)
    colleague.log.delete(session)


def test_it_leaves_the_other_machines_with_what_they_have_of_it(join: Join) -> None:
    ann, bob, carol = join("ann"), join("bob"), join("carol")
    session = ann.new("To be deleted")
    ann.say(session, *turn(1))
    for each in (bob, carol):
        each.following.team_list.look()
        assert titles(each) == ["To be deleted"]
    carol.following.bring(session)
    deleted_by(ann, session)
    for each in (ann, bob, carol):
        each.following.team_list.look()
        assert titles(each) == [] and each.told == []


def test_it_does_not_come_back_where_a_copy_is(join: Join, connect: Callable[..., PostgresStore]) -> None:
    ann, bob = join("ann"), join("bob")
    session = ann.new("To be deleted")
    ann.say(session, *turn(1))
    bob.following.bring(session)
    bob.close()
    deleted_by(ann, session)
    again = join("bob")
    until(lambda: titles(again) == [])
    again.new("Another")
    until(lambda: [each.session.title for each in connect().sessions()] == [b"Another"])
    with pytest.raises(Deleted):
        connect().make(make_session(session.encode(), b"title", 1.0, 1.0))


def test_entries_are_sent_while_one_is_deleted_here_and_the_database_is_not_asked(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = join("ann"), join("bob")
    session, other = ann.new("To be deleted"), bob.new("Another")
    ann.say(session, *turn(1))
    bob.following.bring(session)
    deleted_by(ann, session)
    asked: list[str] = []

    def heads(session_id: str) -> None:
        asked.append(session_id)

    def erase(session_id: str) -> None:
        bob.say(other, *turn(2))
        monkeypatch.setattr(bob.writes, "heads", heads)
        bob.log.elsewhere.delete(session_id)
        bob.log.delete(session_id)

    bob.erase = erase
    bob.following.team_list.look()
    assert titles(bob) == ["Another"] and asked == []


def test_nothing_is_deleted_once_the_window_closes(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database may answer when all is closed: then no file is made or changed any more."""
    ann, bob = join("ann"), join("bob")
    session = ann.new("To be deleted")
    ann.say(session, *turn(1))
    bob.following.bring(session)
    deleted_by(ann, session)
    asked, answers = threading.Event(), threading.Event()

    def sums(store: PostgresStore, session_id: str) -> frozenset[bytes]:
        asked.set()
        answers.wait(PATIENCE)
        return frozenset()

    monkeypatch.setattr(PostgresStore, "sums_of_gone", sums)
    with ThreadPoolExecutor(1) as threads:
        looks = threads.submit(bob.following.team_list.look)
        assert asked.wait(PATIENCE)
        bob.close()
        there = sorted(bob.machine.location.rglob("*"))
        answers.set()
        assert isinstance(looks.exception(PATIENCE), StoreFailed)
    assert sorted(bob.machine.location.rglob("*")) == there


@pytest.mark.parametrize("more", [1, 3])
def test_what_went_on_here_alone_is_kept_as_a_session_of_its_own(join: Join, more: int) -> None:
    ann, bob = join("ann"), join("bob")
    session = ann.new("Ours")
    ann.say(session, *turn(1))
    ann.log.release(session)
    until(lambda: not ann.following.followed())
    bob.following.open(session)
    bob.close()
    away = Here(bob.machine.folder, bob.machine.location)
    away.log.load(session)
    away.log.append_many(session, turn(2)[:more], 6.0)  # while the database was away
    away.close()
    ann.following.open(session)
    ann.say(session, *turn(3))  # as many under the same numbers, or more
    deleted_by(ann, session)
    again = join("bob")
    until(lambda: titles(again) == ["Ours (as it went on here)"])
    (kept,) = again.log.sessions()
    assert again.entries(kept.id) == turn(1) + turn(2)[:more]
    until(lambda: again.told and "was deleted by a colleague" in again.told[-1])
    until(lambda: len(again.reads.since(kept.id, 0, 99)) == 5 + more)


async def test_who_has_it_open_without_the_database_is_told_and_loses_nothing(
    machine: Machine, postgres: Postgres, workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "collect_all", lambda: None)  # all that pytest holds would be walked, for seconds
    async with machine("ann") as ann:
        ann.fake.enqueue(Say("Yes."))
        session = await ann.new()
        await ann.say(session, "Are you there?")
        there = "SELECT count(*) FROM ullage.entry WHERE workspace = %s"
        await until_async(lambda: postgres.sql(there, workspace) == [(len(session.entries),)])
        # the database was away for longer than the lease lasts, and meanwhile somebody deleted it
        postgres.sql(
            "UPDATE ullage.lease SET holder = 'other', held_by = 'postgres', valid_until = clock_timestamp() + '1h' WHERE workspace = %s",
            workspace,
        )
        postgres.sql("SELECT ullage.delete_session(%s, %s, 'other')", workspace, session.id)
        postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ann'")
        await session.prompt("Still?")
        await ann.idle(session)
        assert len(ann.fake.requests) == 1, "nothing depends on what is not there"
        await ann.sessions.close_session(session.id)
        with pytest.raises(SessionError, match="A colleague deleted this session"):
            await ann.sessions.open(session.id)
        await until_async(lambda: [each.title for each in ann.sessions.summaries()] == ["Are you there? (as it went on here)"])
        assert "kept as a session of its own" in ann.watcher.warnings[-1]

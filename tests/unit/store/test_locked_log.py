"""Another program has the log locked: writing waits beside it, in order and on disk, and goes into it when the lock ends."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from ullage.context.entries import Logged, TurnEnded, UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store import log_store, waiting
from ullage.store.errors import SessionInUse, StoreBusy
from ullage.store.log_store import LogStore
from ullage.store.statements import SessionRecord


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """As a backup program does, or a database browser with a transaction that is not ended."""
    connection = sqlite3.connect(ullage_folder.database(folder), isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.close()


@contextmanager
def all_is_locked(folder: Path) -> Generator[None]:
    """By a program that lets nobody read, either."""
    connection = sqlite3.connect(ullage_folder.database(folder), isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("UPDATE session SET title = title")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


def said(number: int) -> UserPrompt:
    return UserPrompt(f"p{number}", f"turn {number} ‘ülläge’")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "RETRY_SECONDS", 0.01)


def until_free(store: LogStore, session_id: str) -> None:
    """Waits until nothing of the session waits any more."""
    done = threading.Event()
    while store._writer.waiting_of(session_id):  # noqa: SLF001
        done.wait(0.01)


@pytest.mark.usefixtures("quick")
def test_what_is_written_under_a_lock_is_in_the_log_in_order_when_it_ends(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    written = [store.append(session.id, said(0), 1.0)]
    with locked(tmp_path):
        written += [store.append(session.id, said(number), 2.0) for number in range(1, 20)]
        store.prompts.add(session.id, said(50))
        store.prompts.add(session.id, said(51))
        store.prompts.add(session.id, said(52))
        assert store.prompts.take_back("p51")
        written.append(store.prompts.start(session.id, "p50", 3.0))
        store.rename(session.id, "renamed")
        assert [each.seq for each in written] == list(range(1, 22))
        assert store.load(session.id) == written
        assert store.prompts.of(session.id) == [said(52)]
        assert [record.title for record in store.sessions()] == ["renamed"]
    until_free(store, session.id)
    written.append(store.append(session.id, TurnEnded("end_turn"), 4.0))
    store.close()
    again = LogStore.open(tmp_path)
    assert again.set_aside is None
    assert again.load(session.id) == written
    assert again.prompts.of(session.id) == [said(52)]
    assert [record.title for record in again.sessions()] == ["renamed"]
    assert list(ullage_folder.waiting(tmp_path).iterdir()) == []


@pytest.mark.parametrize("opens", [True, False])
def test_what_waited_when_the_process_ended_is_taken_in_by_the_next(tmp_path: Path, opens: bool) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    there = LogStore.open(tmp_path)
    with locked(tmp_path):
        written = [store.append(session.id, said(number), 2.0) for number in range(3)]
        store.prompts.add(session.id, said(50))
        store.close()
    if opens:
        there = LogStore.open(tmp_path)
    else:
        there.claim(session.id)
    assert there.load(session.id) == written
    assert there.prompts.of(session.id) == [said(50)]


@pytest.mark.usefixtures("quick")
def test_a_session_that_was_closed_under_a_lock_is_let_go_when_it_is_written(tmp_path: Path) -> None:
    here, there = LogStore.open(tmp_path), LogStore.open(tmp_path)
    session = here.create_session("a", 1.0)
    with locked(tmp_path):
        here.append(session.id, said(0), 2.0)
        here.release(session.id)
        with pytest.raises(SessionInUse):
            there.claim(session.id)
    until_free(here, session.id)
    assert there.append(session.id, said(1), 3.0).seq == 2


def make_session(store: LogStore) -> object:
    return store.create_session("b", 1.0)


def remember(store: LogStore) -> None:
    store.remember("a", 1)


@pytest.mark.parametrize("call", [make_session, remember])
def test_all_other_calls_say_that_they_can_be_made_again(tmp_path: Path, call: Callable[[LogStore], object]) -> None:
    store = LogStore.open(tmp_path)
    with locked(tmp_path), pytest.raises(StoreBusy):
        call(store)
    call(store)


def test_an_open_log_under_a_lock_is_read(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    store.append(session.id, said(1), 1.0)
    with locked(tmp_path):
        assert len(store.load(session.id)) == 1
        there = LogStore.open(tmp_path)
        assert len(there.load(session.id)) == 1


@pytest.mark.usefixtures("quick")
def test_a_log_that_is_locked_at_the_start_is_in_memory_until_it_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_store, "RETRY_SECONDS", 0.01)
    before = LogStore.open(tmp_path)
    old = before.create_session("old", 1.0)
    before.append(old.id, said(0), 1.0)
    before.close()
    told, free = list[str](), threading.Event()
    with all_is_locked(tmp_path):
        with pytest.raises(StoreBusy):
            LogStore.open(tmp_path)
        store = LogStore.until_free(tmp_path)
        store.tell_of(told.append, free.set)
        session = store.create_session("new", 2.0)
        written = [store.append(session.id, said(number), 2.0) for number in range(5)]
        assert [record.title for record in store.sessions()] == ["new"]
    assert free.wait(PATIENCE)
    assert "free again" in told[-1]
    written.append(store.append(session.id, said(5), 3.0))
    assert {record.title for record in store.sessions()} == {"old", "new"}
    assert list(ullage_folder.waiting(tmp_path).iterdir()) == []
    store.close()
    again = LogStore.open(tmp_path)
    assert again.set_aside is None
    assert again.load(session.id) == written
    assert len(again.load(old.id)) == 1


def written_while_locked(store: LogStore) -> tuple[str, list[Logged]]:
    """A session with all that can happen in one; who makes it has the log in memory."""
    session = store.create_session("new", 2.0)
    written = [store.append(session.id, said(number), 2.0) for number in range(5)]
    for number in (50, 51, 52):
        store.prompts.add(session.id, said(number))
    assert store.prompts.take_back("p51")
    written.append(store.prompts.start(session.id, "p50", 3.0))
    store.rename(session.id, "renamed ‘ü’")
    store.delete(store.create_session("gone", 4.0).id)
    return session.id, written


def test_what_was_said_in_a_window_that_closes_before_the_log_is_free_is_there_later(tmp_path: Path) -> None:
    LogStore.open(tmp_path).close()
    with all_is_locked(tmp_path):
        store = LogStore.until_free(tmp_path)
        session_id, written = written_while_locked(store)
        store.close()
    for _ in range(2):  # what was taken in is not taken in again
        again = LogStore.open(tmp_path)
        assert [(record.title, record.updated_at) for record in again.sessions()] == [("renamed ‘ü’", 3.0)]
        assert again.load(session_id) == written
        assert again.prompts.of(session_id) == [said(52)]
        assert list(ullage_folder.waiting(tmp_path).iterdir()) == []
        again.close()


@pytest.mark.parametrize("closes", [True, False])
def test_a_fork_that_was_taken_before_the_log_is_free_is_there_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closes: bool) -> None:
    monkeypatch.setattr(log_store, "RETRY_SECONDS", 0.01)
    LogStore.open(tmp_path).close()
    free = threading.Event()
    with all_is_locked(tmp_path):
        store = LogStore.until_free(tmp_path)
        store.tell_of(lambda _: None, free.set)
        session_id, _ = written_while_locked(store)
        fork = store.fork(session_id, 3, "a fork", 5.0)
        forked = [*store.load(fork.id), store.append(fork.id, said(60), 6.0)]
        store.prompts.add(fork.id, said(61))
        second = store.fork(fork.id, None, "a fork of it", 7.0)
        store.delete(store.fork(session_id, None, "gone", 8.0).id)
        if closes:
            store.close()
    if not closes:
        assert free.wait(PATIENCE)
        store.close()
    for _ in range(2):
        again = LogStore.open(tmp_path)
        assert {record.title for record in again.sessions()} == {"renamed ‘ü’", "a fork", "a fork of it"}
        assert again.load(fork.id) == forked
        assert again.prompts.of(fork.id) == [said(61)]
        assert [logged.entry for logged in again.load(second.id)][:-1] == [logged.entry for logged in forked]
        assert again.lineages() == {session_id: (), fork.id: ((session_id, 3),), second.id: ((session_id, 3), (fork.id, 5))}
        assert list(ullage_folder.waiting(tmp_path).iterdir()) == []
        again.close()


def test_a_session_that_was_taken_in_before_the_log_is_free_is_there_later(tmp_path: Path) -> None:
    LogStore.open(tmp_path).close()
    logged = [Logged(1, 1.0, said(1)), Logged(2, 2.0, said(2))]
    with all_is_locked(tmp_path):
        store = LogStore.until_free(tmp_path)
        assert store.take_in(SessionRecord("brought", "from elsewhere", 1.0, 2.0), logged, [said(9)])
        store.close()
    again = LogStore.open(tmp_path)
    assert again.load("brought") == logged
    assert again.prompts.of("brought") == [said(9)]
    again.close()


def test_a_fork_that_cannot_be_kept_beside_a_locked_log_is_in_memory_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LogStore.open(tmp_path).close()
    told: list[str] = []
    with all_is_locked(tmp_path):
        store = LogStore.until_free(tmp_path)
        store.tell_of(told.append)
        session_id, _ = written_while_locked(store)
        monkeypatch.setattr(waiting.os, "fsync", failing_disk)
        fork = store.fork(session_id, None, "a fork", 5.0)
        monkeypatch.undo()
        assert len(told) == 1
        assert "in memory only" in told[0]
        assert store.load(fork.id)
        store.close()


def test_what_cannot_be_kept_beside_a_locked_log_is_in_memory_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LogStore.open(tmp_path).close()
    told: list[str] = []
    with all_is_locked(tmp_path):
        store = LogStore.until_free(tmp_path)
        store.tell_of(told.append)
        session = store.create_session("new", 2.0)
        store.append(session.id, said(1), 2.0)
        monkeypatch.setattr(waiting.os, "fsync", failing_disk)
        store.append(session.id, said(2), 2.0)
        monkeypatch.undo()
        assert len(told) == 1
        assert "in memory only" in told[0]
        assert len(store.load(session.id)) == 2
        assert list(ullage_folder.waiting(tmp_path).iterdir()) == []
        store.close()


def failing_disk(file: int) -> None:
    raise OSError(28, "No space left on device")

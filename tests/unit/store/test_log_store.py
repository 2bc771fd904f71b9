"""The log keeps what was written, in order, through crashes and beside other windows."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.compaction_entries import CompactionUndone
from ullage.context.entries import Entry, Logged, Notice, TurnEnded, UserPrompt
from ullage.store import folder
from ullage.store.database import open_file
from ullage.store.encode import decode
from ullage.store.errors import SessionInUse, StoreFailed, UnknownSession
from ullage.store.log_store import LogStore
from ullage.store.session_reader import PAGE_ROWS

HELLO = UserPrompt("p1", "hello")


def entries_of(store: LogStore, session_id: str) -> list[Entry]:
    return [logged.entry for logged in store.load(session_id)]


@pytest.mark.parametrize("in_memory", [True, False])
def test_what_is_appended_is_loaded_in_order_with_seq_and_time(tmp_path: Path, in_memory: bool) -> None:
    store = LogStore.open(None if in_memory else tmp_path)
    session = store.create_session("a", 1.0)
    written = [
        store.append(session.id, HELLO, 2.0),
        *store.append_many(session.id, [Notice("rules", "r"), TurnEnded("end_turn")], 3.5),
    ]
    assert written == [Logged(1, 2.0, HELLO), Logged(2, 3.5, Notice("rules", "r")), Logged(3, 3.5, TurnEnded("end_turn"))]
    assert store.load(session.id) == written
    assert store.between(session.id, 2, 2) == written[1:2]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=15))
def test_seq_has_no_gaps_however_sessions_interleave(writes: list[tuple[int, int]]) -> None:
    store = LogStore.open(None)
    ids = [store.create_session(name, 0.0).id for name in "abc"]
    for which, number in writes:
        store.append_many(ids[which], [HELLO] * number, 1.0)
    for which, session_id in enumerate(ids):
        wanted = sum(number for written, number in writes if written == which)
        assert [logged.seq for logged in store.load(session_id)] == list(range(1, wanted + 1))


def test_a_log_opens_again_with_everything_in_it(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    store.append(session.id, HELLO, 2.0)
    store.prompts.add(session.id, UserPrompt("p2", "later"))
    store.remember("ratio", {"m": 1.25})
    store.close()
    again = LogStore.open(tmp_path)
    assert [(record.id, record.title, record.updated_at) for record in again.sessions()] == [(session.id, "a", 2.0)]
    assert entries_of(again, session.id) == [HELLO]
    assert again.prompts.of(session.id) == [UserPrompt("p2", "later")]
    assert again.recalled("ratio") == {"m": 1.25}
    assert again.recalled("never kept") is None
    assert again.append(session.id, TurnEnded("end_turn"), 3.0).seq == 2


def test_sessions_come_last_updated_first(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    first, second = store.create_session("first", 1.0), store.create_session("second", 2.0)
    assert [record.title for record in store.sessions()] == ["second", "first"]
    store.append(first.id, HELLO, 3.0)
    store.rename(first.id, "renamed \ud83d")
    assert [record.title for record in store.sessions()] == ["renamed ?", "second"]
    store.delete(second.id)
    assert [record.id for record in store.sessions()] == [first.id]


def test_a_session_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    for call in (
        lambda: store.load("gone"),
        lambda: store.append("gone", HELLO, 1.0),
        lambda: store.rename("gone", "t"),
        lambda: store.delete("gone"),
        lambda: store.prompts.add("gone", HELLO),
    ):
        with pytest.raises(UnknownSession, match="gone"):
            call()


def test_a_prompt_moves_from_the_queue_to_the_log_at_once(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    for name in ("p1", "p2", "p3"):
        store.prompts.add(session.id, UserPrompt(name, name))
    assert store.prompts.take_back("p2")
    assert not store.prompts.take_back("p2")
    assert store.prompts.start(session.id, "p3", 2.0) == Logged(1, 2.0, UserPrompt("p3", "p3"))
    assert [prompt.id for prompt in store.prompts.of(session.id)] == ["p1"]
    with pytest.raises(StoreFailed, match="p3"):
        store.prompts.start(session.id, "p3", 3.0)
    assert [logged.seq for logged in store.load(session.id)] == [1]


def test_of_two_windows_one_writes_a_session_and_nothing_is_lost(tmp_path: Path) -> None:
    here, there = LogStore.open(tmp_path), LogStore.open(tmp_path)
    session = here.create_session("a", 1.0)
    here.append(session.id, HELLO, 2.0)
    assert entries_of(there, session.id) == [HELLO]
    for refused in (
        lambda: there.append(session.id, TurnEnded("end_turn"), 3.0),
        lambda: there.prompts.add(session.id, HELLO),
        lambda: there.delete(session.id),
        lambda: there.claim(session.id),
    ):
        with pytest.raises(SessionInUse):
            refused()
    other = there.create_session("b", 4.0)
    there.append(other.id, HELLO, 5.0)
    here.append(session.id, CompactionUndone("c"), 6.0)
    assert entries_of(there, session.id) == [HELLO, CompactionUndone("c")]
    assert entries_of(here, other.id) == [HELLO]


def test_a_window_that_has_not_seen_the_end_of_a_session_does_not_write_to_it(tmp_path: Path) -> None:
    here, there = LogStore.open(tmp_path), LogStore.open(tmp_path)
    session = here.create_session("a", 1.0)
    there.load(session.id)
    here.append(session.id, HELLO, 2.0)
    here.release(session.id)
    with pytest.raises(SessionInUse):
        there.append(session.id, TurnEnded("end_turn"), 3.0)
    assert entries_of(there, session.id) == [HELLO]
    assert there.append(session.id, TurnEnded("end_turn"), 3.0).seq == 2


def test_what_was_appended_is_there_after_the_process_was_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from ullage.store.log_store import LogStore\n"
        "from ullage.context.entries import UserPrompt\n"
        "store = LogStore.open(pathlib.Path(sys.argv[1]))\n"
        "session = store.create_session('a', 1.0)\n"
        "store.append(session.id, UserPrompt('p1', 'hello'), 2.0)\n"
        "print(session.id, flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        session_id = process.stdout.readline().strip()
        store = LogStore.open(tmp_path)
        with pytest.raises(SessionInUse):
            store.claim(session_id)
        os.kill(process.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        process.wait()
    assert entries_of(store, session_id) == [HELLO]
    assert store.append(session_id, TurnEnded("interrupted"), 3.0).seq == 2


@pytest.mark.parametrize(
    "damage",
    [
        'body = \'{"kind": "of a later version"}\'',
        'body = \'{"kind": "user_pro\'',
        "body = 'null'",
        "body = x'fffe0000'",
        "at = 'yesterday'",
    ],
)
def test_a_row_that_cannot_be_read_is_passed_over_and_told_of(tmp_path: Path, damage: str) -> None:
    store = LogStore.open(tmp_path)
    session = store.create_session("a", 1.0)
    store.append_many(session.id, [HELLO, HELLO, TurnEnded("end_turn")], 2.0)
    with sqlite3.connect(folder.database(tmp_path)) as connection:
        connection.execute(f"UPDATE entry SET {damage} WHERE seq = 2")
    assert [logged.seq for logged in store.load(session.id)] == [1, 3]
    assert [row.seq for row in store.damaged(session.id)] == [2]
    assert store.append(session.id, HELLO, 3.0).seq == 4


def test_a_full_disk_fails_clearly_and_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    connection, _ = open_file(tmp_path / "ullage.db")
    store = LogStore.of(connection)
    session = store.create_session("a", 1.0)
    store.append(session.id, HELLO, 2.0)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFailed, match="full"):
        store.append(session.id, UserPrompt("p2", "x" * 100_000), 3.0)
    assert entries_of(store, session.id) == [HELLO]
    connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert store.append(session.id, UserPrompt("p2", "x" * 100_000), 3.0).seq == 2


@pytest.mark.parametrize("rows", [0, 1, PAGE_ROWS, 2 * PAGE_ROWS + 1])
def test_a_long_session_is_read_a_page_at_a_time_and_others_write_in_between(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LogStore.open(None)
    session, other = store.create_session("long", 0.0), store.create_session("other", 0.0)
    for first in range(0, rows, 100):
        store.append_many(session.id, [UserPrompt(f"p{number}", "hello") for number in range(first, min(first + 100, rows))], 1.0)
    pages: list[str] = []
    store._file.connection.set_trace_callback(lambda sql: pages.append(sql) if " seq > " in sql else None)  # noqa: SLF001

    def writing(body: bytes) -> Entry:
        assert not store._file.lock._is_owned()  # noqa: SLF001  # pyright: ignore
        if b'"p1500"' in body:
            store.append(other.id, HELLO, 2.0)
        return decode(body)

    monkeypatch.setattr("ullage.store.statements.decode", writing)
    assert [logged.seq for logged in store.load(session.id)] == list(range(1, rows + 1))
    assert len(pages) == -(-rows // PAGE_ROWS)
    monkeypatch.undo()
    assert len(store.load(other.id)) == int(rows > 1500)
    store.append(session.id, HELLO, 3.0)

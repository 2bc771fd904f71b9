"""A large log that is removed or cut off while it is open is saved in a thread of its own: nobody waits, and nothing that is written
meanwhile is lost. What was cut off and is in nobody's memory is said by number."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from ullage.context.entries import Logged, ToolReturned, UserPrompt
from ullage.store import copying, log_file
from ullage.store import folder as ullage_folder
from ullage.store.copying import HeldSession
from ullage.store.errors import BeingSaved, StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.recovery import ranges
from ullage.store.schema import EntryRow
from ullage.store.waiting import WaitingFiles

SESSIONS, ENTRIES, IN_MEMORY = 4, 60, 8
LONG = "measured " * 4_000
"""So that far more is written than SQLite keeps in memory."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "store"
    made.mkdir()
    return made


class Gate:
    """Holds up whoever saves, until it is opened."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.reached = threading.Event()

    def open(self) -> None:
        self._open.set()

    def __call__(self) -> None:
        self.reached.set()
        assert self._open.wait(PATIENCE)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Before the file is opened anew. Every log is a large one."""
    held_up = Gate()

    def after_the_gate(real: Callable[..., object]) -> Callable[..., object]:
        def call(*values: object) -> object:
            held_up()
            return real(*values)

        return call

    monkeypatch.setattr(log_file, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(log_file, "open_file", after_the_gate(log_file.open_file))
    monkeypatch.setattr(log_file, "mend_file", after_the_gate(log_file.mend_file))
    yield held_up
    held_up.open()


def said(number: int) -> UserPrompt:
    return UserPrompt(f"p{number}", f"turn {number}")


async def test_nobody_waits_for_a_log_that_is_saved(folder: Path, gate: Gate) -> None:
    store = LogStore.open(folder)
    session = store.create_session("at work", 1.0)
    written = [store.append(session.id, said(number), 1.0) for number in range(20)]
    told: list[str] = []
    store.tell_of(told.append)
    shutil.rmtree(folder)
    written += [store.append(session.id, said(number), 2.0) for number in range(20, 30)]
    store.prompts.add(session.id, said(50))
    store.prompts.add(session.id, said(51))
    written.append(store.prompts.start(session.id, "p50", 3.0))
    store.rename(session.id, "renamed")
    with pytest.raises(BeingSaved):
        store.create_session("another", 3.0)
    assert store.between(session.id, 1, 40) == written, "it is still read from the open handle"
    on_disk = WaitingFiles(ullage_folder.waiting(folder)).read(session.id)
    assert [row.seq for row in on_disk.entries] == list(range(21, 32)), "what is acknowledged is on disk"
    assert told == []
    gate.open()
    store.close()
    assert len(told) == 1
    assert "removed or replaced" in told[0]
    again = LogStore.open(folder)
    assert (again.load(session.id), again.damaged(session.id)) == (written, ())
    assert again.prompts.of(session.id) == [said(51)]
    assert [record.title for record in again.sessions()] == ["renamed"]
    again.close()


async def test_on_the_loop_a_damaged_log_is_not_waited_for(folder: Path, gate: Gate) -> None:
    store = LogStore.open(folder)
    session = store.create_session("at work", 1.0)
    written = [store.append(session.id, said(number), 1.0) for number in range(20)]
    store.close()
    store = LogStore.open(folder)
    assert store.load(session.id) == written
    store.hold(lambda: [HeldSession(session.id, "at work", tuple(written))])
    store.tell_of(lambda text: None)
    with ullage_folder.database(folder).open("r+b") as file:
        file.truncate(0)
    written.append(store.append(session.id, said(20), 2.0))
    with pytest.raises(BeingSaved):
        store.sessions()
    elsewhere = asyncio.create_task(asyncio.to_thread(store.load, session.id))
    await asyncio.to_thread(gate.reached.wait, PATIENCE)
    written.append(store.append(session.id, said(21), 2.0))
    assert not elsewhere.done()
    gate.open()
    assert await elsewhere == written
    store.close()
    assert LogStore.open(folder).load(session.id) == written


def test_a_kill_while_it_is_saved_costs_what_was_not_saved_yet_and_names_it(
    folder: Path, tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LogStore.open(folder)
    session = store.create_session("at work", 1.0)
    for number in range(20):
        store.append(session.id, said(number), 1.0)
    monkeypatch.setattr(copying, "PAGE_BYTES", 1)
    first_half = Gate()
    real = copying._add_missing  # noqa: SLF001

    def add(into: sqlite3.Connection, rows: list[EntryRow]) -> None:
        if rows[0].seq > 10:
            first_half()
        real(into, rows)

    monkeypatch.setattr(copying, "_add_missing", add)
    gate.open()
    shutil.rmtree(folder)
    later = [store.append(session.id, said(number), 2.0) for number in range(20, 30)]
    assert first_half.reached.wait(PATIENCE)
    shutil.copytree(folder, tmp_path / "killed")
    first_half.open()
    store.close()
    killed = LogStore.open(tmp_path / "killed")
    assert [each.seq for each in killed.load(session.id)] == [*range(1, 11), *(each.seq for each in later)]
    assert [row.seq for row in killed.damaged(session.id)] == list(range(11, 21))
    killed.close()
    assert len(LogStore.open(folder).load(session.id)) == 30


def test_what_cannot_be_saved_is_told_and_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(log_file, "AGAIN_SECONDS", 0.0)
    store = LogStore.open(folder)
    session = store.create_session("at work", 1.0)
    store.append(session.id, said(0), 1.0)
    told: list[str] = []
    store.tell_of(told.append)
    real = log_file.open_file

    def refused(*_: object) -> object:
        raise StoreFailed("No space left")

    monkeypatch.setattr(log_file, "open_file", refused)
    shutil.rmtree(folder)
    written = [store.append(session.id, said(number), 2.0) for number in range(1, 4)]
    store._file.finish()  # noqa: SLF001
    assert "No space left" in told
    monkeypatch.setattr(log_file, "open_file", real)
    written.append(store.append(session.id, said(4), 2.0))
    store.close()
    again = LogStore.open(folder)
    assert [each.seq for each in again.load(session.id)] == [1, *(each.seq for each in written)]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("left", [0.0, 0.3, 0.8])
def test_what_a_cut_off_log_lost_is_said_by_number(folder: Path, left: float, at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the open session its newest entries are in memory, and of the others nothing."""
    monkeypatch.setattr(log_file, "AT_ONCE_BYTES", 1 << 40 if at_once else 0)
    written, open_id = _write(folder)
    store = LogStore.open(folder)
    told: list[str] = []
    store.tell_of(told.append)
    loaded = store.load(open_id)
    store.hold(lambda: [HeldSession(open_id, "Session 0", loaded[-IN_MEMORY:])])
    for session_id in written:
        store.load(session_id)  # other pages are in SQLite's memory by now
    path = ullage_folder.database(folder)
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * left))
    later = store.append(open_id, said(1), 2.0)
    store.close()

    assert len(told) == 1
    again = LogStore.open(folder)
    assert again.set_aside is None
    there = {record.id: record.title for record in again.sessions()}
    lost = 0
    for session_id, entries in written.items():
        if session_id not in there:
            continue
        found = again.load(session_id)
        wanted = [*entries, later] if session_id == open_id else entries
        assert [each for each in wanted if each in found] == found
        gone = sorted(row.seq for row in again.damaged(session_id))
        assert gone == [each.seq for each in wanted if each not in found]
        lost += len(gone)
        numbers = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in ranges(gone))
        assert (f"of “{there[session_id]}” damaged or missing: entry {numbers}" in told[0]) == bool(gone)
    assert lost > 0
    assert open_id in there
    assert [each.seq for each in again.load(open_id)][-IN_MEMORY - 1 :] == list(range(ENTRIES - IN_MEMORY + 1, ENTRIES + 2))
    vanished = len(written.keys() - there.keys())
    assert (f"{vanished:,} sessions could not be read" in told[0]) == bool(vanished)


def _write(folder: Path) -> tuple[dict[str, list[Logged]], str]:
    store = LogStore.open(folder)
    ids = [store.create_session(f"Session {number}", 1.0).id for number in range(SESSIONS)]
    written: dict[str, list[Logged]] = {session_id: [] for session_id in ids}
    for number in range(ENTRIES):
        for session_id in ids:
            returned = ToolReturned(f"t{number}", "bash", f"{number} {LONG}", is_error=False, characters=len(LONG))
            written[session_id].append(store.append(session_id, returned, 1.0))
    store.close()
    return written, ids[0]

"""What processes on one store know of each other: which sessions another one writes, and that the list of sessions changed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ullage.store.log_store import LogStore
from ullage.store.other_windows import ListNews
from ullage.store.shared_files import HeldElsewhere, SystemLock, is_held


@contextmanager
def opened(folder: Path) -> Generator[LogStore]:
    log = LogStore.open(folder)
    try:
        yield log
    finally:
        log.close()


def test_a_lock_is_seen_as_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "a place" / "of %41 locks?.lock"
    assert not is_held(path)
    lock = SystemLock(path)
    assert is_held(path)
    lock.release()
    assert not is_held(path)


def test_who_looks_takes_a_lock_from_nobody(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    SystemLock(path).release()
    looker = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
    looker.execute("BEGIN")
    looker.execute("SELECT count(*) FROM sqlite_master")  # as `is_held` looks, and slow at it
    taken: list[SystemLock] = []
    taker = threading.Thread(target=lambda: taken.append(SystemLock(path)))
    taker.start()
    looker.execute("COMMIT")
    taker.join()
    assert is_held(path)
    with pytest.raises(HeldElsewhere):
        SystemLock(path)
    taken[0].release()
    looker.close()


def test_looking_all_the_time_keeps_nobody_from_taking_it(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    SystemLock(path).release()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            is_held(path)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(100):
            SystemLock(path).release()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_sessions_of_another_process_are_known_and_ones_own_are_not_among_them(tmp_path: Path) -> None:
    with opened(tmp_path) as here, opened(tmp_path) as there:
        mine, theirs = here.create_session("mine", 1.0), there.create_session("theirs", 2.0)
        ids = [mine.id, theirs.id, "no such session", "not/an/id"]
        assert here.open_elsewhere(ids) == {theirs.id}
        assert there.open_elsewhere(ids) == {mine.id}
        there.release(theirs.id)
        assert here.open_elsewhere(ids) == frozenset()
        here.claim(theirs.id)  # looking has left nothing behind
        assert there.open_elsewhere(ids) == {mine.id, theirs.id}


def test_in_memory_no_session_is_open_elsewhere() -> None:
    log = LogStore.open(None)
    assert log.open_elsewhere([log.create_session("", 1.0).id]) == frozenset()
    log.close()


async def test_others_hear_of_it_and_who_tells_does_not(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[str] = asyncio.Queue()
    windows = {name: ListNews(tmp_path / "news") for name in ("one", "two")}
    ready = asyncio.Semaphore(0)
    for name, window in windows.items():
        window.listen(lambda name=name: loop.call_soon_threadsafe(heard.put_nowait, name), lambda: loop.call_soon_threadsafe(ready.release))
    async with asyncio.timeout(20):
        await ready.acquire()
        await ready.acquire()
        windows["one"].tell()
        assert await heard.get() == "two"
        windows["two"].tell()
        assert await heard.get() == "one"
    assert list((tmp_path / "news").iterdir()) == []
    for window in windows.values():
        window.close()


def test_telling_where_nobody_can_write_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "news").write_text("a file in its place")
    ListNews(tmp_path / "news").tell()
    ListNews(None).tell()

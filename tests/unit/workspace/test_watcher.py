"""The watcher on a real disk: what it reports, what it leaves out, and how it outlives its folder."""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from watchfiles import Change

from ullage.workspace.text_file import OwnWrites, write_text
from ullage.workspace.watcher import FileChange, watch


class Watching:
    """A running watch whose reports can be waited for."""

    def __init__(self, roots: list[Path]) -> None:
        self.own_writes = OwnWrites()
        self.changes: asyncio.Queue[FileChange] = asyncio.Queue()
        self.troubles: asyncio.Queue[str] = asyncio.Queue()
        self.ready: asyncio.Queue[None] = asyncio.Queue()
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(
            watch(
                roots,
                self.own_writes,
                self.changes.put_nowait,
                self.troubles.put_nowait,
                self.stop,
                on_ready=lambda: self.ready.put_nowait(None),
                gone_seconds=0.05,
            )
        )

    async def until(self, path: Path, kind: str) -> list[FileChange]:
        """All reports up to and with that one."""
        seen: list[FileChange] = []
        while not seen or (seen[-1].path, seen[-1].kind) != (path, kind):
            seen.append(await self.changes.get())
        return seen


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    for folder in ("src", "node_modules/left", ".git", "build", ".ullage"):
        (root / folder).mkdir(parents=True)
    (root / ".gitignore").write_text("build/\n")
    (root / "src" / "old.py").write_text("old")
    return root


@pytest.fixture
async def watching(root: Path) -> AsyncIterator[Watching]:
    watching = Watching([root])
    await watching.ready.get()
    yield watching
    watching.stop.set()
    await watching.task


async def test_changes_made_by_others_are_reported(watching: Watching, root: Path) -> None:
    (root / "src" / "new.py").write_text("new")
    await watching.until(root / "src" / "new.py", "created")
    (root / "src" / "old.py").write_text("changed")
    await watching.until(root / "src" / "old.py", "changed")
    (root / "src" / "old.py").unlink()
    await watching.until(root / "src" / "old.py", "deleted")


async def test_ignored_folders_are_not_reported(watching: Watching, root: Path) -> None:
    for name in ("node_modules/left/pad.js", ".git/index", "build/out.py", ".ullage/ullage.db"):
        (root / name).write_text("noise")
    (root / "src" / "last.py").write_text("last")
    seen = await watching.until(root / "src" / "last.py", "created")
    assert {change.path for change in seen} == {root / "src" / "last.py"}


async def test_own_writes_are_not_reported_but_later_changes_are(watching: Watching, root: Path) -> None:
    write_text(root / "src" / "old.py", "ours", None, watching.own_writes)
    write_text(root / "src" / "made.py", "ours", None, watching.own_writes)
    (root / "src" / "last.py").write_text("last")
    seen = await watching.until(root / "src" / "last.py", "created")
    assert {change.path for change in seen} == {root / "src" / "last.py"}
    (root / "src" / "old.py").write_text("theirs now")
    await watching.until(root / "src" / "old.py", "changed")


async def test_new_folders_are_watched_with_what_is_in_them(watching: Watching, root: Path, tmp_path: Path) -> None:
    (tmp_path / "moved" / "deep").mkdir(parents=True)
    (tmp_path / "moved" / "deep" / "in.py").write_text("in")
    shutil.move(tmp_path / "moved", root / "moved")
    await watching.until(root / "moved" / "deep" / "in.py", "created")
    await watching.ready.get()
    (root / "moved" / "deep" / "in.py").write_text("later")
    await watching.until(root / "moved" / "deep" / "in.py", "changed")


async def test_rules_that_change_count_from_then_on(watching: Watching, root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    await watching.ready.get()
    (root / "build" / "seen.py").write_text("")
    (root / "src" / "unseen.log").write_text("")
    await watching.until(root / "build" / "seen.py", "created")
    (root / "src" / "last.py").write_text("")
    seen = await watching.until(root / "src" / "last.py", "created")
    assert root / "src" / "unseen.log" not in {change.path for change in seen}


async def test_a_folder_that_vanishes_is_told_once_and_watched_again_when_back(watching: Watching, root: Path) -> None:
    shutil.rmtree(root)
    assert "is gone" in await watching.troubles.get()
    root.mkdir()
    await watching.ready.get()
    (root / "again.py").write_text("")
    await watching.until(root / "again.py", "created")
    assert watching.troubles.empty()


async def test_the_other_folders_are_watched_while_one_is_gone(root: Path, tmp_path: Path) -> None:
    watching = Watching([tmp_path / "missing", root])
    assert "missing" in await watching.troubles.get()
    await watching.ready.get()
    (root / "src" / "new.py").write_text("new")
    await watching.until(root / "src" / "new.py", "created")
    watching.stop.set()
    await watching.task


async def test_without_folders_there_is_nothing_to_watch() -> None:
    watching = Watching([])
    watching.stop.set()
    await watching.task
    assert watching.troubles.empty()


async def test_folders_that_come_and_go_while_the_watch_begins_do_not_stop_it(root: Path) -> None:
    busy = threading.Event()

    def churn() -> None:
        while not busy.is_set():
            for number in range(20):
                (root / "src" / f"passing{number}").mkdir()
            for number in range(20):
                (root / "src" / f"passing{number}").rmdir()

    churning = asyncio.ensure_future(asyncio.to_thread(churn))
    watching = Watching([root])
    await watching.ready.get()
    busy.set()
    await churning
    (root / "src" / "new.py").write_text("new")
    await watching.until(root / "src" / "new.py", "created")
    watching.stop.set()
    await watching.task
    assert watching.troubles.empty()


async def test_what_an_older_watch_noticed_is_reported_after_a_newer_began(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both watches are played: the newer is quicker with its report than the older with what it noticed before."""
    begun: queue.Queue[queue.Queue[set[tuple[Change, str]]]] = queue.Queue()

    def played(*_folders: Path, stop_event: threading.Event, **_options: object) -> Iterator[set[tuple[Change, str]]]:
        reports: queue.Queue[set[tuple[Change, str]]] = queue.Queue()
        begun.put(reports)
        while not stop_event.is_set():
            with suppress(queue.Empty):
                yield reports.get(timeout=0.01)

    monkeypatch.setattr("ullage.workspace.watcher.watch_blocking", played)
    watching = Watching([root])
    older = await asyncio.to_thread(begun.get)
    older.put(set())
    await watching.ready.get()
    (root / "lib").mkdir()
    older.put({(Change.added, str(root / "lib"))})
    newer = await asyncio.to_thread(begun.get)
    for name in ("early.py", "late.py"):
        (root / name).touch()
    newer.put({(Change.added, str(root / "late.py"))})
    await watching.until(root / "late.py", "created")
    older.put(set())
    older.put({(Change.added, str(root / "early.py"))})
    await watching.until(root / "early.py", "created")
    watching.stop.set()
    await watching.task


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every file name is text")
@pytest.mark.parametrize("what", ["a folder there before", "a file there before", "a new file", "a new folder"])
async def test_a_name_that_is_no_text_hides_no_other_change(what: str, root: Path) -> None:
    unnameable = root / os.fsdecode(b"caf\xe9")
    if what == "a folder there before":
        unnameable.mkdir()
    if what == "a file there before":
        unnameable.touch()
    watching = Watching([root])
    await watching.ready.get()
    if what == "a new file":
        unnameable.touch()
    if what == "a new folder":
        unnameable.mkdir()
    (root / "src" / "old.py").write_text("changed")
    await watching.until(root / "src" / "old.py", "changed")
    assert watching.troubles.empty()
    watching.stop.set()
    await watching.task

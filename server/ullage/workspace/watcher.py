"""Notices what changes on disk without an editor or a tool telling us: formatters, git, a terminal.

On Linux each folder that is not ignored is watched by itself, since the kernel counts watches by the folder and
`node_modules` alone would use up many; elsewhere one watch covers a whole tree. Either way nothing ignored is reported.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from watchfiles import Change
from watchfiles import watch as watch_blocking

from ullage.workspace.ignore import RULES_FILE, IgnoreRules, walk_files, walk_folders
from ullage.workspace.text_file import OwnWrites

TICK_MILLISECONDS = 500
"""How often a quiet watch reports back: the first time shows that it has begun."""

GONE_SECONDS = 5.0
"""How long to wait before a folder that is gone is looked for again."""

FAILED_SECONDS = 60.0
"""How long to wait before a watch that failed is tried again: what made it fail rarely goes away by itself."""

FILES_OF_A_NEW_FOLDER = 500
"""How many files of a folder that appeared are reported; more come from unpacking or installing, not from editing."""

PER_FOLDER = sys.platform == "linux"

UNNAMEABLE_SECONDS = 1.0
"""How long to wait before a watch that met a name which is no text begins again: such a file may be written to all the time."""

LAST_REPORTS = 2
"""How many reports of a watch are taken after a newer one began. The first may have been gathered before that, the second was not."""

MISSED_SECONDS = 3.0
"""How much earlier than its last report a watch that met such a name may have lost a change: changes are gathered for up to 1.6 s."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not as it was. A `deleted` one may have been a folder: what is gone cannot be asked."""

    path: Path
    kind: Literal["created", "changed", "deleted"]


@dataclass(slots=True, eq=False)
class _Watch:
    """One run of watchfiles over a fixed set of folders, in a thread of its own."""

    stop: threading.Event = field(default_factory=threading.Event)
    has_begun: bool = False
    last_reports: int | None = None
    """How many reports are still taken from it, once a newer watch is at work. `None`: it is the newest at work."""
    last_report: float = field(default_factory=time.time)
    """When it last reported, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class _Report:
    """The findings of a watch. An empty report says that the watch is at work; `error` says why it is not any more."""

    watch: _Watch
    changes: tuple[FileChange, ...] = ()
    new_folders: tuple[Path, ...] = ()
    rules_changed: bool = False
    roots_changed: bool = False
    """Whether a workspace folder came or went."""
    error: Exception | None = None


async def watch(
    roots: Sequence[Path],
    own_writes: OwnWrites,
    on_change: Callable[[FileChange], None],
    on_trouble: Callable[[str], None],
    stop: asyncio.Event,
    *,
    on_ready: Callable[[], None] = lambda: None,
    gone_seconds: float = GONE_SECONDS,
) -> None:
    """Watches the folders until `stop` is set, and calls back on the event loop.

    `on_trouble` gets a message for the user when folders cannot be watched (gone, too many); it is tried again, and the
    message comes once as long as it stays the same. `on_ready` is called each time that a watch has begun.
    """
    told: str | None = None

    def tell(trouble: str | None) -> None:
        nonlocal told
        if trouble is not None and trouble != told:
            on_trouble(trouble)
        told = trouble

    while not stop.is_set():
        present = [root for root in roots if root.is_dir()]
        missing = [root for root in roots if root not in present]
        tell(f"The folder {missing[0]} is gone; its changes are noticed again when it is back" if missing else None)
        if not present:
            await _wait(stop, gone_seconds if missing else None)
            continue
        failure = await _Watching(roots, present, own_writes).run(on_change, on_ready, stop)
        if failure is not None:
            tell(failure)
            await _wait(stop, FAILED_SECONDS)


async def _wait(stop: asyncio.Event, seconds: float | None) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


class _Watching:
    """The watches at work: one, or for a moment more than one while one that covers more folders takes over.

    The older one goes on for that moment: it may not have reported yet what it noticed before the newer one began.
    """

    def __init__(self, roots: Sequence[Path], present: Sequence[Path], own_writes: OwnWrites) -> None:
        self._roots = tuple(roots)
        self._present = tuple(present)
        self._own_writes = own_writes
        self._rules = IgnoreRules(present)
        self._loop = asyncio.get_running_loop()
        self._reports: asyncio.Queue[_Report] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(thread_name_prefix="ullage-watch")
        self._watches: list[_Watch] = []

    async def run(self, on_change: Callable[[FileChange], None], on_ready: Callable[[], None], stop: asyncio.Event) -> str | None:
        """Watches until `stop` is set or workspace folders come or go (None), or until it no longer can: then gives why, in words for the
        user."""
        self._begin()
        try:
            while (report := await self._next_report(stop)) is not None:
                if report.watch not in self._watches:
                    continue
                if report.error is not None:
                    return _in_words(report.error)
                if not report.watch.has_begun:
                    report.watch.has_begun = True
                    self._retire_before(report.watch)
                    on_ready()
                elif report.watch.last_reports is not None:
                    report.watch.last_reports -= 1
                    if report.watch.last_reports == 0:
                        self._stop(report.watch)
                for change in report.changes:
                    on_change(change)
                if report.roots_changed:
                    return None
                if report.rules_changed or (report.new_folders and PER_FOLDER):
                    self._rules.forget()
                    self._begin()
            return None
        finally:
            for watch in tuple(self._watches):
                self._stop(watch)
            await asyncio.to_thread(self._threads.shutdown, wait=True)

    async def _next_report(self, stop: asyncio.Event) -> _Report | None:
        stopping = asyncio.ensure_future(stop.wait())
        getting = asyncio.ensure_future(self._reports.get())
        try:
            await asyncio.wait({stopping, getting}, return_when=asyncio.FIRST_COMPLETED)
            return getting.result() if not stop.is_set() else None
        finally:
            stopping.cancel()
            getting.cancel()

    def _begin(self) -> None:
        watch = _Watch()
        self._watches.append(watch)
        self._threads.submit(self._watch, watch)

    def _retire_before(self, newest: _Watch) -> None:
        for watch in self._watches[: self._watches.index(newest)]:
            if not watch.has_begun:
                self._stop(watch)  # it has noticed nothing that the newest does not
            elif watch.last_reports is None:
                watch.last_reports = LAST_REPORTS

    def _stop(self, watch: _Watch) -> None:
        watch.stop.set()
        self._watches.remove(watch)

    def _watch(self, watch: _Watch) -> None:
        """Runs one watch again and again until it is stopped. It runs in a thread, so that everything here may block."""
        try:
            missed_since: float | None = None
            while not watch.stop.is_set():
                try:
                    self._watch_folders(watch, missed_since)
                except FileNotFoundError:
                    pass  # a folder went away while the watch began: look again which there are
                except RuntimeError as error:  # what watchfiles raises for all that its system library meets
                    if not _is_about_a_name(error):
                        raise
                    logger.info("A file name that is no valid UTF-8 is passed over: %s", error)
                    missed_since = watch.last_report - MISSED_SECONDS
                    watch.stop.wait(UNNAMEABLE_SECONDS)
                if not all(root.is_dir() for root in self._present):
                    self._post(_Report(watch, roots_changed=True))
                    return
        except Exception as error:  # noqa: BLE001 - watchfiles raises what its system library raises; the user is told
            self._post(_Report(watch, error=error))

    def _watch_folders(self, watch: _Watch, missed_since: float | None) -> None:
        """Runs one watch once. `missed_since` is the time from which on the watch before this one may have lost changes (Unix seconds)."""
        folders: Iterable[Path] = self._present
        if PER_FOLDER:
            below = chain.from_iterable(walk_folders(root, self._rules) for root in self._present)
            folders = (folder for folder in below if _is_text(folder))
        for changes in watch_blocking(
            *folders,
            watch_filter=self._is_wanted,
            stop_event=watch.stop,
            rust_timeout=TICK_MILLISECONDS,
            yield_on_timeout=True,
            recursive=not PER_FOLDER,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            watch.last_report = time.time()
            self._post(self._report(watch, changes))
            if missed_since is not None:
                self._post(_Report(watch, tuple(self._changed_since(missed_since))))
                missed_since = None

    def _changed_since(self, when: float) -> Iterator[FileChange]:
        """The files that were changed on disk at that time or later (Unix seconds). Deleted files are not known."""
        for path in chain.from_iterable(walk_files(root, self._rules) for root in self._present):
            try:
                status = path.stat()
            except OSError:
                continue
            if max(status.st_mtime, status.st_ctime) >= when and _is_text(path) and not self._own_writes.is_ours(path):
                yield FileChange(path, "changed")

    def _post(self, report: _Report) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(self._reports.put_nowait, report)

    def _is_wanted(self, change: Change, name: str) -> bool:
        path = Path(name)
        return not self._rules.ignores(path, is_folder=path.is_dir() and not path.is_symlink())

    def _report(self, watch: _Watch, changes: set[tuple[Change, str]]) -> _Report:
        files: dict[Path, FileChange] = {}
        new_folders: list[Path] = []
        for change, name in sorted(changes):
            path = Path(name)
            if path.is_dir():
                if change is Change.added and not path.is_symlink():
                    new_folders.append(path)
            elif not self._own_writes.is_ours(path):
                files[path] = FileChange(path, _kind(change, path))
        for folder in new_folders:
            for path in islice(walk_files(folder, self._rules), FILES_OF_A_NEW_FOLDER):
                if not self._own_writes.is_ours(path):
                    files.setdefault(path, FileChange(path, "created"))
        return _Report(
            watch,
            tuple(files.values()),
            tuple(new_folders),
            rules_changed=any(path.name == RULES_FILE for path in files),
            roots_changed=any(root in files or root.is_dir() != (root in self._present) for root in self._roots),
        )


def _kind(change: Change, path: Path) -> Literal["created", "changed", "deleted"]:
    """The kind of a change as the disk shows it in the end: a file that was replaced is reported as deleted and added in any order."""
    if not path.exists():
        return "deleted"
    return "created" if change is Change.added else "changed"


def _is_text(path: Path) -> bool:
    """Whether watchfiles can take the name of a path: on Linux a name is any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        logger.info("The name is no valid UTF-8, so changes there are not noticed: %r", str(path))
        return False
    return True


def _is_about_a_name(error: RuntimeError) -> bool:
    return "decode path" in str(error)


def _in_words(error: Exception) -> str:
    text = str(error)
    if "watch limit" in text.lower() or getattr(error, "errno", None) == 28:
        return (
            "Files changed outside the editor are not noticed: the system's limit of watched folders is reached. "
            "Raise fs.inotify.max_user_watches, or have large folders ignored in .gitignore"
        )
    return f"Files changed outside the editor are not noticed: {text}"

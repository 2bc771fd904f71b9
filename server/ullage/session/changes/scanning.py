"""What is in the workspace before and after a command: every file with its version, kept as far as it is new.

The first scan reads all files that are covered. The next ones read only what has another stamp (`workspace/scan.py`). What was found before
a command is on disk until what it changed is logged (`Versions.seen`). So what a command changed that a crash cut off can still be told.

Scans block, so each is made in another thread. They take turns, whichever session they are for.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ullage.context.change_entries import ChangedFile, FileVersion, Uncovered
from ullage.store.errors import StoreFailed
from ullage.store.versions import Packed, ScannedFile, Versions, pack
from ullage.workspace.folders import Folders
from ullage.workspace.regular_files import Regulars
from ullage.workspace.scan import Met, TooManyFiles, Walker, is_executable, read_as_stamped, size_in
from ullage.workspace.text_file import FileTooLarge

LARGEST_BYTES = 5_000_000
"""Larger files are named as not covered: text that people write is far smaller, and copies of builds and data would fill the disk."""

MOST_SECONDS = 20.0
"""How long a scan reads files. What it has not read by then is named as not covered, and read by the next one."""

READERS = 2
"""Threads that read and pack: both leave the interpreter to others most of the time."""

READ_TOGETHER, BYTES_TOGETHER = 100, 8_000_000
"""How many files, or bytes of them, a thread reads at once and writes at once."""

AHEAD = 4
"""How many such parts are read while the one before is written."""

TOO_LARGE = f"larger than {LARGEST_BYTES // 1_000_000} MB"
IGNORED = "ignored by git"
LINK = "a link, which is not followed"
NO_UTF8 = "its name is no UTF-8"
NOT_YET = "the workspace is large, and this was not copied yet"
TOO_MANY = "the workspace has too many files to look through before and after a command"

ORDINARY = frozenset({TOO_LARGE, IGNORED, LINK, NO_UTF8, NOT_YET})
"""Reasons that a list of what is not covered gives, and no message: nothing is wrong."""

_AGAIN_SECONDS = 600.0
"""How long no walk is made after one that met too many files."""

_UNSETTLED = "?"
"""The mark before a stamp that does not stand for the content."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as a scan found it. `version` is None if its content is not kept, and `why` says why."""

    stamp: str
    version: FileVersion | None
    why: str = ""


Scan = Mapping[str, FileState]
"""What is in the workspace: the state of each file, by absolute path."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one scan to another."""

    files: tuple[ChangedFile, ...]
    uncovered: tuple[Uncovered, ...]


class NotScanned(Exception):
    """The workspace could not be looked through; `str()` is for the user."""


class Scanner:
    """Scans one workspace before and after commands, and tells what each of them changed."""

    def __init__(self, folders: Folders, versions: Versions) -> None:
        self._folders = folders
        self._versions = versions
        self._walker = Walker(folders)
        self._lock = threading.Lock()
        self._newest: dict[str, FileState] | None = None
        self._before_start: Scan = {}
        self._not_before = 0.0
        self._is_closed = False
        self._unwritten: dict[str, ScannedFile | None] = {}
        """What scans found since it was last written down."""
        self._unlogged = set[str]()
        """Commands whose changes are not in the log yet: until then what was found before them stays on disk."""
        self._running: dict[str, set[str]] = {}
        """The commands that run in this window, each with what changed while another one ran, too, here or in another window."""
        self._elsewhere = False
        """Whether a command ran in another window when it was last looked."""
        self._others: int | None = None
        """How many commands other windows had begun when it was last looked; None before the first look."""
        self._from_before: set[str] | None = None
        """Commands that had begun before the first scan of this process: cut off, or of another window. What was found before them stays on
        disk until what they changed is logged."""
        self.begun_here = set[str]()
        """The calls that began in this process: what they changed is not told by `since_last_run`."""

    def before(self, tool_use_id: str, begin: Callable[[], None]) -> Scan:
        """Scans before that command runs, and gives what is there. It is on disk when this returns; then `begin` notes the command. Where
        the disk refuses, only what a crash cuts off is not known later. Raises `NotScanned`."""
        with self._lock:
            found = self._look()
            with suppress(StoreFailed):
                if not self._unlogged and not self._from_before and self._unwritten:
                    self._versions.keep_packed((), named=False, seen=self._unwritten.items())
                    self._unwritten = {}
                begin()
            self._unlogged.add(tool_use_id)
            self._running[tool_use_id] = set()
            return found

    def ahead(self) -> None:
        """Reads what the first scan has to read, while nobody waits for it yet."""
        with self._lock, suppress(NotScanned):
            if self._newest is None:
                self._look()

    def close(self) -> None:
        """Has a scan that runs read nothing more."""
        self._is_closed = True

    def after(self, tool_use_id: str, before: Scan, not_of: frozenset[str]) -> Difference:
        """What that command, which is over, changed, without the absolute paths `not_of`. The new contents are durable when this returns.

        What changed while another command ran, too, is `shared`: nobody can tell which of them it was. Raises `NotScanned`.
        """
        with self._lock:
            try:
                found = self._look()
            finally:
                shared = self._running.pop(tool_use_id, set())
        return self.difference(before, found, not_of, shared)

    @property
    def newest(self) -> Scan:
        """What the newest scan found; empty before the first one."""
        return self._newest or {}

    def _look(self) -> Scan:
        """Scans, and notes what changed since the last time while two commands ran."""
        last, elsewhere = self._newest, self._elsewhere
        with suppress(StoreFailed):
            running, others = self._versions.commands_begun()
            begun = running - self.begun_here
            self._from_before = begun if self._from_before is None else begun & self._from_before
            self._elsewhere = bool(begun - self._from_before)
            elsewhere = elsewhere or self._elsewhere or others > (others if self._others is None else self._others)
            self._others = others
        found = self._scan()
        if last is not None and self._running and len(self._running) + elsewhere > 1:
            changed = {path for path in last.keys() | found.keys() if not _is_same(last.get(path), found.get(path))}
            for shared in self._running.values():
                shared |= changed
        return found

    def logged(self, tool_use_id: str) -> None:
        """Tells that the log has what that command changed."""
        self._unlogged.discard(tool_use_id)

    def since_last_run(self) -> Difference:
        """What changed from the newest scan of an earlier process to the first one of this. Raises `NotScanned`."""
        with self._lock:
            first = self._newest if self._newest is not None else self._look()
        return self.difference(self._before_start, first)

    def difference(self, before: Scan, after: Scan, not_of: Collection[str] = (), shared: Collection[str] = ()) -> Difference:
        """What changed from one scan to another, without the absolute paths `not_of`; of paths in `shared` it says that they are."""
        files: list[ChangedFile] = []
        uncovered: list[Uncovered] = []
        new = (path for path, now in after.items() if not _is_same(before.get(path), now))
        for path in sorted((*new, *(before.keys() - after.keys()))):
            was, now = before.get(path), after.get(path)
            if path in not_of:
                continue
            shown = self._shown(path)
            why = (was.why if was else "") or (now.why if now else "") or ("" if now else _why_left_out(path))
            if why:
                uncovered.append(Uncovered(shown, why))
            else:
                files.append(ChangedFile(shown, was.version if was else None, now.version if now else None, path in shared))
        return Difference(tuple(files), tuple(uncovered))

    def _shown(self, path: str) -> str:
        first = self._folders.first
        inside = f"{first}{os.sep}"
        shown = path[len(inside) :] if first is not None and path.startswith(inside) else path
        return os.fsencode(shown).decode("utf-8", "backslashreplace").replace(os.sep, "/")

    def _scan(self) -> Scan:
        if time.monotonic() < self._not_before:
            raise NotScanned(TOO_MANY)
        try:
            met = self._walker.walk()
            before = self._known()
        except TooManyFiles:
            self._not_before = time.monotonic() + _AGAIN_SECONDS
            raise NotScanned(TOO_MANY) from None
        except StoreFailed as error:
            raise NotScanned(str(error).removesuffix(".")) from error
        reading = _Reading(self._versions, before, self._unwritten)
        reading.take([each for each in met if not reading.is_as_it_was(each)], lambda: self._is_closed)
        reading.finish()
        if self._newest is None:
            self._before_start = before
        self._newest = reading.found
        return reading.found

    def _known(self) -> dict[str, FileState]:
        if self._newest is not None:
            return self._newest
        return {path: _state(seen) for path, seen in self._versions.seen().items()}


class _Reading:
    """Makes one scan out of the files that a walk met."""

    def __init__(self, versions: Versions, before: dict[str, FileState], rows: dict[str, ScannedFile | None]) -> None:
        """`rows` takes what is new, and None for what is gone, by path."""
        self._versions = versions
        self._rows = rows
        self._before = before
        self._until = time.monotonic() + MOST_SECONDS
        self._failed = ""
        self.found: dict[str, FileState] = {}

    def is_as_it_was(self, met: Met) -> bool:
        """Whether the file is as the scan before found it, so that it need not be read."""
        known = self._before.get(met.path)
        if known is None or known.stamp != met.stamp or known.why not in ("", TOO_LARGE, IGNORED, LINK, NO_UTF8):
            return False
        self.found[met.path] = known
        return True

    def take(self, mets: Sequence[Met], is_closed: Callable[[], bool]) -> None:
        """Reads and keeps what is new: some threads read and pack while this one writes. Raises `NotScanned`."""
        new: list[Met] = []
        for met in mets:
            why = _why_not(met)
            if why:
                self._note(met.path, FileState(met.stamp, None, why))
            else:
                new.append(met)
        with ThreadPoolExecutor(READERS if len(new) > READ_TOGETHER else 1, "ullage-scan") as readers:
            waiting = deque[tuple[Sequence[Met], Future[list[_Read]]]]()
            for part in (*_parts(new), None):
                if part is not None:
                    waiting.append((part, readers.submit(_read, part, self._is_over)))
                while len(waiting) > AHEAD or (waiting and part is None):
                    self._keep(*waiting.popleft())
                    if is_closed():
                        self._until = 0.0
                        raise NotScanned(NOT_YET)

    def _is_over(self) -> str:
        return self._failed or ("" if time.monotonic() < self._until else NOT_YET)

    def _keep(self, mets: Sequence[Met], reading: Future[list[_Read]]) -> None:
        read = reading.result()
        packed = [each for each, _ in read if isinstance(each, Packed)]
        failed = ""
        try:
            if packed:
                self._versions.keep_packed(packed, named=False, at_once=False)
        except StoreFailed as error:
            failed = self._failed = str(error).removesuffix(".")
        for met, (found, is_settled) in zip(mets, read, strict=True):
            stamp = met.stamp if is_settled else f"{_UNSETTLED}{met.stamp}"
            if isinstance(found, Packed):
                version = FileVersion(found.sha256, found.size, is_executable(met.stamp))
                self._note(met.path, FileState(stamp, None, failed) if failed else FileState(stamp, version))
            elif found:
                self._note(met.path, FileState(met.stamp, None, found))

    def finish(self) -> None:
        """Notes the files that are gone."""
        for path in self._before.keys() - self.found.keys():
            self._rows[path] = None

    def _note(self, path: str, state: FileState) -> None:
        self.found[path] = state
        if state != self._before.get(path):
            self._rows[path] = ScannedFile(state.stamp, state.version.sha256 if state.version else None, state.why)


def _parts(mets: Sequence[Met]) -> Iterator[Sequence[Met]]:
    part: list[Met] = []
    size = 0
    for met in mets:
        part.append(met)
        size += size_in(met.stamp)
        if len(part) >= READ_TOGETHER or size >= BYTES_TOGETHER:
            yield part
            part, size = [], 0
    if part:
        yield part


_Read: TypeAlias = tuple[Packed | str, bool]
"""What was read of a file, or why nothing was (empty: it vanished); and whether its stamp stands for it."""


def _read(mets: Sequence[Met], is_over: Callable[[], str]) -> list[_Read]:
    with Regulars() as files:
        return [_read_one(met, files, is_over()) for met in mets]


def _read_one(met: Met, files: Regulars, why: str) -> _Read:
    if why:
        return why, False
    try:
        data, is_settled = read_as_stamped(met, LARGEST_BYTES, files)
    except FileTooLarge:
        return TOO_LARGE, False
    except FileNotFoundError:
        return "", False
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}", False
    return pack(data), is_settled


def _why_not(met: Met) -> str:
    """Why a file is not read; empty if it is."""
    if met.kind != "file":
        return IGNORED if met.kind == "ignored" else LINK
    if not _is_utf8(met.path):
        return NO_UTF8
    return TOO_LARGE if size_in(met.stamp) > LARGEST_BYTES else ""


def _is_same(was: FileState | None, now: FileState | None) -> bool:
    if was is None or now is None:
        return was is now
    if was.version is None or now.version is None:
        return was.stamp == now.stamp
    return was.version == now.version


def _why_left_out(path: str) -> str:
    """Why a file that was there is not met any more, though something stands at its place; empty if nothing does."""
    there = Path(path)
    if there.is_symlink():
        return LINK
    return IGNORED if there.exists() else ""


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _state(seen: ScannedFile) -> FileState:
    """The state of a file as an earlier process found it."""
    if seen.sha256 is None:
        return FileState(seen.stamp, None, seen.why)
    stamp = seen.stamp.removeprefix(_UNSETTLED)
    return FileState(seen.stamp, FileVersion(seen.sha256, size_in(stamp), is_executable(stamp)))

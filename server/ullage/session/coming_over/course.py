"""The course of taking in a long session: shown while it takes long, stopped where the user wants that, and without leavings.

Work on it is done in another thread, which tells here how far it is. What is put on disk before the session is there (images, long results)
is noted in a file first. So whoever is stopped takes it back, and after a kill the next look for sessions does.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ullage.context.blocks import Media
from ullage.session.changes.progress import SHOWN_AFTER_SECONDS, ShownProgress, ShowProgress
from ullage.session.errors import SessionError
from ullage.session.surroundings import Outputs
from ullage.store.errors import StoreFailed
from ullage.store.folder import MEDIA, RESULTS
from ullage.store.plain_files import MediaFiles, safe_name, shown_path
from ullage.store.shared_files import HeldElsewhere, SystemLock

logger = logging.getLogger(__name__)

TOLD_EVERY = 0.2
"""Seconds between two reports: nobody sees more of them."""

STOPPED = "You stopped it before it was done. Nothing was taken over"


class Course:
    """One piece of work, as a context on the event loop. Its methods are called in the thread that works."""

    def __init__(self, show: ShowProgress, title: str) -> None:
        self._show = show
        self._title = title
        self._loop = asyncio.get_running_loop()
        self._began = self._told = time.monotonic()
        self._shown: ShownProgress | None = None
        self._stopped = threading.Event()
        self._is_over = False
        self._part = (0.0, 1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._is_over = True
        if self._shown is not None:
            self._shown.end()

    def part(self, begins: float, ends: float) -> None:
        """Says which part of the work the shares are of from now on (0 to 1, of the whole)."""
        self._part = (begins, ends)
        self.at(0.0)

    def at(self, share: float) -> None:
        """Reports that so much of the part is done, 0 to 1. Raises `SessionError` if the user stopped the work."""
        if self._stopped.is_set():
            raise SessionError("invalid", STOPPED)
        now = time.monotonic()
        if now - self._told >= TOLD_EVERY:
            self._told = now
            begins, ends = self._part
            self._loop.call_soon_threadsafe(self._report, int(100 * (begins + (ends - begins) * min(1.0, share))))

    def _report(self, percent: int) -> None:
        if self._is_over:
            return
        if self._shown is None and time.monotonic() - self._began > SHOWN_AFTER_SECONDS:
            self._shown = self._show(self._title, self._stopped.set)
        if self._shown is not None:
            self._shown.report(percent)


NOTES = "coming-over"
"""A folder below that which is kept for the workspace. It has the notes of what was kept for sessions that are being taken in."""


class Leavings:
    """What is kept for a session before it is there. Each file is noted before it is written. Without a folder there are none.

    `settle` has to be called whatever comes of it.
    """

    def __init__(self, folder: Path | None, session_id: str, media: MediaFiles, outputs: Outputs) -> None:
        self._folder = folder
        self._media = media
        self._outputs = outputs
        self._kept: list[str] = []
        self._note = None if folder is None else folder / NOTES / f"{session_id}.txt"
        self._lock = None if self._note is None else SystemLock(_lock_of(self._note))

    def keep_picture(self, data: bytes, media: Media) -> None:
        """Keeps the bytes of an image. Raises `StoreFailed`."""
        if self._media.read(media) is None:
            self._note_down(shown_path(media))
        self._media.keep(data, media)

    def keep_output(self, tool_use_id: str, text: str) -> str:
        """Keeps a long result; gives where the model finds it. Raises `StoreFailed`."""
        self._note_down(f"{RESULTS}/{safe_name(tool_use_id)}.txt")
        return self._outputs.keep(tool_use_id, text)

    def settle(self, in_use: Callable[[], Collection[Media]], *, taken: bool) -> None:
        """Ends the notes: the session is there (`taken`). If nothing came of it, what was kept for it is deleted, but for images that are
        `in_use`."""
        if not taken and self._folder is not None and self._kept:
            _take_back(self._folder, self._kept, in_use())
        if self._note is not None and self._lock is not None:
            self._note.unlink(missing_ok=True)
            self._lock.release()
            _lock_of(self._note).unlink(missing_ok=True)

    def _note_down(self, name: str) -> None:
        self._kept.append(name)
        if self._note is None:
            return
        try:
            with self._note.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        except OSError as error:
            raise StoreFailed(
                f"Cannot write {self._note}: {error.strerror or error}. Make room on the disk or make the folder writable, then try again."
            ) from error


def sweep(folder: Path | None, is_there: Callable[[str], bool], in_use: Callable[[], Collection[Media]]) -> None:
    """Deletes what a process that was killed had kept for sessions that never came to be. For another thread."""
    for note in () if folder is None else sorted((folder / NOTES).glob("*.txt")):
        try:
            lock = SystemLock(_lock_of(note))
        except (HeldElsewhere, StoreFailed):
            continue  # it is being taken in just now, maybe in another window
        try:
            if folder is not None and not is_there(note.stem):
                _take_back(folder, note.read_text(encoding="utf-8", errors="replace").splitlines(), in_use())
            note.unlink(missing_ok=True)
        except (OSError, StoreFailed) as error:
            logger.warning("what was kept for a session that did not come over stays: %s", error)
        finally:
            lock.release()
        _lock_of(note).unlink(missing_ok=True)


def _lock_of(note: Path) -> Path:
    return note.with_suffix(".lock")


def _take_back(folder: Path, names: Iterable[str], in_use: Collection[Media]) -> None:
    shown = {shown_path(media) for media in in_use}
    for name in names:
        place, _, file = name.partition("/")
        if place in (RESULTS, MEDIA) and file and Path(file).name == file and name not in shown:
            with suppress(OSError):
                (folder / place / file).unlink(missing_ok=True)

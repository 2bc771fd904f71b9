"""What the processes on one store know of each other: which of them writes a session, and that the list of sessions has changed.

A session is claimed by a lock of the system, so that no other process writes it meanwhile.

Word that a session was made, renamed or deleted is a file that is made in a folder of its own and removed at once; the system tells whoever
watches the folder. It says nothing: who hears of it looks into the log. Where a folder cannot be watched (a network drive, too many
watches) nobody hears anything, and everything is right at the next look.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, watch

from ullage.store import folder as ullage_folder
from ullage.store.errors import SessionInUse, StoreFailed, UnknownSession
from ullage.store.shared_files import HeldElsewhere, SystemLock, is_held

logger = logging.getLogger(__name__)


_STEP_MILLISECONDS = 100
"""The time after which the watch looks again for what the system has told it."""


_TICK_MILLISECONDS = 500
"""The time after which a quiet watch reports back: the first report shows that it has begun."""


class Claims:
    """The locks of sessions that this process holds; none where there is no folder, since nobody else can write then. For any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._guard = threading.RLock()
        self._locks: dict[str, SystemLock] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._locks

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._locks))

    def take(self, session_id: str) -> bool:
        """Takes the lock of a session; gives whether it was taken just now: False where it is held already, and without a folder. Raises
        `SessionInUse`."""
        with self._guard:
            if self._folder is None or session_id in self._locks:
                return False
            try:
                self._locks[session_id] = SystemLock(ullage_folder.session_lock(self._folder, session_id))
            except HeldElsewhere as error:
                raise SessionInUse(session_id) from error
            return True

    def elsewhere(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another process holds now. Some 50 µs for each."""
        folder = self._folder
        return frozenset() if folder is None else frozenset(each for each in session_ids if self._is_elsewhere(folder, each))

    def _is_elsewhere(self, folder: Path, session_id: str) -> bool:
        try:
            lock = ullage_folder.session_lock(folder, session_id)
        except UnknownSession:
            return False
        # Asked again after `is_held`: this process may have taken the lock meanwhile.
        return session_id not in self and is_held(lock) and session_id not in self

    def give_back(self, session_id: str) -> None:
        """Lets another process write the session."""
        with self._guard:
            lock = self._locks.pop(session_id, None)
            if lock is not None:
                lock.release()

    def take_anew(self) -> None:
        """Takes the locks again, whose files may be gone with their folder. A session that somebody else has by now is no longer held."""
        for session_id in self:
            with self._guard, suppress(StoreFailed):
                if session_id in self:
                    self.give_back(session_id)
                    self.take(session_id)


class ListNews:
    """Tells other processes that the list of sessions changed, and hears it from them. Without a folder there are no others."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._name = secrets.token_hex(8)
        self._stop = threading.Event()

    def tell(self) -> None:
        """Tells all other processes. Raises nothing."""
        if self._folder is None:
            return
        word = self._folder / self._name
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            word.touch()
            word.unlink()
        except OSError as error:
            logger.info("other windows do not hear that the list of sessions changed: %s", error)

    def listen(self, heard: Callable[[], object], ready: Callable[[], object] = lambda: None) -> None:
        """Calls `heard`, in another thread, whenever another process tells, until `close`. `ready` is called there when the watch has
        begun."""
        if self._folder is not None:
            threading.Thread(target=self._listen, args=(self._folder, heard, ready), name="ullage-list-news", daemon=True).start()

    def close(self) -> None:
        """Stops listening."""
        self._stop.set()

    def _listen(self, folder: Path, heard: Callable[[], object], ready: Callable[[], object]) -> None:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            has_begun = False
            for news in watch(
                folder,
                watch_filter=self._is_of_another,
                stop_event=self._stop,
                step=_STEP_MILLISECONDS,
                rust_timeout=_TICK_MILLISECONDS,
                yield_on_timeout=True,
                recursive=False,
                raise_interrupt=False,
            ):
                if not has_begun:
                    has_begun = True
                    ready()
                if news:
                    heard()
        except (OSError, RuntimeError) as error:  # what watchfiles raises for all that its system library meets
            logger.info("what other windows do to the list of sessions is seen at the next look: %s", error)

    def _is_of_another(self, change: Change, name: str) -> bool:
        return change is Change.added and Path(name).name != self._name

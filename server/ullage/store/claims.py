"""Which sessions this process writes: a lock of the system for each, so that no other process writes it meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ullage.store import folder as ullage_folder
from ullage.store.errors import SessionInUse, StoreFailed, UnknownSession
from ullage.store.system_lock import HeldElsewhere, SystemLock, is_held


class Claims:
    """The locks that this process holds; none where there is no folder, since nobody else can write then."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._locks: dict[str, SystemLock] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._locks

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._locks))

    def take(self, session_id: str) -> bool:
        """Whether it was taken just now: not where it is held already, nor without a folder. Raises `SessionInUse`."""
        if self._folder is None or session_id in self._locks:
            return False
        try:
            self._locks[session_id] = SystemLock(ullage_folder.session_lock(self._folder, session_id))
        except HeldElsewhere as error:
            raise SessionInUse(session_id) from error
        return True

    def elsewhere(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those that another process holds now. Some 50 µs for each."""
        folder = self._folder
        return frozenset() if folder is None else frozenset(each for each in session_ids if self._is_elsewhere(folder, each))

    def _is_elsewhere(self, folder: Path, session_id: str) -> bool:
        try:
            lock = ullage_folder.session_lock(folder, session_id)
        except UnknownSession:
            return False
        # Looked at again after it: this process may have taken it meanwhile.
        return session_id not in self and is_held(lock) and session_id not in self

    def give_back(self, session_id: str) -> None:
        """Lets another process write the session."""
        lock = self._locks.pop(session_id, None)
        if lock is not None:
            lock.release()

    def take_anew(self) -> None:
        """The files of the locks may be gone with their folder. A session that somebody else has by now is no longer held."""
        for session_id in self:
            self.give_back(session_id)
            with suppress(StoreFailed):
                self.take(session_id)

"""Which sessions this process writes: a lock of the system for each, so that no other process writes it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ullage.store import folder as ullage_folder
from ullage.store.errors import SessionInUse, StoreFailed
from ullage.store.system_lock import HeldElsewhere, SystemLock


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

"""What else keeps the sessions of a log: nothing, or a store that a team shares (`team/following.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EntryHit:
    """An entry in which the searched words stand, here or in the other store. `at` is Unix seconds."""

    session_id: str
    seq: int
    at: float
    what: str
    """The kind of entry, in words: `user`, `assistant`, `result of bash` ..."""
    excerpt: str
    """The words with a little text around them, in one line."""
    tool_use_id: str | None
    """The id of the tool use, for tool results; None for other entries."""


class Elsewhere(Protocol):
    """What else keeps the sessions of a log. Calls that may take a while say so; an event loop leaves them to another thread. They raise
    `StoreFailed`."""

    def open(self, session_id: str) -> None:
        """Gets ready for this process to write the session: makes it the one that does, and takes what was written elsewhere. Takes a
        while."""
        ...

    def bring(self, session_id: str) -> None:
        """Gets ready for the session to be read: takes what was written elsewhere. Takes a while."""
        ...

    def delete(self, session_id: str) -> None:
        """Deletes the session in the other store for good. Takes a while."""
        ...

    def search(self, words: str, limit: int) -> Sequence[EntryHit]:
        """The entries in the other store in which the words stand, the best first. Takes a while."""
        ...

    def written(self, session_id: str) -> None:
        """Tells the other store that something of the session was written here."""
        ...

    def settled(self, session_id: str) -> Future[None] | None:
        """A future that is done when all that was written of the session by now is in the other store; None if it is already. Fails where
        that can never be."""
        ...

    def released(self, session_id: str) -> None:
        """Tells the other store that this process no longer writes the session."""
        ...

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another machine writes, as far as it is known."""
        ...

    def close(self) -> None:
        """Sends what is left, as far as that can be done in some seconds, and lets go of all. Takes a while."""
        ...


class Nowhere:
    """Stands for another store where nothing else keeps the sessions."""

    def open(self, session_id: str) -> None:
        """Does nothing: there is nothing to take."""

    def bring(self, session_id: str) -> None:
        """Does nothing: there is nothing to take."""

    def delete(self, session_id: str) -> None:
        """Does nothing: nothing is there."""

    def search(self, words: str, limit: int) -> Sequence[EntryHit]:
        """Finds nothing."""
        return ()

    def written(self, session_id: str) -> None:
        """Does nothing: nobody has to know."""

    def settled(self, session_id: str) -> Future[None] | None:
        """Always None: nothing has to get anywhere."""
        return None

    def released(self, session_id: str) -> None:
        """Does nothing: nobody has to know."""

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Always empty: there is no other machine."""
        return frozenset()

    def close(self) -> None:
        """Does nothing: nothing is left."""

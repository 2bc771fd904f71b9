"""What else keeps the sessions of a log: nothing, or a store that a team shares (`team/following.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EntryHit:
    """One entry in which the searched words stand, here or there. `at` is Unix seconds."""

    session_id: str
    seq: int
    at: float
    what: str
    """What it is, in words: `user`, `assistant`, `result of bash` ..."""
    excerpt: str
    """The words with a little text around them, in one line."""
    tool_use_id: str | None
    """Set for tool results."""


class Elsewhere(Protocol):
    """Calls that may take a while say so; an event loop leaves them to another thread. They raise `StoreFailed`."""

    def open(self, session_id: str) -> None:
        """This process is about to write the session: makes it the one that does, and takes what was written elsewhere. Takes a while."""
        ...

    def bring(self, session_id: str) -> None:
        """The session is about to be read: takes what was written elsewhere. Takes a while."""
        ...

    def delete(self, session_id: str) -> None:
        """Deletes it there for good. Takes a while."""
        ...

    def search(self, words: str, limit: int) -> Sequence[EntryHit]:
        """Where the words stand, best first. Takes a while."""
        ...

    def written(self, session_id: str) -> None:
        """Something of it was written here."""
        ...

    def settled(self, session_id: str) -> Future[None] | None:
        """Done when all that was written of it by now is there; None if it is already. Fails where that can never be."""
        ...

    def released(self, session_id: str) -> None:
        """This process writes it no longer."""
        ...

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those that another machine writes, as far as it is known."""
        ...

    def close(self) -> None:
        """Sends what is left, as far as that can be done in some seconds, and lets go of all. Takes a while."""
        ...


class Nowhere:
    """Nothing else keeps them."""

    def open(self, session_id: str) -> None:
        """Nothing has to be taken."""

    def bring(self, session_id: str) -> None:
        """Nothing has to be taken."""

    def delete(self, session_id: str) -> None:
        """Nothing is there."""

    def search(self, words: str, limit: int) -> Sequence[EntryHit]:
        """Nothing is there."""
        return ()

    def written(self, session_id: str) -> None:
        """Nobody has to know."""

    def settled(self, session_id: str) -> Future[None] | None:
        """It always is."""
        return None

    def released(self, session_id: str) -> None:
        """Nobody has to know."""

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """None."""
        return frozenset()

    def close(self) -> None:
        """Nothing is left."""

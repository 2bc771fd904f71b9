"""What a team's store has to do: the seam between the log of this machine and the database that a team shares.

`postgres.py` is the one there is. All calls may take seconds, so no event loop makes them. They raise what `faults.py` has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ullage.store.elsewhere import EntryHit
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, SessionRow, ValueRow
from ullage.store.session_rows import Heads

Kind: TypeAlias = Literal["media", "result", "version"]
"""The kinds of what is kept beside the log: an image or a document, a whole output, a version of a file."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Something that is kept beside the log and that an entry speaks of."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class IndexedWords:
    """Words by which an entry can be found."""

    seq: int
    what: str
    tool_use_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries that are added at once, in order, and what they speak of."""

    rows: Sequence[EntryRow]
    spoken: Sequence[Spoken] = ()


@dataclass(frozen=True, slots=True)
class TeamSession:
    """A session of the workspace. `held_by` is who writes it now, empty if nobody does."""

    id: str
    title: bytes
    created_at: float
    updated_at: float
    last_seq: int
    held_by: str = ""
    values: Sequence[ValueRow] = ()
    """The remembered values that the list of sessions shows of it."""

    @property
    def session(self) -> SessionRow:
        """The session as a row, with its sums; they are made only for what is new in the list."""
        return make_session(self.id.encode(), self.title, self.created_at, self.updated_at)


@dataclass(frozen=True, slots=True)
class Gone:
    """A session that was deleted. `number` grows from one deletion to the next."""

    number: int
    session_id: str


class TeamStore(Protocol):
    """The sessions of one workspace in a store that several machines share."""

    def sessions(self) -> list[TeamSession]:
        """All sessions of the workspace, last updated first."""
        ...

    def make(self, session: SessionRow) -> int:
        """Makes the session where there is none; gives the seq to which it has come. Raises `Deleted` where there was one."""
        ...

    def take(self, session_id: str) -> bool:
        """Takes the lease of a session, or renews it; gives whether it is this process's now."""
        ...

    def give_back(self, session_id: str) -> None:
        """Lets another process write the session."""
        ...

    def append(self, session_id: str, after: int, batch: Batch, heads: Heads | None = None) -> None:
        """Adds entries behind seq `after`, all or none; durable when it returns. Raises `SessionTaken` if that is not the last one. What
        goes along with the session is `heads` then, where they are given."""
        ...

    def said_through(self, session_id: str) -> int:
        """The seq up to which the session's entries can be found by their words; 0 if none can."""
        ...

    def say(self, session_id: str, after: int, through: int, said: Sequence[IndexedWords]) -> bool:
        """Lets the entries behind seq `after`, up to `through`, be found by these words. Gives False if another one said them meanwhile."""
        ...

    def put_heads(self, heads: Heads) -> None:
        """Puts what goes along with a session in the place of what did before."""
        ...

    def heads(self, session_id: str) -> Heads | None:
        """What goes along with the session; None if there is no such session."""
        ...

    def since(self, session_id: str, seq: int, most: int) -> list[EntryRow]:
        """The session's entries behind that seq, at most that many."""
        ...

    def digest(self, session_id: str, through: int) -> tuple[int, str]:
        """How many entries of the session there are up to that seq, and a hash over their bytes."""
        ...

    def missing(self, spoken: Sequence[Spoken]) -> list[Spoken]:
        """Those of the images, outputs and versions that are not kept in the store."""
        ...

    def attach(self, spoken: Spoken, data: bytes) -> None:
        """Keeps the bytes of an image, an output or a version."""
        ...

    def spoken_of(self, session_id: str) -> list[Spoken]:
        """All images, outputs and versions that the entries of a session speak of."""
        ...

    def attached(self, spoken: Spoken) -> bytes | None:
        """The bytes of an image, an output or a version; None if they are not in the store."""
        ...

    def search(self, words: str, limit: int) -> list[EntryHit]:
        """The entries that hold all the words, best first."""
        ...

    def delete(self, session_id: str) -> bool:
        """Deletes a session for good; this process holds its lease. Gives whether there was one."""
        ...

    def gone(self, after: int) -> list[Gone]:
        """The sessions that were deleted after the one with that number, in order."""
        ...

    def sums_of_gone(self, session_id: str) -> frozenset[bytes]:
        """The sums of the entries that a session had when it was deleted."""
        ...

    def in_turn(self) -> TeamStore:
        """This store for what runs in the background: of all its calls one is made at a time."""
        ...

    def close(self) -> None:
        """Closes the connection, and so lets go of all leases that are tied to it."""
        ...

"""Sessions that were deleted in the team's store: their entries are deleted here, too, unless some of them were never there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from ullage.store.errors import StoreFailed
from ullage.store.team.passing import Here, can_go
from ullage.store.team.store import TeamStore

logger = logging.getLogger(__name__)

NobodyComes: TypeAlias = Callable[[], AbstractContextManager[AbstractSet[str]]]
"""A context manager in which no session is opened, brought or deleted; it gives the ids of those that are followed, whose entries are sent
meanwhile. Nobody asks the database in it: a user waits. Raises `StoreFailed` when the log is closing."""

KEPT = (
    "The session “{}” was deleted by a colleague, or by you on another machine, and had gone on here. What is here is kept as a session "
    "of its own, with “(as it went on here)” behind its title."
)


@dataclass(frozen=True, slots=True)
class KeptBeside:
    """A session of its own that was made of one that was deleted."""

    session_id: str
    told: str
    """A sentence that tells the user of it."""


class Burying:
    """Deletes sessions of one log that were deleted in the team's store. One call at a time, but for `is_gone` and `leave`. Raises what the
    store does."""

    def __init__(
        self, here: Here, team: TeamStore, claim: Callable[[str], None], release: Callable[[str], None], erase: Callable[[str], None]
    ) -> None:
        """`claim` and `release` are those of the log; `erase` deletes a session here, with all that goes with it."""
        self._here = here
        self._team = team
        self._claim = claim
        self._release = release
        self._erase = erase
        self._looked_at = 0
        self._left: set[str] = set()
        self._gone: set[str] = set()

    def leave(self, session_id: str) -> None:
        """Notes that this process deletes the session just now, here and there."""
        self._left.add(session_id)

    def is_gone(self, session_id: str) -> bool:
        """Whether the session is deleted here just now because it was deleted in the team's store."""
        return session_id in self._gone

    def bury_all(self, nobody_comes: NobodyComes, buried: Callable[[KeptBeside | None], None]) -> None:
        """Deletes here what was deleted there since the last time, but for sessions that are followed: these hear of it with their next
        entry. `buried` is told for each what was kept. What the database says is asked before, so that nothing else waits for it."""
        for gone in self._team.gone(self._looked_at):
            if gone.session_id not in self._left and self._is_here(gone.session_id):
                known = self._team.sums_of_gone(gone.session_id)
                with nobody_comes() as followed:
                    if gone.session_id not in followed:
                        try:
                            buried(self.bury(gone.session_id, known))
                        except StoreFailed as error:  # another window has it open: the next start looks again
                            logger.info("session %s was deleted there, and not here: %s", gone.session_id, error)
            self._looked_at = gone.number

    def bury(self, session_id: str, known: AbstractSet[bytes]) -> KeptBeside | None:
        """Deletes the session here. Where something in it was never there, it gets another id instead, and what was kept so is given; else
        None. `known` are the sums of what was there. Raises `SessionInUse`, `UnknownSession`."""
        rows = self._here.rows
        heads = rows.heads(session_id)
        after, is_known = 0, True
        while is_known and (page := rows.after(session_id, after, 1_000)):
            is_known = all(row.sum in known for row in page if row.is_whole)
            after = page[-1].seq
        if is_known or heads is None:
            self._gone.add(session_id)
            try:
                self._erase(session_id)
            finally:
                self._gone.discard(session_id)
            return None
        self._claim(session_id)
        try:
            return KeptBeside(rows.put_aside(session_id), KEPT.format(heads.session.title.decode("utf-8", "replace")))
        finally:
            self._release(session_id)

    def _is_here(self, session_id: str) -> bool:
        return can_go(session_id) and self._here.rows.heads(session_id) is not None

"""One session that is written here: how far it has come in the team's store, and who waits for that."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from ullage.store.errors import StoreFailed
from ullage.store.session_rows import Heads
from ullage.store.team.passing import Sent


@dataclass(slots=True)
class FollowedLog:
    """How far a session that is written here has come in the team's store. `reached` is the last seq that is there; all up to `through` is
    there."""

    reached: int = 0
    through: int = 0
    is_ours: bool = False
    """Whether its lease was taken over the present connection, and what is in the store was compared."""
    is_open: bool = False
    is_unsent: bool = False
    heads: Heads | None = None
    """What goes along with it, as it was sent last; None if nothing was."""
    failed: StoreFailed | None = None
    waiting: list[tuple[int, Future[None]]] = field(default_factory=list[tuple[int, "Future[None]"]])

    def reaches(self, sent: Sent) -> list[Future[None]]:
        """Notes how far the session has come; gives the futures of those who have waited for that."""
        self.reached, self.through = sent.there, sent.through
        done = [future for last, future in self.waiting if last <= sent.through]
        self.waiting = [(last, future) for last, future in self.waiting if last > sent.through]
        return done

    def fails(self, error: StoreFailed) -> list[Future[None]]:
        """Notes that the session will never go on there; gives the futures of all who wait."""
        self.failed = error
        waiting, self.waiting = self.waiting, []
        return [future for _, future in waiting]


def finish(waiting: Iterable[Future[None]], error: StoreFailed | None = None) -> None:
    """Tells those who wait; not while a lock is held, since what they do then runs at once."""
    for future in waiting:
        if not future.set_running_or_notify_cancel():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

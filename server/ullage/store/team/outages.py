"""Whether the team's database answers, as each of those that ask it has found last: the thread that sends, and the one that looks at the
list. The user hears once that it does not, and once that it does again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from ullage.store.team.faults import LinkLost, TeamStoreFailed

Asking: TypeAlias = Literal["sending", "looking"]

FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0
"""Seconds between two tries while the database is away: twice as long each time."""


class Outages:
    """Knows whether the team's database answers. For any thread. `tell` is told what is wrong, and `is_over` is called when nothing is any
    more."""

    def __init__(self, tell: Callable[[str], None], is_over: Callable[[], None]) -> None:
        self._tell = tell
        self._is_over = is_over
        self._guard = threading.RLock()
        self._faults: dict[Asking, TeamStoreFailed] = {}

    @property
    def is_away(self) -> bool:
        """Whether the database did not answer somebody the last time."""
        return bool(self._faults)

    def failed(self, asking: Asking, error: TeamStoreFailed) -> None:
        """Notes that the database did not do what was asked, and tells the user if that is new."""
        with self._guard:
            known = {type(each) for each in self._faults.values()}
            is_new = not known or (type(error) not in known and not isinstance(error, LinkLost))
            self._faults[asking] = error
            if is_new:
                with suppress(Exception):
                    self._tell(str(error))

    def answered(self, asking: Asking) -> None:
        """Notes that the database answered, and tells the user if nothing else is wrong any more."""
        with self._guard:
            if self._faults.pop(asking, None) is not None and not self._faults:
                with suppress(Exception):
                    self._is_over()

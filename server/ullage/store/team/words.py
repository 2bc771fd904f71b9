"""Words for the search of the team's store: sent after their entries, by a thread of its own, so that no request waits for an index."""

from __future__ import annotations

import logging
import threading
import time

from ullage.store.errors import StoreFailed
from ullage.store.team.passing import Here, say
from ullage.store.team.store import TeamStore

logger = logging.getLogger(__name__)

QUIET_SECONDS, LATEST_SECONDS = 0.5, 10.0
"""Seconds. An index takes longer than an entry. So it is left until nothing was sent for the first time, but no longer than the second."""

AGAIN_SECONDS = 5.0
"""Seconds until the next try, where the database is away."""

CLOSE_SECONDS = 2.0
"""How long `close` waits. What is left is sent by whoever opens the session next."""


class WordsThread:
    """The thread that sends the words of one log's entries to the search of the team's store."""

    def __init__(self, here: Here, team: TeamStore) -> None:
        self._here = here
        self._team = team
        self._guard = threading.Lock()
        self._unsaid: dict[str, int] = {}
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ullage-team-words", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def sent(self, session_id: str, through: int) -> None:
        """Notes that the entries of that session are in the team's store, up to that seq."""
        with self._guard:
            self._unsaid[session_id] = max(through, self._unsaid.get(session_id, 0))
        self._wake.set()

    def close(self) -> None:
        """Ends the thread when what is left was said, or some seconds are over."""
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._until_quiet()
            is_last = self._closed.is_set()
            with self._guard:
                unsaid, self._unsaid = self._unsaid, {}
            for session_id, through in unsaid.items():
                try:
                    say(self._here, self._team, session_id, through)
                except StoreFailed as error:
                    logger.info("session %s cannot be found by its words yet: %s", session_id, error)
                    self.sent(session_id, through)
                    if self._closed.wait(0.0 if is_last else AGAIN_SECONDS):
                        return
            if is_last:
                return

    def _until_quiet(self) -> None:
        latest = time.monotonic() + LATEST_SECONDS
        while not self._closed.is_set() and time.monotonic() < latest:
            self._wake.clear()
            if not self._wake.wait(QUIET_SECONDS):
                return
        self._wake.clear()

"""The list of sessions in the team's store: looked at by a thread of its own, so that no entry waits for it, and put into the list of this
machine. What was deleted there is deleted here."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from ullage.store.errors import StoreFailed
from ullage.store.session_rows import Heads
from ullage.store.team.burying import Burying, KeptBeside, NobodyComes
from ullage.store.team.faults import TeamStoreFailed
from ullage.store.team.outages import FIRST_WAIT, LONGEST_WAIT, Outages
from ullage.store.team.passing import Here, can_go
from ullage.store.team.store import TeamSession, TeamStore

logger = logging.getLogger(__name__)

LIST_SECONDS = 15.0
"""Seconds between two looks at the list."""


class TeamList:
    """Looks at the list of one workspace in the team's store. `held` is for any thread."""

    def __init__(
        self,
        here: Here,
        team: TeamStore,
        burying: Burying,
        nobody_comes: NobodyComes,
        outages: Outages,
        buried: Callable[[KeptBeside | None], None],
        behind: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        """`buried` is told of each session that was deleted there, `behind` once of those of which the store did not have all; `changed` is
        called when the list has changed."""
        self._here = here
        self._team = team
        self._burying = burying
        self._nobody_comes = nobody_comes
        self._outages = outages
        self._buried = buried
        self._behind = behind
        self._changed = changed
        self._listed: dict[str, TeamSession] = {}
        self._is_known = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ullage-team-list", daemon=True)

    def start(self) -> None:
        """Starts the thread that looks at the list at once, and again and again."""
        self._thread.start()

    def end(self) -> None:
        """Tells the thread to end, and does not wait for it."""
        self._closed.set()

    def close(self, seconds: float) -> None:
        """Waits until the thread has ended, for so many seconds at most. A statement may take longer: nothing is done with its answer
        then."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another machine writes."""
        listed = self._listed
        return frozenset(each for each in session_ids if each in listed and listed[each].held_by)

    def look(self) -> None:
        """Looks at the list once, and takes in what is new. Raises what the store and the log do."""
        self._burying.bury_all(self._nobody_comes, self._buried)
        listed = {each.id: each for each in self._team.sessions()}
        is_new = self._take_over(listed)
        if not self._is_known:
            self._is_known = True
            for session_id in self._sent_in_part():
                self._behind(session_id)
        if is_new:
            self._changed()

    def _take_over(self, listed: dict[str, TeamSession]) -> bool:
        """Puts what is new of sessions that are not followed into the list here; gives whether anything is new. A session that was deleted
        there leaves the list where nothing of it is here."""
        rows, before = self._here.rows, self._listed
        with self._nobody_comes() as followed:
            self._listed = {session_id: each for session_id, each in listed.items() if can_go(session_id)}
            news = {session_id: each for session_id, each in self._listed.items() if before.get(session_id) != each}
            strange = [(Heads(each.session, each.values), each.last_seq) for session_id, each in news.items() if session_id not in followed]
            if strange:
                rows.put_listed(strange)
            gone = [each for each in rows.listed_alone() if each not in listed and each not in followed]
            if gone:
                rows.take_off_list(gone)
        return bool(news or gone)

    def _sent_in_part(self) -> list[str]:
        rows, listed = self._here.rows, self._listed
        return [each for each in rows.ids() if rows.last(each) > (listed[each].last_seq if each in listed else 0)]

    def _run(self) -> None:
        wait = FIRST_WAIT
        while True:
            seconds = LIST_SECONDS
            try:
                self.look()
                self._outages.answered("looking")
                wait = FIRST_WAIT
            except TeamStoreFailed as error:
                self._outages.failed("looking", error)
                seconds, wait = wait, min(2 * wait, LONGEST_WAIT)
            except StoreFailed as error:  # the log on this machine: it tells of that itself
                logger.info("the list of the team's sessions is not taken over yet: %s", error)
            except Exception:
                logger.exception("looking at the list of the team's sessions failed")
            if self._closed.wait(seconds):
                return

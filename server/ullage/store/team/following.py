"""The team's store follows the log of this machine: what is written here is sent there at once, by a thread, in order.

The log on this machine is the outbox. So nothing is lost when the database is away, or when the process is killed: what is not there yet is
sent when it is back, or at the next start. Whoever depends on an entry waits until it is there (`settled`).

A session is written by whoever holds its lease. It is taken when a session is opened, renewed three times while it lasts, and taken again
when a lost connection is back. A session that somebody else wrote meanwhile goes on there: what was said here is kept as one of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from contextlib import contextmanager

from ullage.store.elsewhere import EntryHit
from ullage.store.errors import SessionInUse, StoreFailed
from ullage.store.team.burying import Burying, KeptBeside
from ullage.store.team.connecting import LEASE_SECONDS
from ullage.store.team.faults import Away, Deleted, SessionTaken, TeamStoreFailed, TeamStoreRefused
from ullage.store.team.followed import FollowedLog, finish
from ullage.store.team.outages import FIRST_WAIT, LONGEST_WAIT, Outages
from ullage.store.team.passing import Diverged, Here, Sent, can_go, common, fetch, send
from ullage.store.team.store import TeamStore
from ullage.store.team.team_list import TeamList
from ullage.store.team.words import WordsThread

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0
"""How long `close` waits for what is left."""

BACK = "The team's database is back: what was said meanwhile is in it."
KEPT_BESIDE = (
    "The session “{}” went on elsewhere while the team's database was away. What was said here alone is kept as a session of its own, "
    "with “(as it went on here)” behind its title."
)
NOT_HERE = "The entries of this session are in the team's database only, which cannot be used now. {}"


class Following:
    """Implements `Elsewhere` for the log of one workspace. `writes` is used by one call at a time, `reads` beside it."""

    def __init__(
        self,
        here: Here,
        writes: TeamStore,
        reads: TeamStore,
        claim: Callable[[str], None],
        release: Callable[[str], None],
        lease_seconds: float = LEASE_SECONDS,
        erase: Callable[[str], None] = lambda session_id: None,
    ) -> None:
        """`claim` and `release` are those of the log, for sessions that are taken in without being opened. `erase` deletes a session here,
        with all that goes with it."""
        self._here = here
        self._writes = writes
        self._reads = reads
        self._claim = claim
        self._release = release
        self._renew_seconds = lease_seconds / 3
        self.tell: Callable[[str], None] = logger.warning
        """Called, in any thread, with what the user should know."""
        self.is_well: Callable[[str], None] = logger.info
        """Called, in any thread, with the news that what the user was told before is over."""
        self.changed: Callable[[], None] = lambda: None
        """Called when the list of sessions has changed."""
        self._guard = threading.RLock()
        self._one_comes = threading.RLock()
        """Lets one session at a time be opened, brought or deleted. It is taken before the other lock."""
        self._one_passes = threading.RLock()
        """Lets one session at a time be on its way."""
        self._sessions: dict[str, FollowedLog] = {}
        self._outages = Outages(lambda text: self.tell(text), lambda: self.is_well(BACK))
        behind = reads.in_turn()
        self._words = WordsThread(here, behind)
        self._burying = Burying(here, behind, claim, release, erase)
        self.team_list = TeamList(
            here, behind, self._burying, self._nobody_comes, self._outages, self._bury, self.written, lambda: self.changed()
        )
        """Knows the sessions in the team's store."""
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ullage-team", daemon=True)

    def start(self) -> None:
        """Starts the threads that follow the log."""
        self._thread.start()
        self._words.start()
        self.team_list.start()

    def close(self) -> None:
        """Sends what is left, as far as that can be done in some seconds, and lets go of all."""
        until = time.monotonic() + CLOSE_SECONDS
        self.team_list.end()
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)
        self._words.close()
        self.team_list.close(max(0.0, until - time.monotonic()))
        self._reads.close()
        if not self._thread.is_alive():
            self._writes.close()

    # What others ask

    def written(self, session_id: str) -> None:
        """Notes that something of the session was written here, and sends it."""
        if can_go(session_id):
            with self._guard:
                self._sessions.setdefault(session_id, FollowedLog()).is_unsent = True
            self._wake.set()

    def settled(self, session_id: str) -> Future[None] | None:
        """A future that is done when everything written of the session so far is in the team's store; None if it is there already. Fails
        where that can never be."""
        if not can_go(session_id):
            return None
        last = self._here.rows.last(session_id)
        with self._guard:
            session = self._sessions.get(session_id)
            if session is None:
                session = self._sessions[session_id] = FollowedLog(is_unsent=True)
                self._wake.set()
            if session.failed is None and session.through >= last:
                return None
            future: Future[None] = Future()
            if session.failed is not None:
                future.set_exception(session.failed)
            else:
                session.waiting.append((last, future))  # it is on its way: whoever wrote it has said so
            return future

    def released(self, session_id: str) -> None:
        """Notes that this process no longer writes the session: the lease is given back when all of it is in the team's store."""
        with self._guard:
            session = self._sessions.get(session_id)
            if session is not None:
                session.is_open = False
                session.is_unsent = True
        self._wake.set()

    def followed(self) -> frozenset[str]:
        """The ids of the sessions that this process writes, or of which something is not in the team's store yet."""
        with self._guard:
            return frozenset(self._sessions)

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that another machine writes, as far as it is known."""
        return self.team_list.held(session_ids)

    def search(self, words: str, limit: int) -> Sequence[EntryHit]:
        """The entries in the team's store in which the words stand, best first; none while the database is away."""
        if self._outages.is_away:
            return ()
        try:
            return self._reads.search(words, limit)
        except TeamStoreFailed as error:
            logger.info("the team's database is not searched: %s", error)
            return ()

    def open(self, session_id: str) -> None:
        """Takes the lease of a session, and what was written elsewhere. While the database is away the session is opened as it is here, and
        what is said waits. Raises `SessionInUse` if another machine writes it."""
        if not can_go(session_id):
            return
        with self._one_comes, self._one_passes:
            self._claim(session_id)
            with self._guard:
                session = self._sessions[session_id] = FollowedLog(is_open=True, is_unsent=True)
            try:
                self._lease(session_id)
                self._fetch(session_id, session)
                session.is_ours = True
            except SessionTaken as error:
                self._forget(session_id)
                raise SessionInUse(session_id, str(error)) from error
            except Deleted:
                self._forget(session_id)
                self._release(session_id)
                self._bury(self._burying.bury(session_id, self._reads.sums_of_gone(session_id)))
                raise
            except (Away, TeamStoreRefused) as error:
                self._is_away(error)
                self._refuse_what_is_not_here(session_id, error)
        self._wake.set()

    def bring(self, session_id: str) -> None:
        """Takes what was written of the session elsewhere, where nobody writes it here."""
        with self._guard:
            if not can_go(session_id) or session_id in self._sessions:
                return
        with self._one_comes, self._one_passes:
            try:
                self._claim(session_id)
            except SessionInUse:
                return  # another window writes the session, and has all of it
            try:
                self._fetch(session_id, FollowedLog())
            except (Away, TeamStoreRefused) as error:
                self._refuse_what_is_not_here(session_id, error)
            finally:
                self._release(session_id)

    def delete(self, session_id: str) -> None:
        """Deletes the session in the team's store for good. Raises `StoreFailed`, and nothing is deleted then."""
        if not can_go(session_id):
            return
        with self._one_comes:
            if self._burying.is_gone(session_id):
                self._forget(session_id)
                return
            with self._one_passes:
                heads = self._writes.heads(session_id)
                if heads is not None and not self._writes.take(session_id):
                    raise SessionTaken
                if heads is not None:
                    self._burying.leave(session_id)
                    self._writes.delete(session_id)
                self._forget(session_id)

    def _refuse_what_is_not_here(self, session_id: str, error: StoreFailed) -> None:
        if self._here.rows.last_elsewhere(session_id) > self._here.rows.last(session_id):
            self._forget(session_id)
            raise StoreFailed(NOT_HERE.format(error)) from error

    # The thread

    def _run(self) -> None:
        wait, renewed = FIRST_WAIT, time.monotonic()
        until = float("inf")
        while True:
            is_last = self._closed.is_set()
            until = min(until, time.monotonic() + CLOSE_SECONDS) if is_last else until
            self._wake.clear()
            try:
                self.send_all()
                if is_last:
                    self._give_all_back()
                    return
                if time.monotonic() - renewed >= self._renew_seconds:
                    renewed = time.monotonic()
                    self._renew()
                self._outages.answered("sending")
                wait = FIRST_WAIT
                self._wake.wait(max(0.01, renewed + self._renew_seconds - time.monotonic()))
            except TeamStoreFailed as error:
                self._is_away(error)
                if is_last and time.monotonic() + wait > until:
                    return
                self._closed.wait(wait) if not is_last else time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            except StoreFailed as error:  # the log on this machine: it tells of that itself
                logger.info("what was said is not sent yet: %s", error)
                if is_last:
                    return
                self._closed.wait(wait)
            except Exception:
                logger.exception("sending to the team's database failed")
                if is_last:
                    return
                self._closed.wait(LONGEST_WAIT)

    def send_all(self) -> None:
        """Sends what is not in the team's store yet, once. Raises what the store and the log do."""
        with self._guard:
            unsent = [session_id for session_id, session in self._sessions.items() if session.is_unsent and session.failed is None]
        for session_id in unsent:
            with self._one_passes:
                session = self._sessions.get(session_id)
                if session is not None:
                    self._send(session_id, session)

    def _send(self, session_id: str, session: FollowedLog) -> None:
        session.is_unsent = False
        try:
            if not session.is_ours:
                self._take(session_id, session)
            sent = send(
                self._here, self._writes, session_id, session.reached, lambda sent: self._acknowledged(session, sent), session.heads
            )
            session.heads = sent.heads
            self._words.sent(session_id, session.reached)
            if sent.heads is None:
                self._forget(session_id)
                return
            if not session.is_open and not session.is_unsent:
                self._writes.give_back(session_id)
                self._forget(session_id)
        except (SessionTaken, Deleted, Diverged) as error:
            self._fail(session_id, session, SessionTaken() if isinstance(error, Diverged) else error)
        except BaseException:
            session.is_unsent = True
            raise

    def _take(self, session_id: str, session: FollowedLog) -> None:
        """Takes the lease of a session, and finds out to where it is the same here and there. Raises `SessionTaken`, `Diverged`."""
        self._lease(session_id)
        reached = common(self._here, self._writes, session_id)
        self._acknowledged(session, Sent(reached, reached))
        session.is_ours = True

    def _lease(self, session_id: str) -> None:
        heads = self._here.rows.heads(session_id)
        if heads is not None:
            self._writes.make(heads.session)
        if not self._writes.take(session_id) and (heads is not None or self._writes.heads(session_id) is not None):
            raise SessionTaken

    def _fetch(self, session_id: str, session: FollowedLog) -> None:
        try:
            reached = fetch(self._here, self._writes, session_id)
        except Diverged:
            reached = self._fetch_beside(session_id)
        session.reached = session.through = reached

    def _fetch_beside(self, session_id: str) -> int:
        heads = self._here.rows.heads(session_id)
        title = "" if heads is None else heads.session.title.decode("utf-8", "replace")
        kept = self._here.rows.put_aside(session_id)
        reached = fetch(self._here, self._writes, session_id)
        self.tell(KEPT_BESIDE.format(title))
        self.written(kept)
        self.changed()
        return reached

    def _acknowledged(self, session: FollowedLog, sent: Sent) -> None:
        with self._guard:
            done = session.reaches(sent)
        finish(done)

    def _fail(self, session_id: str, session: FollowedLog, error: StoreFailed) -> None:
        with self._guard:
            failing = session.fails(error)
            if not session.is_open:
                self._sessions.pop(session_id, None)
        finish(failing, error)

    def _forget(self, session_id: str) -> None:
        with self._guard:
            session = self._sessions.pop(session_id, None)
        if session is not None:
            self._acknowledged(session, Sent(session.reached, 1 << 62))

    def _renew(self) -> None:
        with self._guard:
            ours = [(session_id, session) for session_id, session in self._sessions.items() if session.is_ours and session.is_open]
        for session_id, session in ours:
            if session.failed is None and not self._writes.take(session_id):
                self._fail(session_id, session, SessionTaken())

    def _give_all_back(self) -> None:
        with self._guard:
            ours = [session_id for session_id, session in self._sessions.items() if session.is_ours and session.failed is None]
        for session_id in ours:
            self._writes.give_back(session_id)

    @contextmanager
    def _nobody_comes(self) -> Generator[AbstractSet[str]]:
        action = "list the sessions"
        with self._one_comes:
            if self._closed.is_set():
                raise StoreFailed(f"Cannot {action}: the window is closing")
            yield self.followed()

    def _bury(self, kept: KeptBeside | None) -> None:
        """Tells the user what is kept of a session that was deleted there, and so here (what went on here alone), and that the list has
        changed."""
        if kept is not None:
            self.tell(kept.told)
            self.written(kept.session_id)
        self.changed()

    def _is_away(self, error: TeamStoreFailed) -> None:
        with self._guard:
            for session in self._sessions.values():
                session.is_ours = False  # over a new connection it is taken anew
                session.is_unsent = True
        self._outages.failed("sending", error)

"""One session's log with all that is computed from it: what the model sees, what the user sees, how full it is.

The only place that appends: an entry is durable in the store first, and then shows in the projection, the account and the
timeline. No decisions are made here. What may take long is done ahead in another thread (`foresee`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from ullage.context.compaction.forgotten import Forgotten
from ullage.context.compaction_entries import Compaction, FetchedAgain
from ullage.context.counting.accounting import Account, Counted, Stated
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Entry, Logged
from ullage.context.view.log_places import Entries
from ullage.context.view.paged_log import Log
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request
from ullage.session.long_work import uncollected
from ullage.session.timeline.items import NoticeItem
from ullage.session.timeline.shown_entries import Locate, nowhere
from ullage.session.timeline.timeline import Describe, Timeline
from ullage.session.timeline.updates import Update
from ullage.store.errors import StoreFailed

logger = logging.getLogger(__name__)

TOLD_SECONDS = 2.0
"""Seconds after which the user is shown that the turn waits for the team's store."""

WAITS = "nwaits"
"""The id of the notice that the turn waits for the store."""

WAITS_FOR_STORE = (
    "The turn waits until what was said is in the team's database. Nothing is lost: it goes on when the database is back. You can stop it."
)


@contextmanager
def in_any_case(what: str) -> Generator[None]:
    """Stands around what follows from an entry that is logged. An error in it, which is one of Ullage, goes to the server's log, with these
    words, and no further."""
    try:
        yield
    except Exception:
        logger.exception(what)


class Store(Protocol):
    """The durable side: entries of one session. Raises `StoreFailed` and has then written nothing."""

    def append(self, session_id: str, entry: Entry, at: float) -> Logged:
        """Adds an entry to the log of a session, at that time (Unix seconds). It is durable when this returns."""
        ...

    def append_many(self, session_id: str, entries: Sequence[Entry], at: float) -> list[Logged]:
        """Adds entries to the log of a session: all of them at once, or none."""
        ...

    def settled(self, session_id: str) -> Future[None] | None:
        """A future that is done when all of the session is where it has to be before anything depends on it; None if it is already."""
        ...

    def between(self, session_id: str, first: int, last: int) -> Sequence[Logged]:
        """The entries from one seq to another, both included, as far as they can be read. Called in any thread."""
        ...


class Conversation:
    """The log of one session and its three views."""

    def __init__(
        self,
        session_id: str,
        store: Store,
        entries: Sequence[Logged],
        describe: Describe,
        tell: Callable[[Update], None],
        clock: Callable[[], float],
        appended: Callable[[Logged], None],
        locate: Locate = nowhere,
    ) -> None:
        self.session_id = session_id
        self.clock = clock
        self._log = store
        self._on_append = appended
        self._owed: list[Entry] = []
        self.projection = Projection(entries, Log(read=partial(store.between, session_id)))
        self._account = Account()
        self._forgotten = Forgotten()
        self.timeline = Timeline(describe, tell, entries, _later, locate, lambda: self.entries)

    def append(self, entry: Entry) -> Logged:
        """Makes an entry durable, then shows it everywhere. Raises `StoreFailed`, and nothing has changed then."""
        logged = self.show(self._log.append(self.session_id, entry, self.clock()))
        self._append_owed()
        return logged

    def append_all(self, entries: Sequence[Entry]) -> None:
        """Makes several entries durable with one write, all of them or none, then shows them everywhere. Raises `StoreFailed`, and nothing
        has changed then."""
        for logged in self._log.append_many(self.session_id, entries, self.clock()):
            self.show(logged)
        self._append_owed()

    def _append_owed(self) -> None:
        owed, self._owed = self._owed, []
        for each in owed:
            self.append_or_owe(each)

    async def settle(self) -> None:
        """Waits until all that was logged is where it has to be before anything depends on it: a team's store may take a moment. Where it
        takes longer, the timeline says so. Raises `StoreFailed` if that can never be."""
        settled = self._log.settled(self.session_id)
        if settled is None:
            return
        waiting = asyncio.wrap_future(settled)
        done, _ = await asyncio.wait((waiting,), timeout=TOLD_SECONDS)
        try:
            if not done:
                self.timeline.put(NoticeItem(WAITS, self.clock(), "warning", WAITS_FOR_STORE))
            await waiting
        finally:
            waiting.cancel()
            if not done:
                self.timeline.remove(WAITS)

    def append_or_owe(self, entry: Entry) -> None:
        """Makes an entry durable that nothing depends on, then shows it. If it cannot be written now, that is done with the next one that
        can."""
        try:
            self.append(entry)
        except StoreFailed as error:
            logger.warning("an entry could not be logged yet: %s", error)
            self._owed.append(entry)

    async def foresee(self, entry: Entry, calibration: Calibration, foreseen: Projection | None = None) -> Projection:
        """Finds out in another thread what the entry would make of the view, and keeps and gives that; changes nothing.

        The view is that of now, or one that was `foreseen` itself.

        To fold a long log anew and to count it takes a while; done ahead, to log such an entry does not.
        """
        view, account = (foreseen or self.projection).copy(), self._account.copy()
        logged = self._next(entry) if foreseen is None else Logged(view.entries[-1].seq + 1, 0.0, entry)

        def fold_and_count() -> None:
            view.append(logged)
            account.count(view, calibration)
            self._forgotten.foresee(view.entries, view.active_by_seq)

        # A compaction leaves less than there is, and some policies make one before every call: what refers to itself then has to be freed.
        with uncollected(0 if isinstance(entry, Compaction) else len(view.entries)):
            await asyncio.to_thread(fold_and_count)
        await asyncio.sleep(0)  # others go first: keeping the fold of a long log takes long enough by itself
        self.projection.learn(view)
        self._account.learn(account)
        return view

    def counted_with(self, entry: Entry, calibration: Calibration) -> Counted:
        """How many tokens the next request would hold with one more entry; nothing changes."""
        return self.counted_of(self.projection.with_appended(self._next(entry)), calibration)

    def counted_of(self, foreseen: Projection, calibration: Calibration) -> Counted:
        """How many tokens the next request would hold if this were the view; nothing changes."""
        return self._account.copy().count(foreseen, calibration)

    def _next(self, entry: Entry) -> Logged:
        return Logged(self.entries[-1].seq + 1 if self.entries else 1, 0.0, entry)

    def show(self, logged: Logged) -> Logged:
        """Takes in an entry that is durable already, and so in force: that it cannot be shown is no reason to tell of a failure."""
        self.projection.append(logged)
        with in_any_case(f"entry {logged.seq} is not in the timeline"):
            self.timeline.log(logged)
        with in_any_case(f"entry {logged.seq} is not known everywhere"):
            self._on_append(logged)
        return logged

    def request(self) -> Request:
        """The next request. Raises `ValueError` if there is nothing to ask."""
        return build_request(self.projection)

    def counted(self, calibration: Calibration) -> Counted:
        """How many tokens the next request holds."""
        return self._account.count(self.projection, calibration)

    def foresee_forgotten(self, view: Projection, entry: Compaction) -> None:
        """Looks at all that the compaction, logged next, takes out of that view: what follows then finds it done. For another thread."""
        self._forgotten.foresee(view.entries, {**view.active_by_seq, self._next(entry).seq: entry})

    def fetched_again(self) -> FetchedAgain | None:
        """What the agent got again since the newest compaction in force; None if there is none. Tokens are estimated."""
        return self._forgotten.look(self.entries, self.projection.active_by_seq)

    def state(self, stated: Stated) -> None:
        """Takes the size that the endpoint says a request has: `counted` goes by that until a reply tells more."""
        self._account.state(stated)

    def stated(self, calibration: Calibration) -> Stated | None:
        """The size that the endpoint said, while `counted` goes by that; else None."""
        return self._account.stated(self.projection, calibration)

    @property
    def entries(self) -> Entries:
        """The whole log."""
        return self.projection.entries


def _later(seconds: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, call)

"""Places, worked on by the workers of a scheduler. Their work comes back in the order of the places, whichever worker did it and however
often.

Dask gives the shares of a lost worker to others. If the workers of a share are lost again and again, something in it ends them, or
something that was worked on beside it. Its places are worked on at the end, one at a time with nothing beside it, so that only the one that
ends a worker is given up. So it is with a share for which a worker gave something else than the work of its places.

A place that takes more memory than a worker has is worked on here, after all others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast

from ullage.replay.cluster.connecting import NoCluster, refusal, threads_of
from ullage.replay.cluster.installation import installation
from ullage.replay.cluster.shares import OtherInstallation, Raised, Share, ShareRequest, TooMuchMemory, done
from ullage.replay.places import Place
from ullage.store.packed import unpacked

Work = TypeVar("Work")

SHARES_A_WORKER = 4
"""How many shares for each worker are sent and not yet done: enough that none waits for the next, few enough that the scheduler has little
to remember."""

LOOK_SECONDS = 1.0
"""After this long without news, it looks whether the scheduler and workers are there."""

WITHOUT_WORKERS_SECONDS = 60.0
"""How long the work waits for new workers when all are lost."""

WENT_AWAY = "the scheduler went away before all was done. Ask again when it is back"

Told = Callable[[int, int], None]
"""A function that is told how many places are done, and of how many."""


def work_on_cluster(
    client: Any,
    shares: Sequence[Share],
    work: Callable[[Place], Work],
    unfinished: Callable[[str], Work],
    told: Told,
    here: Callable[[int], Work],
    warn: Callable[[str], None] = lambda text: None,
) -> Generator[Work]:
    """The work of each place of these shares, in their order. `work` and what it gives can be pickled. Raises `NoCluster` if the
    scheduler or all its workers go away.

    `unfinished` makes the work of a place that was not finished, of the reason. `here` gives the work of a place by its number, where no
    worker has the memory for it. `warn` is told what the user can do something about meanwhile.
    """
    # The largest first: one that is left to the end would be waited for by all others.
    in_turn = sorted(shares, key=lambda share: -share.size)
    with closing(_Course(client, ShareRequest(work, installation()), in_turn, _Ended(unfinished), here, warn)) as course:
        ready: dict[int, Work] = {}
        total, given = sum(len(share.places) for share in shares), 0
        for number, made in course.each():
            ready[number] = made
            told(given + len(ready), total)
            while given in ready:
                yield ready.pop(given)
                given += 1


@dataclass(frozen=True, slots=True)
class _Ended(Generic[Work]):
    """Makes the work that stands for a place that was not finished."""

    unfinished: Callable[[str], Work]

    def worker(self, place: Place) -> Work:
        return self.unfinished(f"{place} was not finished: each worker that worked on it ended (was there enough memory?)")

    def raised(self, place: Place, raised: Raised) -> Work:
        return self.unfinished(f"{place} was not finished: {raised.why}")

    def works_in(self, answer: object, places: Sequence[Place]) -> tuple[Work | TooMuchMemory, ...]:
        """What a worker answered for these places, one work for each. Raises `_WrongAnswer`: no worker is relied on to answer that."""
        if not isinstance(answer, tuple):
            raise _WrongAnswer(f"a worker gave {type(answer).__name__} instead of results")
        made = cast("tuple[object, ...]", answer)
        if len(made) != len(places):
            raise _WrongAnswer(f"a worker gave {_counted(len(made), 'result')} for {_counted(len(places), 'file')}")
        kind = type(self.unfinished(""))
        wrong = next((each for each in made if not isinstance(each, kind | Raised | TooMuchMemory)), None)
        if wrong is not None:
            raise _WrongAnswer(f"a worker gave {type(wrong).__name__} instead of what was asked")
        works = cast("tuple[Work | Raised | TooMuchMemory, ...]", made)
        return tuple(self.raised(place, each) if isinstance(each, Raised) else each for place, each in zip(places, works, strict=True))


class _WrongAnswer(Exception):
    """A worker answered what is no work of its share; `str()` says what."""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(slots=True)
class _Course(Generic[Work]):
    """One run of places over the workers of a scheduler. `close` takes back what is not done."""

    client: Any
    asked: ShareRequest[Work]
    waiting: Sequence[Share]
    ended: _Ended[Work]
    here: Callable[[int], Work]
    warn: Callable[[str], None]
    _sent: dict[Any, Share] = field(default_factory=dict[Any, Share])
    """The shares that were sent and are not yet done, by future."""
    _news: SimpleQueue[Any] = field(default_factory=SimpleQueue[Any])
    _suspects: deque[Share] = field(default_factory=deque[Share])
    """Shares of one place each, whose workers were lost: they are worked on at the end, alone."""
    _too_large: list[int] = field(default_factory=list[int])
    """The numbers of the places that are left to this machine."""
    _threads: int = 0
    """How many threads all workers have together, as of the last look."""
    _looked: float = float("-inf")

    def each(self) -> Generator[tuple[int, Work]]:
        """The number of each place and its work, as they come."""
        waiting = deque(self.waiting)
        while waiting or self._sent:
            while waiting and len(self._sent) < SHARES_A_WORKER * max(1, self._workers()):
                self._send(waiting.popleft())
            yield from self._next()
        while self._suspects:
            self._send(self._suspects.popleft())
            while self._sent:
                yield from self._next(alone=True)
        for number in self._too_large:
            yield number, self.here(number)

    def close(self) -> None:
        """Takes back the shares that were sent and are not done."""
        if self._sent and self.client.status == "running":
            self.client.cancel(list(self._sent), force=True)
        self._sent.clear()

    def _workers(self) -> int:
        """The number of threads of all workers. Asking takes longer than a small file, so it is asked once in a while."""
        now = time.monotonic()
        if now - self._looked > LOOK_SECONDS and self.client.status == "running":
            self._threads, self._looked = threads_of(self.client), now
        return self._threads

    def _send(self, share: Share) -> None:
        future = self.client.submit(done, share.places, self.asked, pure=False)
        self._sent[future] = share
        future.add_done_callback(self._news.put)

    def _next(self, *, alone: bool = False) -> Generator[tuple[int, Work]]:
        future = self._wait()
        share = self._sent.pop(future)
        if future.status == "lost":
            self._send(share)  # it was done, and its worker is gone with what came of it
            return
        error = future.exception() if future.status == "error" else None
        if future.status == "cancelled":
            raise NoCluster("the scheduler has forgotten what it was asked: it was started anew, or went away. Ask again")
        if isinstance(error, import_module("distributed").KilledWorker):
            if alone:
                yield share.first, self.ended.worker(share.places[0])
            else:
                self._suspect(share)
            return
        if isinstance(error, OtherInstallation):
            raise NoCluster(refusal("that came later", str(error)))
        if error is not None:
            raise NoCluster(f"a worker could not do what it was asked: {type(error).__name__}: {error}")
        try:
            works = self.ended.works_in(self._answer(future), share.places)
        except _WrongAnswer as wrong:
            if alone:
                yield share.first, self.ended.raised(share.places[0], Raised(str(wrong)))
            else:
                self._suspect(share)
            return
        for number, work in enumerate(works, share.first):
            if isinstance(work, TooMuchMemory):
                self._leave(number, share.places[number - share.first], work)
            else:
                yield number, work

    def _leave(self, number: int, place: Place, too_much: TooMuchMemory) -> None:
        self._too_large.append(number)
        self.warn(f"{place} takes more memory than the {too_much.megabytes:,} MB of a worker: it is read here, after the others")

    def _answer(self, future: Any) -> object:
        """What a worker answered. Raises `_WrongAnswer` if that cannot be read."""
        try:
            answer = future.result()
            return unpacked(answer) if isinstance(answer, bytes) else answer
        except Exception as error:
            if self.client.status != "running":
                raise NoCluster(WENT_AWAY) from error
            raise _WrongAnswer(f"what a worker gave cannot be read ({type(error).__name__}: {error})") from error

    def _suspect(self, share: Share) -> None:
        """Puts the places of a share aside, each alone, to be worked on at the end."""
        self._suspects.extend(Share(share.first + number, (place,), 0) for number, place in enumerate(share.places))

    def _wait(self) -> Any:
        without_since: float | None = None
        while True:
            try:
                return self._news.get(timeout=LOOK_SECONDS)
            except Empty:
                pass
            if self.client.status != "running":
                raise NoCluster(WENT_AWAY)
            if self.client.nthreads():
                without_since = None
            elif without_since is None:
                without_since = time.monotonic()
                self.warn(f"the scheduler has no workers: waiting for one, for {WITHOUT_WORKERS_SECONDS:.0f} seconds at most")
            elif time.monotonic() - without_since > WITHOUT_WORKERS_SECONDS:
                raise NoCluster(f"the scheduler has had no workers for {WITHOUT_WORKERS_SECONDS:.0f} seconds. Start some, and ask again")

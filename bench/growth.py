"""What a session costs as it grows: opening it, a turn, a snapshot, pins, planning and writing a digest, a compaction, undo and redo.

    .venv/bin/python -m bench growth [MESSAGES ...]

A whole session on a real folder, with a model that answers at once and a window that nothing fills. All is time of the processor, since
nothing that is measured waits for anything but the disk. `loop` is the longest that the event loop was kept from other work at one go.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bench.entries import PRELUDE, Writer
from bench.sessions import Generated
from tests.no_editor import NoEditor
from ullage.context.blocks import Message, Text, Usage
from ullage.context.counting.accounting import Account
from ullage.context.counting.tokens import Calibration, estimate_message, forget_estimates
from ullage.context.engines.engine import Covered, Occasion
from ullage.context.policies.ullage import ULLAGE
from ullage.context.summary.facts import Reading, read_ahead
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request
from ullage.models.model import Model, ModelCard, ModelEvent, Reply, TextDelta
from ullage.models.serialise import Serialiser
from ullage.session.long_work import uncollected
from ullage.session.session import Session
from ullage.session.sessions.sessions import Sessions
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem
from ullage.session.timeline.updates import Update
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore

SIZES = (1_000, 11_000, 100_000)
TURNS = 60
NO_LINE = 10**12
"""A window (tokens) that no history fills."""
LINE = 200_000
"""Tokens: what is planned for."""


class Echo:
    """A model that answers at once. `serialising` is the seconds of the processor that making the bytes of each request took."""

    def __init__(self) -> None:
        self.serialising: list[float] = []
        self._serialiser = Serialiser()

    def expected(self) -> ModelCard:
        """A window that nothing fills; prices unknown."""
        return ModelCard("bench", "Bench", NO_LINE, 8_000, None, "assumed", writes_summaries=False)

    async def card(self) -> ModelCard:
        """The same."""
        return self.expected()

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncIterator[ModelEvent]:
        """A short answer."""
        began = time.process_time()
        await self._serialiser.body_off_the_loop(
            request, opening={"model": "bench", "stream": True}, max_tokens=max_output_tokens, adaptive_thinking=False
        )
        self.serialising.append(time.process_time() - began)
        for word in ("It ", "holds ", "what ", "it ", "holds."):
            yield TextDelta(0, word)
        yield Reply((Text("It holds what it holds."),), "bench", "end_turn", Usage(40_000, 100))

    async def count(self, request: Request) -> int | None:
        """Nothing is counted."""
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


class Watched:
    """How long the event loop was busy at one go (seconds of its thread on the processor)."""

    longest = 0.0

    @contextmanager
    def watching(self) -> Generator[None]:
        """Looks at each step of the loop."""
        watched = self
        run = asyncio.Handle._run  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

        def timed(self: asyncio.Handle) -> None:
            began = time.thread_time()
            run(self)
            watched.longest = max(watched.longest, time.thread_time() - began)

        asyncio.Handle._run = timed  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        try:
            yield
        finally:
            asyncio.Handle._run = run  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


async def measure(messages: int) -> None:
    """Measures with a session of that many messages, and prints a line a figure."""
    sys.stdout.write(f"\n{messages:,} messages\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        location = str(folder.parent / "store")
        kept = folder_of(folder, Path(location))
        folder.mkdir()
        fill(kept, messages)
        model, idle = Echo(), asyncio.Event()

        def told(session_id: str, seq: int, update: Update) -> None:
            idle.set()

        def choose(**_: object) -> Model:
            return model

        settings = Settings(threshold_cap=NO_LINE, summary_engine="digest", store_location=location)
        sessions = Sessions((folder,), NoEditor(), settings, None, None, told, lambda: None, lambda text: None, choose=choose)
        forget_estimates()
        session = await timed("open it", lambda: sessions.open(None))
        reading = session._means.reading  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        await timed("reading ahead for a program summary, in the background", reading.done)

        async def turn() -> None:
            await session.prompt("And now?")
            while session.busy:
                idle.clear()
                await idle.wait()

        await timed("the first turn", turn)
        model.serialising.clear()
        await repeated("a turn, its request's bytes aside", turn, lambda: model.serialising.pop())
        await repeated("a snapshot", _called(lambda: session.snapshot()))
        prompts = [item.id for item in session.snapshot(400).items if isinstance(item, UserItem)]
        await repeated("a pin", _called(lambda: session.history.pin_item(prompts.pop(), pinned=True)), times=min(20, len(prompts)))
        await timed("a compaction", lambda: _compaction(session, idle))
        await timed("what became of the items that are shown", lambda: session.history.epochs(session.snapshot().items[0].id))
        await timed("undo", session.history.undo)
        await timed("redo", session.history.redo)
        await repeated("a turn after it, its request's bytes aside", turn, lambda: model.serialising.pop())
        await timed("a compaction again", lambda: _compaction(session, idle))
        await sessions.close()
        sessions = Sessions((folder,), NoEditor(), settings, None, None, told, lambda: None, lambda text: None, choose=choose)
        session = await timed("open it once it is compacted", lambda: sessions.open(None))
        for _ in range(2):
            await timed("undo, in a session that was opened again", session.history.undo)
        await timed("redo", session.history.redo)
        await sessions.close()
        plan_and_digest(kept, session.id)


def fill(folder: Path, messages: int) -> None:
    """A generated session of that many messages, as a user left it, in the folder that is kept for a workspace."""
    store, writer = LogStore.open(folder), Writer()
    session = store.create_session("Generated", 0.0)
    entries = [entry for message in islice(Generated().messages(), messages) for entry in writer.entries(message)]
    store.append_many(session.id, [PRELUDE, *entries], 1.0)
    store.close()


async def _compaction(session: Session, idle: asyncio.Event) -> None:
    session.compact()
    while session.busy:
        idle.clear()
        await idle.wait()


def plan_and_digest(folder: Path, session_id: str) -> None:
    """Planning a summary of the whole log, and writing its digest: of a log that nobody has looked at, as a session does it for the first
    time, and again."""
    with uncollected():  # as a session does
        store = LogStore.open(folder)
        loaded = store.load(session_id)
        store.close()
        changes = ("Compaction", "CompactionUndone", "CompactionRedone", "EntryPinned")
        entries = [logged for logged in loaded if type(logged.entry).__name__ not in changes]
        projection, reading, calibration = Projection(entries), Reading(), Calibration()

    def count(messages: Sequence[Message]) -> int:
        return calibration.apply(sum(estimate_message(message) for message in messages))

    def both() -> None:
        planned = ULLAGE.engine.plan(Occasion(projection, "threshold", LINE, LINE, NO_LINE, count))
        if planned is None or planned.summarise_to is None:
            return
        covered = [logged for logged in entries if logged.seq <= planned.summarise_to]
        tail = entries[len(covered) :]
        ULLAGE.engine.summarise(Covered(covered, planned, None, "", LINE // 3, tail=tail, reading=reading))

    forget_estimates()
    show("plan and digest, nothing known of any text", [_processor(both)])
    with uncollected():
        projection, reading = Projection(entries), Reading()
        Account().count(projection, calibration)
        read_ahead(entries, reading)
    times = [_processor(both) for _ in range(8)]
    show("plan and digest, the first of a session", times[:1])
    show("plan and digest", times[1:])


async def timed(what: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """Does it once, and prints what it took."""
    watched = Watched()
    with watched.watching():
        began = time.process_time()
        done = await asyncio.create_task(_of(work))
        took = time.process_time() - began
    show(what, [took], watched.longest)
    return done


async def repeated(what: str, work: Callable[[], Awaitable[None]], aside: Callable[[], float] = lambda: 0.0, times: int = TURNS) -> None:
    """Does it some times, and prints what it took."""
    watched = Watched()
    took: list[float] = []
    with watched.watching():
        for _ in range(times):
            began = time.process_time()
            await asyncio.create_task(_of(work))
            took.append(time.process_time() - began - aside())
    if took:
        show(what, took, watched.longest)


async def _of(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


def _called(work: Callable[[], Any]) -> Callable[[], Awaitable[None]]:
    async def called() -> None:
        work()

    return called


def _processor(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def show(what: str, seconds: Sequence[float], loop: float | None = None) -> None:
    """Median and maximum."""
    ordered = sorted(each * 1_000 for each in seconds)
    most = f", at most {ordered[-1]:.2f}" if len(ordered) > 1 else ""
    blocked = "" if loop is None else f"; loop {loop * 1_000:.1f}"
    sys.stdout.write(f"  {what}: {ordered[len(ordered) // 2]:.2f} ms{most}{blocked}\n")
    sys.stdout.flush()


async def main(sizes: Sequence[int]) -> None:
    """All figures."""
    for messages in sizes:
        await measure(messages)


if __name__ == "__main__":
    asyncio.run(main([int(each) for each in sys.argv[1:]] or SIZES))

"""What is ready before a compaction needs it: a draft, what was read of the log, the source texts of the workspace.

The draft is made in the background, so that nobody waits for its summary when the threshold is reached. The log is read while the session
goes on, some entries at a time, in another thread. `context/summary/` knows what is read and kept. Source texts are for engines that
look at more than the conversation (a map of the repository).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager

from ullage.context.compaction.draft import Draft, NothingToCompact, PolicyFailed
from ullage.context.entries import Logged
from ullage.context.summary.facts import Reading, read_ahead
from ullage.context.symbols.symbols import language_of
from ullage.session.conversation import Conversation
from ullage.session.long_work import uncollected
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.ignore import IgnoreRules, walk_files
from ullage.workspace.text_file import FileTooLarge, NotText, read_text

BATCH = 32
"""Entries. A program summary reads up to so many itself, in a few milliseconds; a thread for each would cost more."""

PATIENCE = 20.0
"""Seconds: longer than it takes to read a log of 100,000 entries. An engine of some other package that never gives back what was read must
not keep everybody else from it."""


MOST_FILES = 5_000
MOST_CHARACTERS = 20_000_000
"""Most characters of all texts together: what a map of a few thousand tokens is made from need not be more than a large repository."""


class ReadingAhead:
    """Reads the log of one session before a program summary needs it."""

    def __init__(self, conversation: Conversation) -> None:
        self._reading = Reading()
        self._one_reads = threading.Lock()
        self._conversation = conversation
        self._read = 0
        self._task: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Begins to read if enough is new and nothing is being read. To be called when something was logged."""
        if self._task is None and self.unread >= BATCH:
            self._task = asyncio.create_task(self._go(), name="read ahead")

    @contextmanager
    def lent(self) -> Generator[Reading | None]:
        """Lends what was read so far to the thread of the caller alone. Another thread may still have it, though nobody waits for that one
        any more: it is waited for. None if that takes too long."""
        if not self._one_reads.acquire(timeout=PATIENCE):
            yield None
            return
        try:
            yield self._reading
        finally:
            self._one_reads.release()

    async def done(self) -> None:
        """Waits until nothing is being read."""
        while self._task is not None:
            await asyncio.wait({self._task})

    def give_up(self) -> None:
        """Stops reading."""
        if self._task is not None:
            self._task.cancel()

    @property
    def unread(self) -> int:
        """How many entries a program summary would have to read itself."""
        return len(self._conversation.entries) - self._read

    async def _go(self) -> None:
        try:
            while self.unread >= BATCH:
                entries = self._conversation.entries[:]
                with uncollected(self.unread):
                    await asyncio.to_thread(self._go_through, entries)
                self._read = len(entries)
        finally:
            self._task = None

    def _go_through(self, entries: Sequence[Logged]) -> None:
        with self.lent() as reading:
            if reading is not None:
                read_ahead(entries, reading)


async def source_texts(folders: Folders, read_rules: ReadRules) -> Mapping[str, str]:
    """The texts of source files by path, as the tools show the path. Files that are ignored, may not be read, are no text or are in no
    known language are left out. They are read in another thread, `MOST_FILES` and `MOST_CHARACTERS` at most."""
    return await asyncio.to_thread(_read, folders, read_rules)


def _read(folders: Folders, read_rules: ReadRules) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    left = MOST_CHARACTERS
    rules = IgnoreRules(folders.roots)
    for root in folders.roots:
        for path in walk_files(root, rules.below(root)):
            if language_of(path.name) is None or read_rules.refusing(path) is not None:
                continue
            try:
                text = read_text(folders.resolve(str(path))).text
            except (OSError, OutsideWorkspace, NotText, FileTooLarge):
                continue
            left -= len(text)
            if left < 0 or len(texts) == MOST_FILES:
                return texts
            texts[folders.show(path)] = text
    return texts


logger = logging.getLogger(__name__)


class LiveSlot:
    """Holds at most one draft of one session: none, in work, ready or failed. Whether it serves is judged in
    `context/compaction/making.py`."""

    def __init__(self, done: Callable[[], None]) -> None:
        """`done` is called when a draft is ready or has failed."""
        self._told_done = done
        self._task: asyncio.Task[Draft] | None = None
        self._then: Callable[[], None] | None = None

    @property
    def begun(self) -> bool:
        """Whether a draft is in work, is ready or has failed."""
        return self._task is not None

    def outcome(self) -> Draft | BaseException | None:
        """The draft that is ready, or why there is none; None if one is in work or none was begun."""
        task = self._task
        if task is None or not task.done():
            return None
        if task.cancelled():
            return asyncio.CancelledError()
        return task.exception() or task.result()

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins a draft. There must be none yet."""
        self._task = asyncio.create_task(work, name="prepare a compaction")
        self._task.add_done_callback(self._done)

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls back once the draft in work is ready or has failed; the last one who asked is called, once."""
        self._then = then

    def _done(self, task: asyncio.Task[Draft]) -> None:
        then, self._then = self._then, None
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, NothingToCompact | PolicyFailed):
            logger.warning("a compaction could not be prepared", exc_info=error)
        self._told_done()
        if then is not None:
            then()

    async def take(self) -> Draft | None:
        """Takes the draft out, and waits for it if it is in work. None if there is none, it failed or it was given up meanwhile."""
        task = self._task
        if task is None:
            return None
        await asyncio.wait({task})
        if self._task is not task:
            return None
        self._task = None
        # After a failure the caller makes a draft of its own, and meets the same trouble where it can be told.
        return None if task.cancelled() or task.exception() is not None else task.result()

    def drop(self) -> Draft | None:
        """Empties the slot, and ends a draft that is in work. Gives the draft that was ready; None if there was none."""
        self._then = None
        task, self._task = self._task, None
        if task is None:
            return None
        task.cancel()
        return task.result() if task.done() and not task.cancelled() and task.exception() is None else None

    async def ended(self, drop: Callable[[], None]) -> None:
        """Calls `drop`, which is to empty the slot; a draft that was in work has ended when this returns."""
        task = self._task
        drop()
        if task is not None:
            await asyncio.wait({task})

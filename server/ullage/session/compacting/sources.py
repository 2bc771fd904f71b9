"""What a summary is written from: the log, which is read ahead, and the source texts of the workspace.

The log is read while the session goes on, some entries at a time, in another thread. So a compaction need not wait for that. What is read
and kept is known in `context/summary/`. Source texts are for engines that look at more than the conversation (a map of the repository).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from ullage.context.entries import Logged
from ullage.context.summary.facts import Reading, read_ahead
from ullage.context.symbols.symbols import language_of
from ullage.session.conversation import Conversation
from ullage.session.long_work import uncollected
from ullage.workspace.folders import Folders, OutsideWorkspace
from ullage.workspace.ignore import IgnoreRules, walk_files
from ullage.workspace.text_file import NotText, TooLarge, read_text

BATCH = 32
"""Entries. So many or fewer a program summary reads itself, in a few milliseconds; a thread for each would cost more."""

PATIENCE = 20.0
"""Seconds: longer than it takes to read a log of 100,000 entries. An engine of some other package that never gives back what was read must
not keep everybody else from it."""


MOST_FILES = 5_000
MOST_CHARACTERS = 20_000_000
"""Of all together: what a map of a few thousand tokens is made from need not be more than a large repository."""


class ReadingAhead:
    """Reads the log of one session."""

    def __init__(self, conversation: Conversation) -> None:
        self._reading = Reading()
        self._one_reads = threading.Lock()
        self._conversation = conversation
        self._read = 0
        self._task: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Begins where enough is new and nothing is being read. To be called when something was logged."""
        if self._task is None and self.unread >= BATCH:
            self._task = asyncio.create_task(self._go(), name="read ahead")

    @contextmanager
    def lent(self) -> Generator[Reading | None]:
        """What was read so far, for the thread of the caller alone: one who is no longer waited for may still be at it, and is waited for.
        None where that takes too long."""
        if not self._one_reads.acquire(timeout=PATIENCE):
            yield None
            return
        try:
            yield self._reading
        finally:
            self._one_reads.release()

    async def done(self) -> None:
        """Waits for what is being read."""
        while self._task is not None:
            await asyncio.wait({self._task})

    def give_up(self) -> None:
        """Nothing more is read."""
        if self._task is not None:
            self._task.cancel()

    @property
    def unread(self) -> int:
        """Entries that a program summary would have to read itself."""
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


async def source_texts(folders: Folders) -> Mapping[str, str]:
    """By path as the tools show it, without what is ignored, is no text or is in no known language. They are read in another thread."""
    return await asyncio.to_thread(_read, folders)


def _read(folders: Folders) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    left = MOST_CHARACTERS
    rules = IgnoreRules(folders.roots)
    for root in folders.roots:
        for path in walk_files(root, rules.below(root)):
            if language_of(path.name) is None:
                continue
            try:
                text = read_text(folders.resolve(str(path))).text
            except (OSError, OutsideWorkspace, NotText, TooLarge):
                continue
            left -= len(text)
            if left < 0 or len(texts) == MOST_FILES:
                return texts
            texts[folders.show(path)] = text
    return texts

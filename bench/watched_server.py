"""The server with a look at its event loop: how long each step of the loop took, and which took longest.

    python -m bench.watched_server FILE

Writes FILE as JSON whenever it gets SIGUSR1, and begins anew. It has the longest step in seconds (`wall`, `processor`), the longest ones by
name (`steps`), how long the rounds of the loop took (`rounds`: 50, 90, 99 and 100 of 100), what the process took of the processor
(`process`) and the resident memory in kB (`rss`).
"""

from __future__ import annotations

import asyncio
import json
import selectors
import signal
import sys
import threading
import time
from pathlib import Path

from ullage.cli import main

LONG = 0.02
"""Seconds of the processor from which a step is named."""


class Loop:
    """What was seen of the loop since the last look."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self.wall = self.processor = 0.0
        self.steps: list[tuple[float, float, str]] = []
        self.rounds: list[float] = []
        self.began = time.process_time()

    def saw(self, wall: float, processor: float, handle: asyncio.Handle) -> None:
        """One step."""
        self.wall, self.processor = max(self.wall, wall), max(self.processor, processor)
        if processor > LONG and len(self.steps) < 10_000:
            self.steps.append((processor, wall, repr(handle)[:300]))

    def went_round(self, wall: float) -> None:
        """One round of the loop."""
        self.rounds.append(wall)

    def write(self, *_: object) -> None:
        """Writes it down and begins anew."""
        rss = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
        steps = sorted(self.steps, reverse=True)[:12]
        rounds = sorted(self.rounds)
        at = [rounds[min(len(rounds) - 1, int(len(rounds) * share))] for share in (0.5, 0.9, 0.99, 1.0)] if rounds else [0.0] * 4
        process = time.process_time() - self.began
        text = json.dumps({"wall": self.wall, "processor": self.processor, "steps": steps, "rounds": at, "process": process, "rss": rss})
        self._begin()
        temporary = self._file.with_suffix(".new")
        temporary.write_text(text)
        temporary.rename(self._file)


def watch(file: Path) -> None:
    """Looks at each step of every loop of this process from now on."""
    seen = Loop(file)
    run = asyncio.Handle._run  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def timed(self: asyncio.Handle) -> None:
        wall, processor = time.perf_counter(), time.thread_time()
        run(self)
        seen.saw(time.perf_counter() - wall, time.thread_time() - processor, self)

    asyncio.Handle._run = timed  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    selector = selectors.DefaultSelector
    select, since = selector.select, [0.0]

    def selected(self: selectors.DefaultSelector, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if threading.current_thread() is threading.main_thread() and since[0]:
            seen.went_round(time.perf_counter() - since[0])
        found = select(self, timeout)
        since[0] = time.perf_counter()
        return found

    selector.select = selected
    signal.signal(signal.SIGUSR1, seen.write)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    sys.exit(main(["serve"]))

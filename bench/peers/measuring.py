"""The loop that times one way of keeping a context, for any Python from 3.11 on, with nothing but the standard library.

An adapter is run in a process of its own, for one size of history:

    python -m bench.peers.adapters.NAME VARIANT HISTORY MESSAGES

HISTORY holds a message a line and more of them than MESSAGES: with those that follow the session goes on, a reply and what
answers it at each turn. What is held ends with a user's message, so it is one message shorter where MESSAGES is even.
The last line that is printed is the figures, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, Protocol, TypeAlias

Message: TypeAlias = Mapping[str, Any]

SUMMARY = "## Goal\nKeep the tank from running over.\n\n## Next\n" + "- go on with the next file of the list\n" * 60
"""What stands for a model's summary, the same for all."""

TURNS, COMPACTIONS = 200, 15
"""The most rounds that are timed."""
SECONDS = 8.0
"""After so long no further round is begun, once there are `FEWEST`."""
FEWEST = 5
NO_LINE = 10**12
"""A window (tokens) that no history fills."""


class Adapter(Protocol):
    """One way of keeping a context, set up by what its package exports. Only `turn` and `compact` are timed."""

    def hold(self, messages: Sequence[Message]) -> int:
        """Takes a history over. How many messages it is in the adapter's own terms."""
        ...

    def prepare(self, messages: Sequence[Message]) -> Any:
        """The messages that came since, in the adapter's own types."""
        ...

    def turn(self, new: Any) -> int:
        """What is done before a model call where no compaction is needed. How many messages would be sent."""
        ...

    def before_compaction(self) -> None:
        """Makes it so that the history held is about to be compacted, however often it was before."""
        ...

    def compact(self) -> int:
        """One compaction with `SUMMARY` in place of the model's. How many messages would be sent after it."""
        ...


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of the processor: nothing that is timed waits for anything, and other programs on the machine disturb them less."""

    median: float
    p99: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What one process measured."""

    versions: Mapping[str, str]
    python: str
    turn: Timed
    compaction: Timed
    left: int
    """Messages after a compaction, as the adapter counts them."""


def timed(milliseconds: Sequence[float]) -> Timed:
    """Median and 99th percentile (the slowest, where there are fewer than a hundred)."""
    ordered = sorted(milliseconds)
    return Timed(ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], len(ordered))


def measure(adapter: Adapter, history: Sequence[Message], size: int, distributions: Sequence[str]) -> Figures:
    """Raises `ValueError` where the adapter did not do what is timed."""
    size -= history[size - 1]["role"] == "assistant"
    compactions: list[float] = []
    left = held = adapter.hold(history[:size])
    began = time.perf_counter()
    while len(compactions) < COMPACTIONS and (len(compactions) < FEWEST or time.perf_counter() - began < SECONDS):
        adapter.before_compaction()
        start = time.process_time()
        left = adapter.compact()
        compactions.append((time.process_time() - start) * 1_000)
        if not 0 < left < held:
            raise ValueError(f"{left} messages are left of {held}")
    turns: list[float] = []
    held = adapter.hold(history[:size])
    began = time.perf_counter()
    while len(turns) < TURNS and (len(turns) < FEWEST or time.perf_counter() - began < SECONDS):
        at = size + 2 * len(turns)
        new = adapter.prepare(history[at : at + 2])
        start = time.process_time()
        sent = adapter.turn(new)
        turns.append((time.process_time() - start) * 1_000)
        if sent < held:
            raise ValueError(f"{sent} messages would be sent of {held} and more: there was a compaction")
    return Figures({name: version(name) for name in distributions}, python_version(), timed(turns), timed(compactions), left)


def main(distributions: Sequence[str], variants: Mapping[str, Callable[[], Adapter]]) -> None:
    """The program of an adapter."""
    variant, path, size = sys.argv[1:4]
    with Path(path).open(encoding="utf-8") as lines:
        history = [json.loads(line) for _, line in zip(range(int(size) + 2 * TURNS + 2), lines, strict=False)]
    figures = measure(variants[variant](), history, int(size), distributions)
    sys.stdout.write("\n" + json.dumps(asdict(figures)) + "\n")

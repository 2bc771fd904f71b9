"""What a turn leaves behind in memory, in a session that stays open through compactions.

    .venv/bin/python -m bench memory [TURNS]

A session on a real folder, with a model that answers at once with some 1,600 characters to a prompt of some 700, and a window that
fills every dozen turns. Told are the bytes that Python holds more after a turn (by tracemalloc), and where most of them were made.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

from tests.no_editor import NoEditor
from ullage.context.blocks import Text
from ullage.context.compaction_entries import Compaction
from ullage.context.view.request import Request
from ullage.models.model import Model, ModelCard, ModelEvent, Reply, TextDelta
from ullage.session.sessions.sessions import Sessions
from ullage.session.settings import Settings
from ullage.session.timeline.updates import Update

TURNS = 1_000
WARM = 700
"""Turns before the first look: what is made once is made by then, and what is kept of the newest entries is full."""
PLACES = 12


class Talker:
    """A model that answers at once, and differently each time."""

    def __init__(self) -> None:
        self._replies = 0

    def expected(self) -> ModelCard:
        """A small window; prices unknown."""
        return ModelCard("bench", "Bench", 60_000, 8_000, None, "assumed", writes_summaries=False)

    async def card(self) -> ModelCard:
        """The same."""
        return self.expected()

    async def stream(self, request: Request, max_output_tokens: int) -> AsyncIterator[ModelEvent]:
        """Some 1,600 characters."""
        self._replies += 1
        text = f"Answer {self._replies}: " + f"it holds what it holds {self._replies}. " * 60
        yield TextDelta(0, text)
        yield Reply((Text(text),), "bench", "end_turn", None)

    async def count(self, request: Request) -> int | None:
        """Nothing is counted."""
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


async def main(turns: int) -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        folder.mkdir()
        idle, model = asyncio.Event(), Talker()

        def told(session_id: str, seq: int, update: Update) -> None:
            idle.set()

        def choose(**_: object) -> Model:
            return model

        settings = Settings(summary_engine="digest", store_location=str(folder.parent / "store"))
        sessions = Sessions((folder,), NoEditor(), settings, None, None, told, lambda: None, lambda text: None, choose=choose)
        session = await sessions.open(None)

        async def turn(number: int) -> None:
            await session.prompt(f"Question {number}: what does tank_{number} hold? " * 20)
            while session.busy:
                idle.clear()
                await idle.wait()

        tracemalloc.start(2)  # before the first look, so that what was made by then counts when it goes
        for number in range(WARM):
            await turn(number)
        gc.collect()
        before, held = tracemalloc.take_snapshot(), tracemalloc.get_traced_memory()[0]
        for number in range(WARM, WARM + turns):
            await turn(number)
        gc.collect()
        left = (tracemalloc.get_traced_memory()[0] - held) / turns
        compactions = sum(isinstance(logged.entry, Compaction) for logged in session.entries)
        sys.stdout.write(f"{turns:,} turns, {compactions} compactions: {left:,.0f} bytes left a turn\n")
        for place in tracemalloc.take_snapshot().compare_to(before, "lineno")[:PLACES]:
            sys.stdout.write(f"  {place.size_diff / turns:8,.0f}  {place.traceback}\n")
        await sessions.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else TURNS))

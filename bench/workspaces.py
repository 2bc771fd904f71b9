"""Generated sessions laid down as the log of a workspace, as a user would have left them, for whatever reads such a folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.entries import PRELUDE, Writer
from bench.sessions import generated
from ullage.store.log_store import LogStore

BEGAN = 1_770_000_000.0
"""Unix seconds of the first entry."""


def lay_down(folder: Path, lengths: Sequence[int], seed: int = 1) -> None:
    """One session for each of `lengths` (messages), as the log that is kept for a workspace."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(LogStore.open(folder)) as store:
        for number, length in enumerate(lengths):
            session = store.create_session(f"Generated {number + 1}", BEGAN)
            writer = Writer()
            store.append(session.id, PRELUDE, BEGAN)
            for message in generated(length, seed + number):
                store.append_many(session.id, writer.entries(message), BEGAN + message["at"])

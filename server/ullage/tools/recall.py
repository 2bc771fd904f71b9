"""The `recall` tool: gets back what the conversation no longer shows.

Searching and opening the log is the business of `store/`, which implements `Recall`; here it only becomes text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RecallHit:
    """One place where the searched words stand. `seq` is the log entry in session `session_id`; `at` is Unix seconds."""

    session_id: str
    seq: int
    at: float
    what: str
    """What kind of entry it is, in words: `user`, `assistant`, `result of bash` ..."""
    excerpt: str
    """The words with a little text around them (plain text, one paragraph)."""
    tool_use_id: str | None = None
    """Set for tool results: what `Recall.result` takes."""
    current: bool = True
    """False for a hit in another session of this workspace (its seq cannot be opened by range)."""


class Recall(Protocol):
    """What was ever said or returned in this workspace, as one session may look at it."""

    async def search(self, words: str, limit: int) -> Sequence[RecallHit]:
        """Best matches first, over all sessions of the workspace; at most `limit`."""
        ...

    async def result(self, tool_use_id: str) -> str | None:
        """The whole result of a tool call, unclipped; None where there is none of that id."""
        ...

    async def range(self, first_seq: int, last_seq: int) -> str:
        """The entries of this session from `first_seq` to `last_seq` (both included) as text; empty where there are none."""
        ...

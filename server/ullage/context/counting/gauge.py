"""Where the context counts as full, how full it is, and how much a turn usually adds. How much it holds: `accounting.py`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal, TypeAlias

from ullage.context.entries import (
    AssistantReply,
    Compaction,
    CompactionRedone,
    CompactionUndone,
    Logged,
    TurnEnded,
    UserPrompt,
)
from ullage.context.policy import LineNumbers

Level: TypeAlias = Literal["normal", "warning", "error"]

LARGEST_HEADROOM_SHARE = 0.5
"""Reserve and margin take at most this share of the window: they are meant for 200,000 tokens and more, and would leave
nothing of the 16,000 or 32,000 of a local model."""

RECENT_TURNS = 8
USUAL_GROWTH = 8_000
"""Tokens a turn adds where the session has no history yet."""


def line(window: int, numbers: LineNumbers, cap: int) -> int:
    """Tokens at which the context counts as full, where it compacts; `cap` is the user's (tokens).

    `window` less reserve and margin, never over `cap`, and at least half of the window where that is under the cap.
    """
    headroom = min(numbers.reserve + numbers.margin, int(window * LARGEST_HEADROOM_SHARE))
    return max(1, min(window - headroom, cap))


def level(used: int, line: int, numbers: LineNumbers) -> Level:
    """How the gauge is coloured at `used` of `line` tokens."""
    share = used / line
    if share >= numbers.error_share:
        return "error"
    return "warning" if share >= numbers.warn_share else "normal"


def growth(entries: Sequence[Logged]) -> int:
    """Tokens that a turn of this session usually adds: the median of the last turns by reported usage.

    A turn in which the context was compacted, or that was not priced, says nothing and is left out.
    """
    grown: list[int] = []
    start: int | None = None
    latest: int | None = None
    for logged in _recent(entries):
        entry = logged.entry
        if isinstance(entry, AssistantReply) and entry.usage is not None:
            latest = entry.usage.context_tokens
        elif isinstance(entry, Compaction | CompactionUndone | CompactionRedone):
            start = latest = None
        elif latest is not None and (isinstance(entry, TurnEnded) or (isinstance(entry, UserPrompt) and not entry.steering)):
            if start is not None:
                grown.append(latest - start)
            start, latest = latest, None
    grown = [tokens for tokens in grown if tokens > 0]
    return round(median(grown)) if grown else USUAL_GROWTH


def _recent(entries: Sequence[Logged]) -> Sequence[Logged]:
    turns = 0
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index].entry
        if isinstance(entry, UserPrompt) and not entry.steering:
            turns += 1
            if turns > RECENT_TURNS:
                return entries[index:]
    return entries

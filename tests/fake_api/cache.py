"""The prompt cache (section 2.1): what a request reads, what it writes, and when an entry lives.

Written only at breakpoints; read by walking back from each breakpoint; nothing below the model's minimum; an entry can be read once the
response that wrote it has begun, until its time to live after the start of the last request that used it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.prefix import Position
from tests.fake_api.usage import InputUsage

LOOK_BACK = 20
"""Positions that a read tries from a breakpoint backwards, itself included."""

TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(slots=True)
class _Entry:
    ttl: str
    expires: float

    def refresh(self, started: float) -> None:
        self.expires = max(self.expires, started + TTL_SECONDS[self.ttl])


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What one request takes from the cache and will leave in it."""

    usage: InputUsage
    scope: tuple[str, str]
    writes: tuple[tuple[str, str], ...]
    """Hash and time to live of each new entry."""
    started: float


class PromptCache:
    """The entries of all keys. Times are seconds of the fake's clock."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], dict[str, _Entry]] = {}

    def plan(
        self,
        key: str,
        model: ModelFacts,
        row: Sequence[Position],
        total_tokens: int,
        started: float,
    ) -> CachePlan:
        """What a request that started at `started` reads (which refreshes it) and what it is to write.

        Entries are kept apart by `key` (section 2.1: by workspace) and model. Nothing can be read of the writes before `publish`.
        """
        scope = (key, model.id)
        entries = self._entries.setdefault(scope, {})
        marks = [
            (index, position) for index, position in enumerate(row) if position.ttl is not None and position.tokens >= model.minimum_cached
        ]
        read = 0
        for index, _ in marks:
            found = _find(entries, row, index, started)
            if found is not None:
                read = max(read, found.tokens)
        new = [(position.hash, position.ttl or "5m") for _, position in marks if not _lives(entries.get(position.hash), started)]
        long = max([read, *(p.tokens for _, p in marks if p.ttl == "1h")])
        end = max([long, *(p.tokens for _, p in marks)])
        usage = InputUsage(
            uncached=total_tokens - end,
            read=read,
            written_1h=long - read,
            written_5m=end - long,
        )
        return CachePlan(usage, scope, tuple(new), started)

    def publish(self, plan: CachePlan) -> None:
        """Makes the writes of a request readable: its response has begun."""
        entries = self._entries.setdefault(plan.scope, {})
        for hash, ttl in plan.writes:
            entries[hash] = _Entry(ttl, plan.started + TTL_SECONDS[ttl])

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()


def _find(entries: dict[str, _Entry], row: Sequence[Position], start: int, started: float) -> Position | None:
    """The longest entry within reach of a breakpoint; reading it refreshes it."""
    for index in range(start, max(start - LOOK_BACK, -1), -1):
        entry = entries.get(row[index].hash)
        if entry is not None and _lives(entry, started):
            entry.refresh(started)
            return row[index]
    return None


def _lives(entry: _Entry | None, started: float) -> bool:
    return entry is not None and started < entry.expires

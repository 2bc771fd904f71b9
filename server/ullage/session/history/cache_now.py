"""How the prompt cache stands, in dollars, and the requests that missed it, with what had changed before each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice

from ullage.context.blocks import SystemPart, ToolSpec, Usage
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.cache_clock import CacheMiss, Reason, SentRequests, is_same_model
from ullage.context.counting.next_request import NextRequest, PlannedRequest, next_request
from ullage.context.entries import Logged, Prelude
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection
from ullage.models.model import ModelCard
from ullage.session.history.places import item_of_message
from ullage.session.timeline.updates import Gauge

MOST_MISSES = 30
"""Most misses that one answer tells of."""

CHANGE_LINES = 60
"""Most lines that one miss shows of a change; a changed set of tools may be thousands."""
CHANGE_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class CacheNow:
    """How the prompt cache stands. Dollars are None if the prices are not known; what comes back is not in them."""

    request: NextRequest
    warm: float | None
    """What the next request costs while the cache lives."""
    cold: float | None
    """What the next request costs once the cache has gone."""
    compact_warm: float | None
    """What a compaction costs now, while the cache lives."""
    compact_cold: float | None


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that missed the cache. `tokens` were sent anew for that; `cost` is what this took more (dollars)."""

    item_id: str | None
    """The item of the reply that it got."""
    at: float
    tokens: int
    cost: float | None
    """None if it was another model's, or the prices are not known."""
    reasons: tuple[Reason, ...]
    idle: float
    """Seconds since the request before."""
    change: str
    """What was changed, as the lines of a diff; empty if nothing can be shown."""


def cache_now(requests: SentRequests, view: Projection, card: ModelCard, asking: PlannedRequest, gauge: Gauge, now: float) -> CacheNow:
    """How the prompt cache stands now. `asking` is what the next request will hold, with what the user is about to say."""
    request = next_request(requests, view, asking, now)
    compact = gauge.frees_cost
    dearer = (gauge.anew_cost or 0.0) if compact else 0.0
    return CacheNow(request, card.cost(request.warm), card.cost(request.cold), compact, None if compact is None else compact + dearer)


class MissesTold:
    """The newest requests that missed the cache, as they are told of. What was in a miss stays known."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str | None, str]] = {}
        """The item and the change of each miss, by the seq of the reply."""

    def of(self, requests: SentRequests, entries: Sequence[Logged], card: ModelCard) -> tuple[Miss, ...]:
        """The newest misses, the newest first. Reads the log where one is new: for another thread, one at a time."""
        newest = tuple(islice(reversed(requests.misses), MOST_MISSES))
        known, self._known = self._known, {}
        for miss in newest:
            seq = miss.request.seq
            self._known[seq] = known[seq] if seq in known else _read(miss, entries)
        return tuple(_told(miss, self._known[miss.request.seq], card) for miss in newest)


def _read(miss: CacheMiss, entries: Sequence[Logged]) -> tuple[str | None, str]:
    reply = entry_at(entries, miss.request.seq)
    return None if reply is None else item_of_message(reply), _clipped(_changed(miss, entries))


def _told(miss: CacheMiss, read: tuple[str | None, str], card: ModelCard) -> Miss:
    sent, cost = miss.request, None
    item_id, change = read
    if card.prices is not None and is_same_model(sent.model, card.name):
        for_an_hour = sent.ttl == "1h"
        written = Usage(0, 0, cache_write_1h_tokens=miss.tokens) if for_an_hour else Usage(0, 0, cache_write_5m_tokens=miss.tokens)
        cost = card.prices.cost(written) - card.prices.cost(Usage(0, 0, cache_read_tokens=miss.tokens))
    return Miss(item_id, sent.started, miss.tokens, cost, miss.reasons, miss.idle, change)


def _clipped(lines: Iterator[str]) -> str:
    kept = list(islice(lines, CHANGE_LINES + 1))
    text = "\n".join(kept[:CHANGE_LINES])
    return f"{text[:CHANGE_CHARACTERS]}\n…" if len(kept) > CHANGE_LINES or len(text) > CHANGE_CHARACTERS else text


def _changed(miss: CacheMiss, entries: Sequence[Logged]) -> Iterator[str]:
    before, sent = miss.before, miss.request
    if "model" in miss.reasons:
        yield from (f"-{before.model}", f"+{sent.model}")
    if "effort" in miss.reasons:
        yield from (f"-{before.effort}", f"+{sent.effort}")
    then, now = entry_at(entries, before.key.prelude), entry_at(entries, sent.key.prelude)
    if then != now and isinstance(then, Prelude) and isinstance(now, Prelude):
        yield from _diff(list(_lines_of(then.system)), list(_lines_of(now.system)))
        yield from _tools_changed(then.tools, now.tools)
    for seq in sorted(set(sent.key.seqs[1:]) - set(before.key.seqs[1:])):
        made = entry_at(entries, seq)
        if isinstance(made, Compaction):
            yield from _compacted(made)


def _lines_of(system: Sequence[SystemPart]) -> Iterator[str]:
    for part in system:
        yield from part.text.splitlines()


def _diff(then: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """The lines of a diff, without the head that names files."""
    yield from islice(unified_diff(then, now, lineterm="", n=1), 2, None)


def _tools_changed(then: Sequence[ToolSpec], now: Sequence[ToolSpec]) -> Iterator[str]:
    before, after = {tool.name: tool for tool in then}, {tool.name: tool for tool in now}
    yield from (f"-{name}" for name in before if name not in after)
    yield from (f"+{name}" for name in after if name not in before)
    for name in before:
        if name in after and before[name] != after[name]:
            yield f" {name}"
            yield from _diff(_lines_of_tool(before[name]), _lines_of_tool(after[name]))
    if before == after and list(before) != list(after):
        yield from _diff(list(before), list(after))


def _lines_of_tool(tool: ToolSpec) -> list[str]:
    return [*tool.description.splitlines(), *json.dumps(tool.input_schema, indent=1, default=dict).splitlines()]


def _compacted(made: Compaction) -> Iterator[str]:
    counts = made.message_counts
    gone = counts.summarised + counts.cleared + counts.snipped
    yield f"-{gone:,} messages" if gone != 1 else "-1 message"
    told = made.summarised.words if made.summarised else made.snipped.marker if made.snipped else ""
    yield from (f"+{line}" for line in (told or "".join(each.placeholder for each in made.cleared[:1])).splitlines())

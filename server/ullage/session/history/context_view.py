"""The context view: what fills the window, part by part, what each part costs with every request, and how the prompt cache stands.

The figures are computed in `context/counting/` (`parts.py`, `cache_clock.py`). Here they get titles and items, and a page of them is
picked for a front end; dollars come from `cache_now.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.counting.accounting import Counted, prompt_tokens
from ullage.context.counting.cache_clock import SentRequests, stands
from ullage.context.counting.parts import ContextPart, PartKind, parts_of, totals
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Logged, UserPrompt
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.session.compacting.controller import CompactionController
from ullage.session.conversation import Conversation
from ullage.session.history.cache_now import CacheNow, Miss, cache_now, misses
from ullage.session.history.places import item_of_message
from ullage.session.history.preview import title_of_entry
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import Gauge

Order: TypeAlias = Literal["largest", "newest", "oldest"]
Only: TypeAlias = Literal["pinned", "excluded", "untouched", "new"]
"""`untouched`: it has a file's text, and no later call touched that file. `new`: the prompt cache does not have it yet."""

MOST_TILES = 120
"""Of the parts that a picture shows one by one; the others are together by kind."""


@dataclass(frozen=True, slots=True)
class Query:
    """Which parts are wanted, and in which order. `text` is looked for in titles and paths, whatever its case."""

    order: Order = "largest"
    kind: PartKind | None = None
    only: Only | None = None
    text: str = ""
    offset: int = 0
    limit: int = 200
    draft: str = ""
    """What the user is typing: it counts with the next request."""


@dataclass(frozen=True, slots=True)
class Row:
    """A part with what a user sees of it. `title` is empty where its kind says all; `turns_ago` is None for what precedes the messages."""

    part: ContextPart
    title: str
    item_id: str | None
    turns_ago: int | None
    is_sent: bool
    """Whether the next request reads it from the prompt cache, while that is warm."""


@dataclass(frozen=True, slots=True)
class Kind:
    """All parts of one kind."""

    kind: PartKind
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextPage:
    """An answer. The tokens of all parts together are `used`, and so are those of `kinds`."""

    used: int
    threshold: int
    size: int
    guess: int
    """Of `used`, what is only estimated."""
    kinds: tuple[Kind, ...]
    largest: tuple[Row, ...]
    """Whatever is asked for; empty behind the first page, as `misses`."""
    total: int
    """How many parts fit the query."""
    rows: tuple[Row, ...]
    read_price: float | None
    """Dollars for a token that a request reads from the cache; None where the prices are not known."""
    write_price: float | None
    """The same where it is sent anew."""
    cache: CacheNow
    requests: int
    missed: int
    """Of `requests`, those that missed the cache."""
    misses: tuple[Miss, ...]
    """The newest of them, newest first."""


class ContextView:
    """Of one session. It keeps what it worked out last, so that another page costs little."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        controller: CompactionController,
        gauge: Callable[[], Gauge],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._controller = controller
        self._gauge = gauge
        self._requests = SentRequests(conversation.entries, conversation.projection.key_at)
        self._known: tuple[object, tuple[Row, ...]] | None = None

    def logged(self, logged: Logged) -> None:
        """An entry was logged."""
        self._requests.add(logged)

    async def look(self, query: Query) -> ContextPage:
        """The parts that are asked for, and how the cache stands."""
        full, card, is_first = self._controller.fullness(), self._model.card, query.offset == 0
        calibration, counted = self._surroundings.calibration(card), full.counted
        entries = self._conversation.projection.copy().entries if is_first else ()
        cache = self._cache(counted, calibration, query.draft)
        rows = await self._rows(counted, calibration)
        found = _picked(rows, query)
        return ContextPage(
            used=counted.used,
            threshold=full.threshold,
            size=full.window,
            guess=counted.guess,
            kinds=tuple(Kind(kind, count, tokens) for kind, (count, tokens) in totals(row.part for row in rows).items()),
            largest=tuple(sorted(rows, key=_size)[:MOST_TILES]) if is_first else (),
            total=len(found),
            rows=tuple(found[query.offset : query.offset + query.limit]),
            read_price=_for_one(card.cost(Usage(0, 0, cache_read_tokens=counted.used)), counted.used),
            write_price=_for_one(card.cost(Usage(0, 0, cache_write_5m_tokens=counted.used)), counted.used),
            cache=cache,
            requests=self._requests.count,
            missed=len(self._requests.misses),
            misses=await asyncio.to_thread(misses, self._requests, entries, card) if is_first else (),
        )

    def _cache(self, counted: Counted, calibration: Calibration, draft: str) -> CacheNow:
        more = prompt_tokens(UserPrompt("", draft), calibration) if draft.strip() else 0
        view, now = self._conversation.projection, self._conversation.clock()
        return cache_now(self._requests, view, self._model.card, counted.used + more, counted.fixed, self._gauge(), now)

    async def _rows(self, counted: Counted, calibration: Calibration) -> tuple[Row, ...]:
        """All parts, in the order of the request."""
        view, requests, timeline = self._conversation.projection.copy(), self._requests, self._conversation.timeline
        stamp = view.key, view.entries[-1].seq if view.entries else 0, counted, view.pins
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, await asyncio.to_thread(_rows_of, view, counted, calibration, requests, timeline)
        return self._known[1]


def _rows_of(view: Projection, counted: Counted, calibration: Calibration, requests: SentRequests, timeline: Timeline) -> tuple[Row, ...]:
    sent = _sent_up_to(view, requests)
    return tuple(_row(part, view, requests, timeline, sent) for part in parts_of(view, counted, calibration))


def _sent_up_to(view: Projection, requests: SentRequests) -> int:
    """The parts of the entries before this seq were in the newest request, as they are now. What precedes all messages is of entry 0."""
    newest = requests.newest
    if newest is None or not newest.cached or newest.key.prelude != view.key.prelude:
        return 0
    return newest.seq if stands(newest, view) else 1


def _row(part: ContextPart, view: Projection, requests: SentRequests, timeline: Timeline, sent: int) -> Row:
    if not part.seq:
        return Row(part, part.name, None, None, part.seq < sent)
    logged = view.entries[place_of(view.entries, part.seq)]
    title = part.name or title_of_entry(logged, timeline)
    return Row(part, title, item_of_message(logged.entry), requests.turns_since(part.seq), part.seq < sent)


def _picked(rows: Sequence[Row], query: Query) -> list[Row]:
    found = [row for row in rows if _fits(row, query)]
    match query.order:
        case "largest":
            found.sort(key=_size)
        case "newest":
            found.reverse()
        case "oldest":
            pass
    return found


def _fits(row: Row, query: Query) -> bool:
    part = row.part
    if query.kind is not None and part.kind != query.kind:
        return False
    match query.only:
        case "pinned" if not part.pinned:
            return False
        case "excluded" if not part.excluded:
            return False
        case "untouched" if part.touched_since is not False:
            return False
        case "new" if row.is_sent:
            return False
        case _:
            pass
    wanted = query.text.strip().casefold()
    return not wanted or any(wanted in text.casefold() for text in (row.title, *part.paths))


def _size(row: Row) -> int:
    return -row.part.tokens


def _for_one(dollars: float | None, tokens: int) -> float | None:
    return None if dollars is None or not tokens else dollars / tokens

"""The context view: what fills the window, part by part, what each part costs with every request, and how the prompt cache stands.

The figures are computed in `context/counting/` (`parts.py`, `cache_clock.py`). Here they get titles and items, and a page of them is picked
for a front end. `cache_now.py` has the dollars.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction.decide import Fullness
from ullage.context.counting.accounting import Counted, prompt_tokens
from ullage.context.counting.cache_clock import SentRequests, is_same_model
from ullage.context.counting.next_request import CommonPrefix, PlannedRequest
from ullage.context.counting.parts import ContextPart, KeptParts, PartKind, totals
from ullage.context.counting.tokens import Calibration, estimate_text
from ullage.context.entries import Logged, Notice, UserPrompt
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.models.model import ModelCard
from ullage.session.compacting.controller import CompactionController
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.history.cache_now import CacheNow, Miss, MissesTold, cache_now
from ullage.session.history.clearing import Clearing, Clears
from ullage.session.history.places import item_of_message
from ullage.session.history.preview import title_of_entry
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import Gauge

Order: TypeAlias = Literal["largest", "newest", "oldest"]
Only: TypeAlias = Literal["pinned", "excluded", "untouched", "new"]
"""`untouched`: it has a file's text, and no later call touched that file. `new`: the prompt cache does not have it yet."""

COUNTS_AHEAD = "count the parts of the context"
"""The name of the task that counts the parts ahead."""

AHEAD_FROM = 1_000
"""Messages in view from which the parts are counted ahead: fewer take some milliseconds."""

MOST_TILES = 120
"""Most parts that a picture shows one by one; the others are together by kind."""


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
class ContextRow:
    """A part with what a user sees of it. `title` is empty if the kind says all. `turns_ago` is None for what precedes the messages."""

    part: ContextPart
    title: str
    item_id: str | None
    turns_ago: int | None
    is_sent: bool
    """Whether the next request reads it from the prompt cache, while that is warm."""
    clearing: Clearing | None = None
    """What it would do to clear the result; None if the part has none that can be cleared by itself."""


@dataclass(frozen=True, slots=True)
class Kind:
    """All parts of one kind: how many they are, and their tokens together."""

    kind: PartKind
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextPage:
    """A page of the parts. The tokens of all parts together are `used`, and so are those of `kinds`."""

    used: int
    threshold: int
    size: int
    guess: int
    """The tokens of `used` that are only estimated."""
    kinds: tuple[Kind, ...]
    largest: tuple[ContextRow, ...]
    """The largest of all parts, whatever the query asks for. They are on the first page alone, and so are `misses`."""
    total: int
    """How many parts fit the query."""
    rows: tuple[ContextRow, ...]
    read_price: float | None
    """Dollars for a token that a request reads from the cache; None if the prices are not known."""
    write_price: float | None
    """Dollars for a token that is sent anew; None if the prices are not known."""
    cache: CacheNow
    requests: int
    missed: int
    """How many of the `requests` missed the cache."""
    misses: tuple[Miss, ...]
    """The newest requests that missed the cache, the newest first."""


class ContextView:
    """The context view of one session. It keeps what it worked out last, so that another page costs little."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        controller: CompactionController,
        gauge: Callable[[], Gauge],
        coming: Callable[[], Awaitable[tuple[Notice, ...]]],
        have_counted: Callable[[], None],
    ) -> None:
        """`coming` gives what the model will be told with the next prompt; `have_counted` asks the endpoint for what is only estimated."""
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._controller = controller
        self._gauge = gauge
        self._coming = coming
        self._have_counted = have_counted
        self._requests = SentRequests(conversation.entries, conversation.projection.key_at, surroundings.preludes_sent)
        self._misses = MissesTold()
        self._parts = KeptParts()
        self._known: tuple[object, _Looked] | None = None
        self._one_looks = threading.Lock()
        """Held while the parts are counted: a thread that nobody waits for any more may still be at it."""
        self._ahead: asyncio.Task[None] | None = None

    def logged(self, logged: Logged) -> None:
        """Takes in an entry that was logged."""
        self._requests.add(logged)

    def look_ahead(self) -> None:
        """Counts the parts of a long session in the background, once it was opened, so that the first look costs no more."""
        if len(self._conversation.projection.messages) >= AHEAD_FROM:
            self._ahead = asyncio.get_running_loop().create_task(self._count_ahead(), name=COUNTS_AHEAD)

    async def _count_ahead(self) -> None:
        with in_any_case("the parts of the context could not be counted ahead"):
            calibration, view = self._surroundings.calibration(self._model.card), self._conversation.projection.copy()
            await asyncio.to_thread(self._look, view, self._controller.fullness().counted, calibration)

    async def close(self) -> None:
        """Stops counting ahead."""
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.gather(self._ahead, return_exceptions=True)

    async def look(self, query: Query) -> ContextPage:
        """The parts that are asked for, and how the cache stands now."""
        told = await self._coming()
        full, card = self._controller.fullness(), self._model.card
        calibration, counted = self._surroundings.calibration(card), full.counted
        cache = self._cache(counted, calibration, query.draft, told)
        newest = self._requests.newest
        if not query.offset and newest is not None and is_same_model(newest.model, card.name):  # it has seen this conversation before
            self._have_counted()
        view = self._conversation.projection.copy()
        return await asyncio.to_thread(lambda: self._page(self._look(view, counted, calibration), query, full, card, cache))

    def _page(self, looked: _Looked, query: Query, full: Fullness, card: ModelCard, cache: CacheNow) -> ContextPage:
        counted, is_first = full.counted, query.offset == 0
        found = _picked(looked, query)
        read, write = card.cost(Usage(0, 0, cache_read_tokens=counted.used)), card.cost(Usage(0, 0, cache_write_5m_tokens=counted.used))
        prices = _for_one(read, counted.used), _for_one(write, counted.used)
        clears = Clears(looked.view, looked.parts, looked.is_sent, prices)
        largest = nsmallest(MOST_TILES, looked.parts, key=_size) if is_first else ()
        return ContextPage(
            used=counted.used,
            threshold=full.threshold,
            size=full.window,
            guess=counted.guess,
            kinds=tuple(Kind(kind, count, tokens) for kind, (count, tokens) in totals(looked.parts).items()),
            largest=tuple(map(looked.row, largest)),
            total=len(found),
            rows=tuple(looked.row(part, clears.of(part)) for part in found[query.offset : query.offset + query.limit]),
            read_price=prices[0],
            write_price=prices[1],
            cache=cache,
            requests=self._requests.count,
            missed=len(self._requests.misses),
            misses=self._misses.of(self._requests, looked.view.entries, card) if is_first else (),
        )

    def _cache(self, counted: Counted, calibration: Calibration, draft: str, told: Sequence[Notice]) -> CacheNow:
        view, card = self._conversation.projection, self._model.card
        more = prompt_tokens(UserPrompt("", draft), calibration) if draft.strip() else 0
        more += calibration.of_new(sum(estimate_text(notice.text) for notice in told))
        used, blocks = counted.used + more, 1 + len(told)
        asking = PlannedRequest(card.name, card.effort or "default", card.minimum_cached, used, counted.fixed, blocks, calibration)
        return cache_now(self._requests, view, card, asking, self._gauge(), self._conversation.clock())

    def _look(self, view: Projection, counted: Counted, calibration: Calibration) -> _Looked:
        stamp = view.key, view.entries[-1].seq if view.entries else 0, counted, view.pins
        with self._one_looks:
            if self._known is None or self._known[0] != stamp:
                parts = self._parts.of(view, counted, calibration)
                self._known = stamp, _Looked(view, parts, _sent_up_to(view, self._requests), self._requests, self._conversation.timeline)
            return self._known[1]


@dataclass(frozen=True, slots=True)
class _Looked:
    """All parts at one moment, in the order of the request. Rows are made only of those that are asked for."""

    view: Projection
    parts: tuple[ContextPart, ...]
    sent: int
    """The parts of the entries before this seq were in the newest request, as they are now. What precedes all messages is of entry 0."""
    requests: SentRequests
    timeline: Timeline

    def row(self, part: ContextPart, clearing: Clearing | None = None) -> ContextRow:
        """A part with what a user sees of it."""
        if not part.seq:
            return ContextRow(part, part.name, None, None, self.is_sent(part))
        item_id = item_of_message(self._logged(part).entry)
        return ContextRow(part, self.title(part), item_id, self.requests.turns_since(part.seq), self.is_sent(part), clearing)

    def title(self, part: ContextPart) -> str:
        """The title of a part; empty if its kind says all."""
        if part.call is not None:
            return self.timeline.title_for(part.call)
        return part.name if part.name or not part.seq else title_of_entry(self._logged(part), self.timeline)

    def is_sent(self, part: ContextPart) -> bool:
        """Whether the newest request held the part as it is now."""
        return part.seq < self.sent

    def _logged(self, part: ContextPart) -> Logged:
        return self.view.entries[place_of(self.view.entries, part.seq)]


def _sent_up_to(view: Projection, requests: SentRequests) -> int:
    newest = requests.newest
    if newest is None or not newest.cached or newest.key.prelude != view.key.prelude:
        return 0
    return newest.seq if CommonPrefix(view).holds(newest) else 1


def _picked(looked: _Looked, query: Query) -> list[ContextPart]:
    found = [part for part in looked.parts if _fits(part, query, looked)]
    match query.order:
        case "largest":
            found.sort(key=_size)
        case "newest":
            found.reverse()
        case "oldest":
            pass
    return found


def _fits(part: ContextPart, query: Query, looked: _Looked) -> bool:
    if query.kind is not None and part.kind != query.kind:
        return False
    match query.only:
        case "pinned" if not part.pinned:
            return False
        case "excluded" if not part.excluded:
            return False
        case "untouched" if part.touched_since is not False:
            return False
        case "new" if looked.is_sent(part):
            return False
        case _:
            pass
    wanted = query.text.strip().casefold()
    return not wanted or any(wanted in text.casefold() for text in (looked.title(part), *part.paths))


def _size(part: ContextPart) -> int:
    return -part.tokens


def _for_one(dollars: float | None, tokens: int) -> float | None:
    return None if dollars is None or not tokens else dollars / tokens

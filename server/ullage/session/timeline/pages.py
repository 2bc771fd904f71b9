"""The items of one timeline, in order. Only the newest are in memory: older ones are made from the log again where somebody asks for them.

A page is what a stretch of the log shows. What that alone does not tell is kept beside it: items that the log does not have, and those that
something later in it changed.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeAlias

from ullage.session.timeline.items import CompactionItem, Item, ToolCallItem, UserItem

CACHED = 4
"""How many pages that were asked for lately stay in memory."""
_PAGE_BITS = 20
"""How many bits of a noted place are the page's; the others are of the item's id."""
_HASH = (1 << 63 - _PAGE_BITS) - 1

STRETCH, LONGEST_STRETCH = 64, 256
"""How many entries of the log leave memory together: the first number and those up to the next prompt or reply, but no more than the
second."""
NEWEST = 400
"""How many items at the end stay in memory: more than a panel shows at first."""
UNLOGGED = 50
"""Most items of a stretch that the log does not have; with more of them it stays in memory."""

PAGE_CHARACTERS = 2_000_000
"""Most characters of the items of one answer: writing it down takes some 20 ms."""

Stretch: TypeAlias = tuple[int, int, bool]
"""A stretch of the log: from one index to another, which is not included; and whether the user was told of dropped thinking before."""


@dataclass(slots=True)
class _Page:
    stretch: Stretch
    count: int
    """How many items the page has."""
    instead: dict[str, Item] = field(default_factory=dict[str, Item])
    """The items that are not as the log alone would have them, by id."""
    gone: set[str] = field(default_factory=set[str])
    """The ids of items that the log alone would show and that are not there."""
    order: tuple[str, ...] | None = None
    """The ids in their order, if the log alone would show them in another one; else None."""


class KeptItems:
    """The items of one timeline. `fold` makes what a stretch of the log alone shows, in order."""

    def __init__(self, fold: Callable[[Stretch], Mapping[str, Item]]) -> None:
        self.newest: dict[str, Item] = {}
        """The items in memory by id, in their order."""
        self._older = ItemPages(fold)

    def told(self, *, begins: bool, fixed: Collection[str], told_of_thinking: bool) -> bool:
        """Tells that one more entry comes; gives whether items left memory for it. The arguments are those of `ItemPages.told`."""
        return self._older.told(self.newest, begins=begins, fixed=fixed, told_of_thinking=told_of_thinking)

    def get(self, item_id: str) -> Item | None:
        """The item with that id; None if there is none."""
        found = self.newest.get(item_id)
        return self._older.get(item_id) if found is None else found

    def put(self, item: Item) -> None:
        """Takes in an item, or what has become of it. A new one stands after all others."""
        if item.id in self.newest or not self._older.put(item):
            self.newest[item.id] = item

    def remove(self, item_id: str) -> bool:
        """Takes an item away; False if there is none."""
        return self.newest.pop(item_id, None) is not None or self._older.remove(item_id)

    def page(self, limit: int) -> tuple[tuple[Item, ...], int]:
        """The newest items, the oldest of them first, and how many there are before them. They are fewer than `limit` if they are long."""
        items = page_of(islice(chain(reversed(self.newest.values()), self._older.backwards()), limit))
        return items[::-1], len(self.newest) + self._older.count - len(items)

    def page_before(self, item_id: str, limit: int) -> tuple[tuple[Item, ...], int]:
        """The items before that one, the oldest first, and how many precede them. Raises `KeyError` for an unknown id."""
        before = self._before(item_id)
        if before is None:
            raise KeyError(item_id)
        items = page_of(islice(before[0], limit))
        return items[::-1], before[1] - len(items)

    def _before(self, item_id: str) -> tuple[Iterator[Item], int] | None:
        if item_id not in self.newest:
            return self._older.before(item_id)
        later = 1 + next(index for index, each in enumerate(reversed(self.newest)) if each == item_id)
        items = chain(islice(reversed(self.newest.values()), later, None), self._older.backwards())
        return items, len(self.newest) - later + self._older.count

    def stretch_of(self, item_id: str) -> tuple[int, int]:
        """The indices of the log between which the item is told of, the second not included; both 0 if there is no such item."""
        return self._older.near_newest() if item_id in self.newest else self._older.near(item_id)

    @property
    def kept(self) -> int:
        """How many items are in memory."""
        return len(self.newest) + self._older.kept


class ItemPages:
    """The older items of one timeline. `fold` makes what a stretch of the log alone shows, in order."""

    def __init__(self, fold: Callable[[Stretch], Mapping[str, Item]], cached: int = CACHED) -> None:
        self._fold = fold
        self._cached = cached
        self._pages: list[_Page] = []
        self._places = _Places()
        self._lock = threading.Lock()
        self._lately: OrderedDict[int, dict[str, Item]] = OrderedDict()
        self.count = 0
        """How many items there are."""
        self._logged = 0
        """How many entries the timeline was told of."""
        self._stretches: list[tuple[int, bool]] = [(0, False)]
        """The indices at which the stretches begin whose items have not left memory, and for each whether the user was told of dropped
        thinking by then."""

    def told(self, newest: dict[str, Item], *, begins: bool, fixed: Collection[str], told_of_thinking: bool) -> bool:
        """Tells that one more entry comes; gives whether items left memory, which are then no longer among the `newest`.

        `begins`: that entry may begin a stretch. `fixed`: ids of items that may still change from moment to moment.
        """
        begun = self._logged - self._stretches[-1][0]
        left = False
        if begun >= (STRETCH if begins else LONGEST_STRETCH):
            self._stretches.append((self._logged, told_of_thinking))
            while len(newest) > NEWEST and len(self._stretches) > 2 and self._let_go(newest, fixed):
                left = True
        self._logged += 1
        return left

    def _let_go(self, newest: dict[str, Item], fixed: Collection[str]) -> bool:
        stretch = self._stretches[0][0], self._stretches[1][0], self._stretches[0][1]
        shown = self._fold(stretch)
        there = sum(item_id in newest for item_id in shown)
        items: dict[str, Item] = {}
        for item_id, item in islice(newest.items(), there + UNLOGGED):
            if not there:
                break
            items[item_id] = item
            there -= item_id in shown
        queued = any(isinstance(item, UserItem) and item.queued for item in items.values())
        if there or queued or len(newest) - len(items) < NEWEST or any(item_id in items for item_id in fixed):
            return False
        del self._stretches[0]
        self.add(stretch, shown, items)
        for item_id in items:
            del newest[item_id]
        return True

    def add(self, stretch: Stretch, shown: Mapping[str, Item], items: Mapping[str, Item]) -> None:
        """Adds the next page, with `items` in their order. `shown` is what the stretch alone shows."""
        page = _Page(stretch, len(items))
        page.instead = {id: item for id, item in items.items() if shown.get(id) != item}
        page.gone = set(shown.keys() - items.keys())
        if [*items] != [id for id in shown if id in items]:
            page.order = tuple(items)
        self._places.add(len(self._pages), items.keys())
        self._pages.append(page)
        self.count += len(items)

    def get(self, item_id: str) -> Item | None:
        """The item with that id; None if none here has it."""
        found = self._find(item_id)
        return None if found is None else self._items(found)[item_id]

    def put(self, item: Item) -> bool:
        """Takes in what has become of an item; False if none here has that id."""
        found = self._find(item.id)
        if found is None:
            return False
        self._pages[found].instead[item.id] = item
        self._forget(found)
        return True

    def remove(self, item_id: str) -> bool:
        """Takes an item away; False if none here has that id."""
        found = self._find(item_id)
        if found is None:
            return False
        page = self._pages[found]
        page.instead.pop(item_id, None)
        page.gone.add(item_id)
        page.count -= 1
        self.count -= 1
        self._forget(found)
        return True

    def backwards(self) -> Iterator[Item]:
        """All items, the newest first."""
        for number in range(len(self._pages) - 1, -1, -1):
            yield from reversed(self._items(number).values())

    def before(self, item_id: str) -> tuple[Iterator[Item], int] | None:
        """The items before that one, the newest first, and how many they are; None if none here has that id."""
        found = self._find(item_id)
        if found is None:
            return None
        items = self._items(found)
        index = [*items].index(item_id)

        def older() -> Iterator[Item]:
            yield from reversed([*items.values()][:index])
            for number in range(found - 1, -1, -1):
                yield from reversed(self._items(number).values())

        return older(), index + sum(page.count for page in self._pages[:found])

    def near(self, item_id: str) -> tuple[int, int]:
        """The indices of the log between which an item here is told of, the second not included; both 0 if none here has that id."""
        found = self._find(item_id)
        if found is None:
            return 0, 0
        first, stop, _ = self._pages[found].stretch
        return max(first - LONGEST_STRETCH, 0), min(stop + LONGEST_STRETCH, self._logged)

    def near_newest(self) -> tuple[int, int]:
        """The indices of the log between which the items that have not left memory are told of, the second not included."""
        return max(self._stretches[0][0] - LONGEST_STRETCH, 0), self._logged

    @property
    def kept(self) -> int:
        """How many of these items are in memory all the same."""
        return sum(len(page.instead) for page in self._pages) + sum(map(len, self._lately.values()))

    def _find(self, item_id: str) -> int | None:
        return next((number for number in self._places.of(item_id) if item_id in self._items(number)), None)

    def _items(self, number: int) -> dict[str, Item]:
        with self._lock:
            if number in self._lately:
                self._lately.move_to_end(number)
                return self._lately[number]
        page = self._pages[number]
        items = {**self._fold(page.stretch), **page.instead}
        found = {id: items[id] for id in page.order or items if id in items and id not in page.gone}
        with self._lock:
            self._lately[number] = found
            while len(self._lately) > self._cached:
                self._lately.popitem(last=False)
        return found

    def _forget(self, number: int) -> None:
        with self._lock:
            self._lately.pop(number, None)


def page_of(items: Iterable[Item]) -> tuple[Item, ...]:
    """The first of the items: as many as have no more than `PAGE_CHARACTERS` together, and at least one."""
    page: list[Item] = []
    characters = 0
    for item in items:
        characters += characters_of(item)
        if page and characters > PAGE_CHARACTERS:
            break
        page.append(item)
    return tuple(page)


def characters_of(item: Item) -> int:
    """How many characters the long texts of an item have."""
    match item:
        case ToolCallItem():
            diff = len(item.diff.old_text) + len(item.diff.new_text) if item.diff else 0
            return len(item.input) + len(item.output) + diff
        case CompactionItem():
            return len(item.summary)
        case _:
            return len(item.text)


class _Places:
    """The pages in which an id may be, in eight bytes for each id: a page that is found may turn out not to have it."""

    def __init__(self) -> None:
        self._sorted: list[array[int]] = []
        """The sorted places, in arrays of which each is some times as long as the one after it."""

    def add(self, page: int, ids: Collection[str]) -> None:
        """Notes that the page with that number has these ids."""
        new = array("q", sorted((hash(id) & _HASH) << _PAGE_BITS | page for id in ids))
        while self._sorted and len(self._sorted[-1]) < 4 * len(new):
            new = array("q", sorted(self._sorted.pop() + new))
        self._sorted.append(new)

    def of(self, item_id: str) -> Iterator[int]:
        """The numbers of the pages that may have the item."""
        first = (hash(item_id) & _HASH) << _PAGE_BITS
        for places in self._sorted:
            at = bisect_left(places, first)
            while at < len(places) and places[at] >> _PAGE_BITS == first >> _PAGE_BITS:
                yield places[at] & ((1 << _PAGE_BITS) - 1)
                at += 1

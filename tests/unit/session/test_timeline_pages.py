"""A timeline of which only the newest items are in memory shows what one shows that has them all."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.strategies import histories
from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionUndone, Summarised
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.session.history.places import entry_of_item
from ullage.session.timeline.items import CompactionItem, Item, NoticeItem, UserItem
from ullage.session.timeline.pages import CACHED, LONGEST_STRETCH, NEWEST, STRETCH
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import Update
from ullage.tools.tool import ToolKind


def describe(name: str, input: Mapping[str, Json]) -> tuple[str, ToolKind]:
    return f"{name} {len(input)}", "read"


class Pair:
    """A timeline with pages, and one without, that are told the same."""

    def __init__(self) -> None:
        self.log: list[Logged] = []
        self.reads = 0
        self.told: list[Update] = []
        self.told_whole: list[Update] = []
        self.paged = Timeline(describe, self.told.append, log=self._log)
        self.whole = Timeline(describe, self.told_whole.append)

    def _log(self) -> list[Logged]:
        self.reads += 1
        return self.log

    def add(self, entry: Entry) -> None:
        """One more entry."""
        logged = Logged(len(self.log) + 1, float(len(self.log)), entry)
        self.log.append(logged)
        for each in (self.paged, self.whole):
            each.log(logged)

    def put(self, item: Item) -> None:
        """An item that the log does not have."""
        for each in (self.paged, self.whole):
            each.put(item)

    def check(self, limit: int) -> None:
        """They show the same, from wherever one looks."""
        items, _ = self.whole.newest(10_000)
        assert self.paged.newest(10_000) == (items, 0)
        assert self.paged.newest(limit) == self.whole.newest(limit)
        for item in items:
            assert self.paged.get(item.id) == item
            assert self.paged.before(item.id, limit) == self.whole.before(item.id, limit)
        assert self.told == self.told_whole
        assert self.paged.plan == self.whole.plan
        with pytest.raises(KeyError):
            self.paged.before("nothing", 3)


def with_ids(entries: list[Entry]) -> list[Entry]:
    """The same with ids of their own, as those of a session are."""
    calls: dict[str, str] = {}
    renamed: list[Entry] = []
    for number, entry in enumerate(entries):
        match entry:
            case UserPrompt():
                renamed.append(replace(entry, id=f"p{number}"))
            case AssistantReply(blocks=blocks):
                calls |= {each.id: f"{each.id}-{number}" for each in blocks if isinstance(each, ToolUse)}
                own = tuple(replace(each, id=calls[each.id]) if isinstance(each, ToolUse) else each for each in blocks)
                renamed.append(replace(entry, id=f"r{number}", blocks=own))
            case ToolReturned(tool_use_id=called):
                renamed.append(replace(entry, tool_use_id=calls.get(called, called)))
            case _:
                renamed.append(entry)
    return renamed


@contextmanager
def small_pages() -> Generator[None]:
    """Next to nothing stays in memory."""
    with patch.multiple("ullage.session.timeline.pages", STRETCH=2, LONGEST_STRETCH=4, NEWEST=3, UNLOGGED=3):
        yield


@given(st.lists(histories(), max_size=3), st.data())
def test_it_shows_what_one_without_pages_shows(logs: list[list[Logged]], data: st.DataObject):
    with small_pages():
        pair = Pair()
        for number, entry in enumerate(with_ids([each.entry for log in logs for each in log])):
            aside = data.draw(st.sampled_from(["", "", "", "notice", "queued", "removed", "changed"]))
            if aside == "notice":
                pair.put(NoticeItem(f"a{number}", 0.0, "info", "Typed"))
            elif aside == "queued":
                pair.put(UserItem(f"q{number}", 0.0, "Later", (), True))
            elif aside in ("removed", "changed") and (items := pair.whole.newest(100)[0]):
                chosen = data.draw(st.sampled_from(items))
                if aside == "changed":
                    pair.put(NoticeItem(chosen.id, 1.0, "warning", "Another"))
                elif chosen.id.startswith(("a", "q")):
                    pair.paged.remove(chosen.id)
                    pair.whole.remove(chosen.id)
            pair.add(entry)
        pair.check(data.draw(st.integers(1, 5)))


def turn(number: int) -> list[Entry]:
    """A prompt, a call, and an answer."""
    call = ToolUse(f"t{number}", "read_file", {"path": "a.py"})
    return [
        UserPrompt(f"p{number}", f"Question {number}"),
        AssistantReply(f"r{number}", (Text("I look."), call), "practice", "tool_use", None),
        ToolReturned(f"t{number}", "read_file", "text " * 20, is_error=False, characters=100),
        AssistantReply(f"s{number}", (Text(f"Answer {number}"),), "practice", "end_turn", None),
        TurnEnded("end_turn"),
    ]


def record(number: int) -> Compaction:
    """A compaction after that turn."""
    told = Summarised(5 * number, f"Record {number}", 10)
    return Compaction(f"c{number}", "threshold", "digest", 5 * number, (), None, told, (), "", "", "ullage", 0, 0)


@pytest.mark.parametrize("turns", [600, 2_400])
def test_few_items_are_in_memory_however_many_turns_there_were(turns: int):
    pair = Pair()
    for number in range(turns):
        for entry in turn(number):
            pair.add(entry)
        assert pair.paged.kept <= NEWEST + 3 * STRETCH
    last, before = pair.paged.newest(200)
    while before:
        page, before = pair.paged.before(last[0].id, 200)
        last = page
        assert pair.paged.kept <= NEWEST + 3 * STRETCH + CACHED * LONGEST_STRETCH
    assert last[0].id == "p0"


def test_what_is_new_reads_nothing_of_what_is_old():
    pair = Pair()
    for number in range(400):
        for entry in turn(number):
            pair.add(entry)
    reads = pair.reads
    for entry in turn(400)[:4]:
        pair.add(entry)
    assert pair.reads - reads <= 1, "but for those that leave memory"
    pair.paged.newest(200)
    assert pair.paged.get("toolu_of_a_new_call") is None
    assert pair.reads - reads <= 1


def test_it_is_known_where_in_the_log_an_item_is():
    pair = Pair()
    for number in range(300):
        for entry in turn(number):
            pair.add(entry)
    for item in pair.whole.newest(2_000)[0]:
        start, stop = pair.paged.stretch_of(item.id)
        assert entry_of_item(pair.log[start:stop], item.id) == entry_of_item(pair.log, item.id) is not None
    assert pair.paged.stretch_of("nothing") == (0, 0)


def test_a_compaction_of_long_ago_shows_as_undone():
    pair = Pair()
    for number in range(300):
        for entry in [*turn(number), *([record(number)] if number == 20 else [])]:
            pair.add(entry)
    pair.add(CompactionUndone("c20"))
    shown = pair.paged.get("c20")
    assert isinstance(shown, CompactionItem)
    assert shown.status == "undone"
    assert pair.paged.newest(5_000) == pair.whole.newest(5_000)


def test_a_result_of_long_ago_shows_as_clipped():
    pair = Pair()
    for number in range(300):
        for entry in turn(number):
            pair.add(entry)
    seq = next(logged.seq for logged in pair.log if isinstance(logged.entry, ToolReturned))
    pair.add(Clipped(seq, "shorter", "out.txt"))
    assert pair.paged.newest(5_000) == pair.whole.newest(5_000)


def test_a_session_that_is_opened_shows_the_same():
    entries = [Logged(seq, float(seq), entry) for seq, entry in enumerate((e for n in range(300) for e in turn(n)), 1)]
    paged, whole = Timeline(describe, lambda _: None, entries, log=lambda: entries), Timeline(describe, lambda _: None, entries)
    assert paged.kept < 1_000
    assert paged.newest(5_000) == whole.newest(5_000)

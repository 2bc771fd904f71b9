"""A log of which most lies with a store reads as one that is all in memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.context.logs import compaction, log, prompt, says
from tests.unit.context.strategies import histories, planned_histories
from ullage.context.compaction_entries import CompactionRedone, CompactionUndone, Summarised
from ullage.context.engines.engine import Covered
from ullage.context.entries import Entry, EntryPinned, FilePinned, Logged
from ullage.context.moves.cheap import messages_in
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.fates import fates, touches_in_view
from ullage.context.view.log_places import PAGE, joined, place_of, said_of
from ullage.context.view.paged_log import CACHED, LOST, NEWEST, Log
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import is_anything_excluded, log_without_excluded, without_excluded


class Shelf:
    """Where entries lie that are not in memory."""

    def __init__(self, entries: Sequence[Logged]) -> None:
        self.entries = list(entries)
        self.reads = 0

    def read(self, first: int, last: int) -> list[Logged]:
        """Those between the seqs."""
        self.reads += 1
        return [logged for logged in self.entries if first <= logged.seq <= last]


def small(shelf: Shelf, page: int = 3) -> Log:
    """A log that keeps next to nothing."""
    return Log(read=shelf.read, page=page, newest=page, cached=1)


def gone(entries: Sequence[Logged], page: int = 3) -> Log:
    """The log with all but the newest out of memory."""
    kept = small(Shelf(entries), page)
    for logged in entries:
        kept.append(logged)
    kept.let_go([(0, entries[-1].seq)] if entries else [])
    return kept


def with_gaps(entries: Sequence[Logged], left_out: Sequence[int]) -> list[Logged]:
    """The entries but for those at these places."""
    return [logged for index, logged in enumerate(entries) if index not in left_out]


@given(histories(), st.lists(st.integers(0, 40), max_size=5), st.integers(1, 5), st.data())
def test_it_reads_as_a_list(entries: list[Logged], left_out: list[int], page: int, data: st.DataObject):
    entries = with_gaps(entries, left_out)
    paged = gone(entries, page)
    start, stop = data.draw(st.integers(-40, 40)), data.draw(st.integers(-40, 40))
    assert paged == entries
    assert [*paged[start:stop]] == entries[start:stop]
    assert [*paged[1:][start:stop]] == entries[1:][start:stop]
    assert [*reversed(paged)] == entries[::-1]
    assert [paged[index] for index in range(-len(entries), len(entries))] == [*entries, *entries]
    assert [place_of(paged, seq) for seq in range(50)] == [place_of(entries, seq) for seq in range(50)]
    assert sum(said_of(paged[1:], len)) == max(len(entries) - 1, 0)
    assert messages_in(paged[start:]) == messages_in(entries[start:])
    assert [*joined(paged[:3], paged[3:])] == entries


@given(planned_histories())
def test_a_view_is_the_same_and_so_is_all_that_is_told_of_it(entries: list[Logged]):
    shelf = Shelf(entries)
    paged, whole = Projection((), small(shelf)), Projection()
    for logged in entries:
        paged.append(logged)
        whole.append(logged)
        assert paged.key == whole.key
        assert [*paged.complete_messages] == [*whole.complete_messages]
        assert paged.active_by_seq == whole.active_by_seq
        assert paged.pinned_entries == whole.pinned_entries
        assert touches_in_view(paged) == touches_in_view(whole)
    assert fates(paged) == fates(whole)
    assert paged.entries == entries


@given(histories())
def test_a_view_of_any_log_is_the_same(entries: list[Logged]):
    paged = Projection((), small(Shelf(entries), 2))
    for end, logged in enumerate(entries, 1):
        paged.append(logged)
        assert [*paged.messages] == [*Projection(entries[:end]).messages]
    assert [*Projection(entries, small(Shelf(entries))).messages] == [*paged.messages]


@given(planned_histories())
def test_a_record_of_it_is_the_same(entries: list[Logged]):
    paged, whole = Projection(entries, small(Shelf(entries))), Projection(entries)
    if is_anything_excluded(whole):
        assert log_without_excluded(paged, paged.entries[:]) == without_excluded(whole, entries)
    plan = Plan(entries[-1].seq, (), None, entries[-1].seq, 0, 0)
    records = (
        ULLAGE.engine.summarise(Covered(log_without_excluded(each, each.entries[:]), plan, None, "", 9_000)).text for each in (paged, whole)
    )
    assert next(records) == next(records)


@given(planned_histories(), st.integers(0, 40))
def test_a_copy_goes_on_by_itself(entries: list[Logged], cut: int):
    paged = Projection(entries[:cut], small(Shelf(entries)))
    ahead = paged.copy()
    for number in range(5):  # of which the store has none
        ahead.append(Logged(1_000 + number, 0.0, prompt("What if")))
    sum(said_of(ahead.entries, len))
    for logged in entries[cut:]:
        paged.append(logged)
    assert len(ahead.entries) == len(entries[:cut]) + 5
    assert [*paged.messages] == [*Projection(entries).messages]
    assert sum(said_of(paged.entries, len)) == len(entries)


def summarised_turns(turns: int) -> list[Logged]:
    """A session of so many turns, of which each tenth is followed by a summary of all but the newest."""
    entries: list[Entry] = []
    for turn in range(turns):
        entries += [prompt(f"Question {turn}"), says(f"Answer {turn}")]
        if turn % 10 == 9:
            entries.append(compaction(f"c{turn}", summarised=Summarised(len(entries) - 4, f"Record {turn}", 10)))
    return log(*entries)


@pytest.mark.deep
@pytest.mark.parametrize("turns", [2_000, many(3_000, deep=6_000)])
def test_few_entries_are_in_memory_however_many_turns_there_were(turns: int):
    entries = summarised_turns(turns)
    shelf = Shelf(entries)
    paged = Log(read=shelf.read)
    view = Projection((), paged)
    for logged in entries:
        view.append(logged)
        assert len([*view.in_memory]) <= NEWEST + 2 * PAGE
    assert shelf.reads == 0, "a turn reads nothing"
    shelf.entries = shelf.entries[:2_000]
    assert sum(1 for _ in paged[:1_900]) == 1_900
    assert paged.kept <= NEWEST + (2 + CACHED) * PAGE


def test_an_epoch_has_no_texts_but_those_in_view():
    view = Projection(summarised_turns(200))
    assert [made.id for made in view.active if made.summarised is not None and made.summarised.text] == ["c199"]
    view.append(Logged(len(view.entries) + 1, 0.0, CompactionUndone("c199")))
    [shown] = [made for made in view.active if made.summarised is not None and made.summarised.text]
    assert shown.summarised is not None
    assert (shown.id, shown.summarised.text) == ("c189", "Record 189")


def test_all_compactions_can_be_undone_and_made_again():
    entries = summarised_turns(60)
    changes = [CompactionUndone(f"c{turn}") for turn in range(59, 0, -10)] + [CompactionRedone(f"c{turn}") for turn in range(9, 60, 10)]
    after = [Logged(len(entries) + number, 0.0, change) for number, change in enumerate(changes, 1)]
    paged, whole = Projection(entries, small(Shelf(entries + after))), Projection(entries)
    before = [*whole.messages]
    for logged in after:
        paged.append(logged)
        whole.append(logged)
        assert [*paged.messages] == [*whole.messages]
    assert [*paged.messages] == before


def test_a_pin_of_long_ago_stays():
    entries = summarised_turns(60)
    pins = [EntryPinned(3, True), FilePinned("a.py", True)]
    after = [Logged(len(entries) + number, 0.0, pin) for number, pin in enumerate(pins, 1)]
    paged = Projection(entries, small(Shelf(entries)))
    for logged in after:
        paged.append(logged)
    assert paged.pinned_entries == {3}


@pytest.mark.parametrize("lost", [{1}, {3}, {4, 5, 6}, {2, 7}, set(range(1, 31))])
def test_what_can_no_longer_be_read_says_nothing_and_the_rest_is_where_it_was(lost: set[int]):
    entries = summarised_turns(20)
    left = Shelf([logged for logged in entries if logged.seq not in lost])
    paged = Log(entries, left.read, page=3, newest=3, cached=1)
    paged.let_go([(0, entries[-1].seq)])
    assert [logged.seq for logged in paged] == [logged.seq for logged in entries]
    assert all(paged[index] == logged for index, logged in enumerate(entries) if logged.seq not in lost)
    there = {logged.seq for logged in paged.in_memory}
    assert {logged.seq for logged in paged if logged.entry == LOST} == lost - there


def test_what_is_in_view_stays_in_memory():
    entries = log(*(prompt(f"Question {turn}") for turn in range(40)))
    shelf = Shelf(entries)
    view = Projection(entries, small(shelf))
    assert [*view.entries] == entries
    assert shelf.reads == 0

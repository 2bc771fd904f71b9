"""What a long log costs once most of it gave way to a summary: what is left, and not what was."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.context.logs import compaction, log, prompt, says
from tests.unit.context.watched_log import Watched
from ullage.context.entries import Compaction, EntryPinned, FileTouch, Logged, Summarised, ToolReturned
from ullage.context.view.edits import Replacement, applied, edits_of
from ullage.context.view.log_places import clipped_to, entry_at, place_of
from ullage.context.view.pins import pins
from ullage.context.view.projection import Projection
from ullage.context.view.seen import touches_in_view

LEFT = 10


def summarised_log(turns: int, carried: Sequence[int] = ()) -> Watched:
    """A log of so many turns, all but the last few of them summarised."""
    entries = [entry for turn in range(turns) for entry in (prompt(f"Question {turn}"), says(f"Answer {turn}"))]
    told = Summarised(2 * turns - LEFT, "The record.", 2 * turns - LEFT, carried=tuple(carried))
    return Watched(log(*entries, compaction("c1", summarised=told)))


def folded(entries: Watched) -> list[int]:
    """The seqs of what a fold is made of."""
    made = entries[-1].entry
    assert isinstance(made, Compaction)
    edits = edits_of({len(entries): made})
    return [piece.source if isinstance(piece, Replacement) else piece.seq for piece in applied(edits, entries)]


@pytest.mark.parametrize("carried", [(), (3, 4)])
def test_a_fold_looks_at_what_is_left(carried: tuple[int, ...]):
    looks: list[int] = []
    for turns in (20, 2_000):
        entries = summarised_log(turns, carried)
        entries.looks = 0
        assert folded(entries) == [len(entries), *carried, *range(len(entries) - LEFT, len(entries) + 1)]
        looks.append(entries.looks)
    assert looks[0] == looks[1]


def test_what_is_in_view_of_files_is_found_without_looking_through_the_log():
    looks: list[int] = []
    for turns in (20, 2_000):
        projection = Projection(summarised_log(turns))
        watched = projection._entries = Watched(projection.entries)  # pyright: ignore[reportPrivateUsage]
        watched.looks = 0
        assert touches_in_view(projection) == list[FileTouch]()
        looks.append(watched.looks)
    assert looks[0] == looks[1]


def test_what_is_pinned_is_known_without_looking_through_the_log():
    entries = [*summarised_log(5), Logged(12, 0.0, EntryPinned(3, True))]
    projection = Projection(entries)
    assert projection.pins == pins(entries)
    projection.append(Logged(13, 0.0, EntryPinned(3, False)))
    before = projection.pins
    projection.append(Logged(14, 0.0, prompt("More")))
    assert projection.pins is before
    assert not before


@pytest.mark.parametrize("gap", [0, 7])
def test_an_entry_is_found_in_a_log_with_and_without_gaps(gap: int):
    entries = [Logged(seq if seq < 5 else seq + gap, 0.0, prompt(f"{seq}")) for seq in range(1, 10)]
    assert [entry_at(entries, logged.seq) for logged in entries] == [logged.entry for logged in entries]
    assert entry_at(entries, 0) is None
    assert entry_at(entries, 99) is None
    assert place_of(entries, 99) == len(entries)
    if gap:
        assert entry_at(entries, 6) is None
        assert place_of(entries, 6) == 4


def test_a_result_that_nothing_shortened():
    result = ToolReturned("t1", "read_file", "text", is_error=False, characters=4)
    assert clipped_to(log(result, prompt("More"), says("Yes")), 1) is None

"""What a long log costs once most of it gave way to a summary: what is left, and not what was."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.context.logs import compaction, log, prompt, says
from tests.unit.context.watched_log import Watched
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Summarised
from ullage.context.entries import Entry, EntryPinned, FileTouch, Logged, Prelude, ToolReturned
from ullage.context.view.edits import Replacement, applied, edits_of
from ullage.context.view.fates import touches_in_view
from ullage.context.view.log_places import clipped_to, entry_at, place_of
from ullage.context.view.pins import pins
from ullage.context.view.projection import Projection

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
        watched = projection._entries = Watched(projection.entries)  # noqa: SLF001
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


def test_undo_and_redo_look_at_what_was_logged_since():
    looks: list[int] = []
    for turns in (20, 2_000):
        entries = [entry for turn in range(turns) for entry in (prompt(f"Question {turn}"), says(f"Answer {turn}"))]
        projection = Projection(log(*entries))
        last = len(projection.entries)
        told = Summarised(last - LEFT, "The record.", last - LEFT)
        projection.append(Logged(last + 1, 0.0, compaction("c1", summarised=told)))
        projection.append(Logged(last + 2, 0.0, prompt("More")))
        watched = projection._entries = Watched(projection.entries)  # noqa: SLF001
        watched.looks = 0
        for seq, entry in enumerate((CompactionUndone("c1"), CompactionRedone("c1"), CompactionUndone("c1")), last + 3):
            projection.append(Logged(seq, 0.0, entry))
        looks.append(watched.looks)
        assert list(projection.messages) == list(Projection(projection.entries).messages)
    assert looks[0] == looks[1]


def test_a_view_that_was_made_ahead_takes_the_place_of_a_fold():
    entries = summarised_log(20)
    for entry in (CompactionUndone("c1"), Prelude((), ()), compaction("c2", cleared=())):
        projection = Projection(entries)
        ahead = projection.with_appended(Logged(len(entries) + 1, 0.0, entry))
        watched = projection._entries = Watched(projection.entries)  # noqa: SLF001
        watched.looks = 0
        projection.learn(ahead)
        projection.append(Logged(len(entries) + 1, 1.0, entry))
        assert watched.looks < LEFT
        assert list(projection.messages) == list(ahead.messages)
        projection.append(Logged(len(entries) + 2, 1.0, prompt("More")))
        assert len(ahead.entries) == len(entries) + 1
        assert list(projection.messages) == list(Projection(projection.entries).messages)


@pytest.mark.parametrize("late", [prompt("Meanwhile"), compaction("c3", resume="Another one")])
def test_a_view_that_was_made_ahead_of_something_else_is_not_taken(late: Entry):
    entries = summarised_log(20)
    projection = Projection(entries)
    entry = compaction("c2", resume="Go on")
    ahead = projection.with_appended(Logged(len(entries) + 1, 0.0, entry))
    projection.learn(ahead)
    projection.append(Logged(len(entries) + 1, 0.0, late))
    projection.append(Logged(len(entries) + 2, 0.0, entry))
    assert list(projection.messages) == list(Projection(projection.entries).messages)

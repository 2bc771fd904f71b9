"""Which texts of a compaction are read once something that they tell of is taken out, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import compaction, drawn, prompt, says, session
from ullage.context.compaction_entries import CompactionRedone, CompactionUndone, Reworded, Snipped, Summarised
from ullage.context.entries import Entry
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import without_excluded
from ullage.context.view.taken_out import EXCLUDED_MESSAGE

# 1 the prelude, 2 and 3 the first turn, 4 a prompt, 5 the compaction of what is up to 3
MADE = replace(compaction("c", summarised=Summarised(3, "told")), through=4)
START: list[Entry] = [prompt("one"), says("two"), prompt("three"), MADE]


def takes_out(id: str, seq: int) -> Entry:
    return compaction(id, snipped=Snipped(seq, seq, EXCLUDED_MESSAGE))


def reads(*more: Entry) -> str:
    """The first of what the model sees."""
    return drawn(Projection(session(*START, *more)).messages)[0].partition(" | ")[0].removeprefix("user: ")


def reworded(text: str, *without: int, id: str = "c") -> Entry:
    return Reworded(id, without, text)


@pytest.mark.parametrize(
    ("more", "read"),
    [
        ((), "told"),
        ((reworded("less", 2),), "told"),
        ((reworded("less", 2), takes_out("x", 2)), "less"),
        ((takes_out("x", 2), reworded("less", 2)), "told"),  # nothing changes within an epoch
        ((takes_out("x", 2), reworded("less", 2), compaction("y")), "less"),
        ((reworded("less", 2), takes_out("x", 2), CompactionUndone("x")), "told"),
        ((reworded("less", 2), takes_out("x", 2), CompactionUndone("x"), CompactionRedone("x")), "less"),
        ((reworded("of another", 2, id="d"), takes_out("x", 2)), "told"),
        ((reworded("less", 2), takes_out("x", 4)), "told"),
        ((reworded("least", 2, 4), takes_out("x", 2)), "least"),  # rather too little than what was taken out
        ((reworded("less", 2), reworded("least", 2, 4), takes_out("x", 2)), "less"),
        ((reworded("less", 2), reworded("least", 2, 4), takes_out("x", 2), takes_out("y", 4)), "least"),
        ((reworded("old", 2), reworded("new", 2), takes_out("x", 2)), "new"),
        ((reworded("less", 6), takes_out("x", 6)), "told"),  # said after it was made
    ],
)
def test_it_is_read_without_just_what_is_taken_out(more: tuple[Entry, ...], read: str):
    assert reads(*more) == read


def test_what_was_out_when_it_was_written_needs_no_other_words():
    entries: list[Entry] = [prompt("one"), says("two"), prompt("three"), takes_out("x", 2), replace(MADE, through=5)]
    assert not Projection(session(*entries)).to_reword


def test_it_is_known_what_has_to_be_reworded():
    assert Projection(session(*START, takes_out("x", 2))).to_reword == {5: {2}}
    assert not Projection(session(*START, reworded("less", 2), takes_out("x", 2))).to_reword
    assert not Projection(session(*START, takes_out("x", 2), CompactionUndone("c"))).to_reword


def test_later_records_are_written_of_what_is_left():
    projection = Projection(session(*START, reworded("less", 2), takes_out("x", 2)))
    left = without_excluded(projection, projection.entries[:5])
    assert [each.seq for each in left] == [1, 3, 4, 5]
    assert left[-1].entry == replace(MADE, summarised=Summarised(3, "less"))

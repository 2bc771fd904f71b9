"""What is not to be found of a log is told by a few of its entries."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given

from tests.unit.context.strategies import histories
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.entries import Logged
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import all_taken_out, out_of_sight, taken_out


@given(histories())
def test_it_is_what_is_taken_out_in_force_and_the_records(history: Sequence[Logged]) -> None:
    out = all_taken_out(Projection(history).active)
    records = {each.seq for each in history if isinstance(each.entry, Compaction) and each.entry.summarised is not None}
    assert out_of_sight(history) == (out | records if out else frozenset())


@given(histories())
def test_the_few_entries_that_tell_of_it_are_enough(history: Sequence[Logged]) -> None:
    assert out_of_sight(each for each in history if _tells(each)) == out_of_sight(history)


def _tells(logged: Logged) -> bool:
    entry = logged.entry
    if isinstance(entry, Compaction):
        return entry.summarised is not None or bool(taken_out(entry))
    return isinstance(entry, CompactionUndone | CompactionRedone)

"""What counts as text that is acquired again, by cases whose characters can be counted by hand."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log, notice, prompt, returned, says
from ullage.context.entries import Entry
from ullage.recorded.retention import Acquired, HitShare, SessionBlocks, ViewAfter

LINES = [f"the valve {number} is open" for number in range(20)]
"""Each of 20 or 21 characters."""
SIX = "\n".join(LINES[:6])
OF_SIX = len(SIX) + 1
OTHER = "\n".join(f"another gauge shows {number}" for number in range(6))


def acquired(before: list[Entry], after: list[Entry], view: str = "", beside: int = 0) -> Acquired:
    return SessionBlocks(log(*before, *after)).acquired([ViewAfter(len(before), view, beside)])


def test_what_a_result_gives_again_counts_with_its_line_ends_and_what_is_new_does_not():
    found = acquired([returned(SIX)], [says("I look."), returned(f"{SIX}\n{OTHER}")])
    assert found == Acquired(1, OF_SIX + len(OTHER) + 1, HitShare(0, OF_SIX), 0)


def test_what_stands_in_view_is_held_line_by_line():
    view = "\n".join(LINES[:5])
    assert acquired([returned(SIX)], [returned(SIX)], view, 700) == Acquired(1, OF_SIX, HitShare(len(view) + 1, OF_SIX), 700)


@pytest.mark.parametrize(
    "known",
    [prompt(SIX), notice(SIX), says(SIX), calls("write", {"content": SIX}), calls("edit", {"edits": [{"new": SIX}]})],
    ids=["prompt", "notice", "reply", "call", "inside a call"],
)
def test_whatever_the_model_saw_or_wrote_before_is_known(known: Entry):
    assert acquired([known], [returned(SIX)]).again == HitShare(0, OF_SIX)


@pytest.mark.parametrize("mark", ["→", "\t", ":", "-", "|"])
def test_numbers_of_lines_and_white_space_around_them_make_no_difference(mark: str):
    numbered = "\n".join(f"  {number}{mark}    {line}  " for number, line in enumerate(LINES[:6], 40))
    assert acquired([returned(SIX)], [returned(numbered)], numbered).again == HitShare(OF_SIX, OF_SIX)


def test_it_counts_once_whether_it_came_up_in_a_result_or_in_a_call():
    assert acquired([returned(SIX)], [returned(SIX), returned(SIX)]).again.of == OF_SIX
    assert acquired([returned(SIX)], [calls("write", {"content": SIX}), returned(SIX)]).again.of == 0


def test_four_lines_and_blocks_that_say_nothing_are_not_known():
    four, braces = "\n".join(LINES[:4]), "\n".join("{}" * 3 for _ in range(9))
    assert acquired([returned(four), returned(braces)], [returned(four), returned(braces)]).again.of == 0


def test_what_came_only_after_the_compaction_is_new():
    assert acquired([prompt("Go")], [returned(SIX)]).again.of == 0
    assert acquired([returned(SIX)], []) == Acquired()


def test_what_is_mostly_known_and_not_in_view_was_fetched_for_that():
    much, little = returned(SIX), returned(f"{SIX}\n{OTHER}\n{OTHER.upper()}")
    assert acquired([returned(SIX)], [says("I look."), much]).fetches == 1
    assert acquired([returned(SIX)], [says("I look."), little]).fetches == 0
    assert acquired([returned(SIX)], [says("I look."), much], SIX).fetches == 0
    assert acquired([returned(SIX)], [says("I look."), much], SIX).gone == 0


def test_a_window_ends_where_the_next_compaction_is():
    entries = log(returned(SIX), says("a"), returned(SIX), says("b"), returned(SIX))
    found = SessionBlocks(entries).acquired([ViewAfter(1, "", 10), ViewAfter(4, SIX, 30)])
    assert found == Acquired(2, 2 * OF_SIX, HitShare(OF_SIX, 2 * OF_SIX), 40, 1)
    assert found.mean_beside_summary == 20.0

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, compaction, prompt, returned, says, session
from tests.unit.context.strategies import histories, planned_histories
from ullage.context.compaction_entries import Cleared, Compaction, CompactionUndone, Snipped, Summarised
from ullage.context.entries import Clipped, Entry, Logged
from ullage.context.view.fates import fates
from ullage.context.view.projection import Projection

# 1 the prelude, 2 a prompt, 3 a call, 4 its result, 5 a last word, 6 a prompt
TURN = (prompt("go"), calls("t1"), returned("t1", "one"), says("done"), prompt("more"))


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ((), "kept kept kept kept kept"),
        ((Clipped(4, "short", "file"),), "kept kept clipped kept kept"),
        ((compaction("c", cleared=[Cleared(4, "gone")]),), "kept kept cleared/c kept kept"),
        ((compaction("c", snipped=Snipped(3, 5, "[cut]")),), "kept snipped/c snipped/c snipped/c kept"),
        ((compaction("c", summarised=Summarised(5, "record")),), "summarised/c summarised/c summarised/c summarised/c kept"),
        ((compaction("c", summarised=Summarised(5, "record", carried=(2,))),), "pinned/c summarised/c summarised/c summarised/c kept"),
        ((compaction("c", summarised=Summarised(5, "record")), CompactionUndone("c")), "kept kept kept kept kept"),
        (
            (compaction("c", summarised=Summarised(3, "one")), compaction("d", summarised=Summarised(4, "two"))),
            "summarised/d summarised/d summarised/d kept kept",
        ),
        (
            (compaction("c", summarised=Summarised(3, "one")), compaction("d", snipped=Snipped(2, 4, "[cut]", carried=(3,)))),
            "summarised/c pinned/d snipped/d kept kept",
        ),
        (  # the user takes out what a pin had kept
            (compaction("c", snipped=Snipped(2, 4, "[cut]", carried=(3, 4))), compaction("d", cleared=[Cleared(4, "gone")])),
            "snipped/c pinned/c cleared/d kept kept",
        ),
        (
            (compaction("c", summarised=Summarised(5, "one", carried=(3, 4))), compaction("d", cleared=[Cleared(4, "gone")])),
            "summarised/c pinned/c cleared/d summarised/c kept",
        ),
    ],
)
def test_each_entry_has_one_fate(then: tuple[Entry, ...], expected: str):
    found = fates(Projection(session(*TURN, *then)))
    assert " ".join(fate.kind + (f"/{fate.compaction_id}" if fate.compaction_id else "") for fate in found.values()) == expected


@given(histories() | planned_histories())
def test_what_is_gone_is_not_shown_and_names_a_compaction_in_force(history: list[Logged]):
    projection = Projection(history)
    by_entries = {logged.seq for logged in history if not isinstance(logged.entry, Compaction)}
    shown = {source for message in projection.messages for source in message.sources} & by_entries
    active = {each.id for each in projection.active}
    for seq, fate in fates(projection).items():
        assert fate.compaction_id is None or fate.compaction_id in active
        if fate.kind in ("snipped", "summarised"):
            assert seq not in shown


@given(histories(), st.integers(0, 40))
def test_fates_from_an_entry_on_are_those_of_all(history: list[Logged], since: int):
    projection = Projection(history)
    assert fates(projection, since) == {seq: fate for seq, fate in fates(projection).items() if seq >= since}

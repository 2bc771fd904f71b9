"""A copy of a projection goes on by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.strategies import histories
from ullage.context.entries import Logged
from ullage.context.view.projection import Projection


@given(histories(), st.data())
def test_a_copy_and_its_original_go_on_alike_and_apart(history: list[Logged], data: st.DataObject):
    cut = data.draw(st.integers(0, len(history)))
    original = Projection(history[:cut])
    seen = list(original.complete_messages)
    copy = original.copy()
    for logged in history[cut:]:
        copy.append(logged)
    assert list(original.complete_messages) == seen
    assert len(original.entries) == cut
    whole = Projection(history)
    assert list(copy.complete_messages) == list(whole.complete_messages)
    assert (copy.key, copy.pending_tool_uses) == (whole.key, whole.pending_tool_uses)
    for logged in history[cut:]:
        original.append(logged)
    assert list(original.complete_messages) == list(whole.complete_messages)

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, characters, compaction, drawn, prompt, returned, says, session
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from ullage.context.entries import CompactionUndone, Logged
from ullage.context.moves.exclude import EXCLUDED_MESSAGE, EXCLUDED_RESULT, exclude
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

# 1 the prelude, 2 a prompt, 3 two calls, 4 and 5 their results, 6 a last word, 7 a prompt
TURN = session(prompt("go"), calls("t1", "t2"), returned("t1", "one"), returned("t2", "two"), says("done"), prompt("more"))


def after_excluding(entries: Sequence[Logged], seq: int) -> Projection | None:
    before = Projection(entries)
    planned = exclude(before, seq, characters)
    if planned is None:
        return None
    made = compaction("x", cleared=planned.cleared, snipped=planned.snipped)
    return before.with_appended(Logged(entries[-1].seq + 1, 0.0, made))


@pytest.mark.parametrize(
    ("seq", "shown"),
    [
        (2, [f"user: {EXCLUDED_MESSAGE}", "assistant: t1() | t2()", "user: =t1 one | =t2 two", "assistant: done", "user: more"]),
        (3, [f"user: go | {EXCLUDED_MESSAGE}", "assistant: done", "user: more"]),
        (4, ["user: go", "assistant: t1() | t2()", f"user: =t1 {EXCLUDED_RESULT} | =t2 two", "assistant: done", "user: more"]),
        (6, ["user: go", "assistant: t1() | t2()", f"user: =t1 one | =t2 two | {EXCLUDED_MESSAGE} | more"]),
    ],
)
def test_the_model_no_longer_sees_it(seq: int, shown: list[str]):
    after = after_excluding(TURN, seq)
    assert after is not None
    assert drawn(after.messages) == shown


@pytest.mark.parametrize("seq", [1, 99])
def test_what_is_not_in_view_cannot_be_taken_out(seq: int):
    assert exclude(Projection(TURN), seq, characters) is None


@given(histories(), st.data())
def test_whatever_is_taken_out_the_request_is_valid_and_can_be_brought_back(history: list[Logged], data: st.DataObject):
    before = Projection(history)
    after = after_excluding(history, data.draw(st.sampled_from([each.seq for each in history])))
    if after is None:
        return
    if after.messages and after.messages[-1].role == "user":
        assert problems(build_request(after)) == []
    back = after.with_appended(Logged(after.entries[-1].seq + 1, 0.0, CompactionUndone("x")))
    assert list(back.messages) == list(before.messages)

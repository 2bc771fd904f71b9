from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, compaction, log, prompt, returned, says
from tests.unit.context.strategies import histories
from ullage.context.blocks import Message
from ullage.context.compaction_entries import Summarised
from ullage.context.entries import Entry, Logged
from ullage.context.moves.cuts import Tail, TokenRange, cut_before, possible_cuts
from ullage.context.view.projection import project

TALK: list[Entry] = [entry for turn in range(5) for entry in (prompt(f"q{turn}"), says(f"a{turn}"))]
"""10 messages."""
WORK: list[Entry] = [prompt("go"), *(entry for n in range(4) for entry in (calls(f"t{n}"), returned(f"t{n}")))]
"""9 messages, the last of them not answered yet."""


def each_is_one(messages: Sequence[Message]) -> int:
    """As if each message took one token."""
    return len(messages)


def kept(tail: Tail, entries: Sequence[Entry], line: int = 100) -> int:
    """How many messages stay."""
    projection = project(log(*entries))
    return len(projection.messages) - cut_before(tail, projection, line, each_is_one)


@pytest.mark.parametrize(
    ("tail", "of_talk", "of_work"),
    [
        (Tail(), 0, 2),
        (Tail(unanswered=False), 0, 0),
        (Tail(messages=3), 3, 4),
        (Tail(messages=4), 4, 4),
        (Tail(messages=50), 10, 9),
        (Tail(turns=2), 4, 9),
        (Tail(tokens=3), 3, 2),
        (Tail(tokens=4), 4, 4),
        (Tail(share_of_threshold=0.05), 5, 4),
        (Tail(share_of_view=0.5), 5, 4),
        (Tail(messages=2, tokens=6), 6, 6),
        (Tail(messages=6, tokens=2), 6, 6),
        (Tail(turns=2, limit=TokenRange(0.01, least=3, most=9)), 3, 2),
        (Tail(turns=2, limit=TokenRange(0.5, least=3, most=4)), 4, 4),
        (Tail(turns=4, limit=TokenRange(0.06, least=3, most=9)), 6, 6),
        (Tail(share_of_view=0.5, at_prompts=True), 4, 9),
    ],
)
def test_how_many_messages_stay(tail: Tail, of_talk: int, of_work: int):
    assert (kept(tail, TALK), kept(tail, WORK)) == (of_talk, of_work)


def test_a_prompt_that_waits_stays_unless_all_may_go():
    assert kept(Tail(), [*TALK, prompt("and?")]) == 1
    assert kept(Tail(unanswered=False), [*TALK, prompt("and?")]) == 0


def test_a_call_that_runs_stays_in_any_case():
    assert kept(Tail(unanswered=False), [*TALK, prompt("and?"), calls("t1")]) == 1
    assert kept(Tail(unanswered=False), [*TALK, prompt("and?"), calls("t1", "t2"), returned("t1")]) == 2


def test_the_summary_before_it_may_count():
    entries = [*TALK, compaction("c", summarised=Summarised(4, "Handoff", acknowledgement="Good."))]
    assert kept(Tail(tokens=4), entries) == 4
    assert kept(Tail(tokens=4, with_summary=True), entries) == 3


tails = st.builds(
    Tail,
    messages=st.integers(0, 9),
    turns=st.integers(0, 3),
    tokens=st.integers(0, 9),
    share_of_threshold=st.floats(0, 0.2),
    share_of_view=st.floats(0, 1),
    limit=st.none() | st.builds(TokenRange, st.floats(0, 0.2), st.integers(0, 3), st.integers(3, 9)),
    with_summary=st.booleans(),
    at_prompts=st.booleans(),
    unanswered=st.booleans(),
)


@given(histories(), tails)
def test_every_cut_is_a_possible_one(entries: list[Logged], tail: Tail):
    projection = project(entries)
    if projection.messages:
        assert cut_before(tail, projection, 50, each_is_one) in possible_cuts(tail, projection)

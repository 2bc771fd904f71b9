from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from tests.unit.context.logs import calls, log, prompt, returned, says
from tests.unit.context.strategies import histories
from ullage.context.blocks import Message, Text, ToolResult, ToolUse
from ullage.context.entries import Entry, Logged
from ullage.context.moves.cuts import (
    Property,
    keeps_batches_whole,
    keeps_what_is_unanswered,
    legal_cuts,
    parts_no_call_from_its_result,
)
from ullage.context.view.projection import project

TURN = (prompt("go"), calls("t1", "t2"), returned("t1"), returned("t2"), says("done"))


def messages_of(*entries: Entry) -> Sequence[Message]:
    return project(log(*entries)).messages


@pytest.mark.parametrize(
    ("holds", "entries", "cuts"),
    [
        (parts_no_call_from_its_result, TURN, [0, 1, 3, 4]),
        (parts_no_call_from_its_result, (prompt("go"), calls("t1")), [0, 1]),
        (parts_no_call_from_its_result, (prompt("go"), calls("t1", "t2"), returned("t2")), [0, 1, 3]),
        (keeps_batches_whole, TURN, [0, 1, 3, 4]),
        (keeps_batches_whole, (prompt("go"), says("ok"), prompt("on")), [0, 1, 2, 3]),
        (keeps_what_is_unanswered, TURN, [0, 1, 2, 3, 4]),
        (keeps_what_is_unanswered, (prompt("go"), says("ok"), prompt("on")), [0, 1, 2]),
        (keeps_what_is_unanswered, (prompt("go"), calls("t1"), returned("t1")), [0, 1, 2]),
    ],
)
def test_each_property_forbids_what_it_says(holds: Property, entries: Sequence[Entry], cuts: list[int]):
    messages = messages_of(*entries)
    assert [cut for cut in range(len(messages) + 1) if holds(messages, cut)] == cuts


@pytest.mark.parametrize(
    ("entries", "cuts"),
    [
        ((), (0,)),
        ((prompt("go"),), (0,)),
        (TURN, (0, 1, 3, 4)),
        ((*TURN, prompt("on")), (0, 1, 3, 4)),
        ((*TURN, prompt("on"), calls("t3")), (0, 1, 3, 4, 5)),
        ((*TURN, prompt("on"), calls("t3"), returned("t3")), (0, 1, 3, 4, 5)),
    ],
)
def test_a_cut_is_legal_where_all_properties_hold(entries: Sequence[Entry], cuts: tuple[int, ...]):
    assert legal_cuts(messages_of(*entries)) == cuts


@given(histories())
def test_no_legal_cut_parts_anything_that_belongs_together(log: list[Logged]):
    messages = project(log).messages
    for cut in legal_cuts(messages):
        before, after = messages[:cut], messages[cut:]
        assert ids_of_calls(before) == ids_of_results(before)
        assert ids_of_results(after) <= ids_of_calls(after)
        assert after or not before or before[-1].role == "assistant"


def test_a_cut_never_goes_through_a_message_with_results_and_words():
    merged = [Message("user", (Text("go"),), (1,)), Message("assistant", (ToolUse("t", "bash", {}),), (2,))]
    merged.append(Message("user", (ToolResult("t", "ok"), Text("and this")), (3, 4)))
    assert legal_cuts(merged) == (0, 1)


def ids_of_calls(messages: Sequence[Message]) -> set[str]:
    return {block.id for message in messages for block in message.blocks if isinstance(block, ToolUse)}


def ids_of_results(messages: Sequence[Message]) -> set[str]:
    return {block.tool_use_id for message in messages for block in message.blocks if isinstance(block, ToolResult)}

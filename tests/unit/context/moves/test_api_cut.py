"""What the API is given to summarise, and that what it is not given stays as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from tests.unit.context.logs import calls, characters, compaction, drawn, prompt, returned, says, session
from tests.unit.context.strategies import planned_histories
from tests.unit.context.validity import problems
from ullage.context.blocks import CompactionBlock, ToolUse
from ullage.context.entries import Cleared, EntryPinned, Logged, Summarised
from ullage.context.moves.api_cut import block_cuts, for_the_api, keeps_turns
from ullage.context.moves.plan import Plan, plan
from ullage.context.policy import UllageNumbers
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

BLOCK = CompactionBlock('{"type":"compaction","content":"So far.","signature":"s"}', "practice")
LONG = "a long result " * 50
HISTORY = session(
    prompt("first"),  # 2
    calls("t1"),
    returned("t1", LONG),  # 4
    says("done"),
    prompt("second"),  # 6
    calls("t2"),
    returned("t2", LONG),  # 8
    says("done too"),
    prompt("third"),  # 10
)
EMPTY = Plan(10, (), None, None, 0, 0)


def test_cuts() -> None:
    assert block_cuts(Projection(HISTORY).messages) == (1, 3, 4, 5, 7, 8)
    after = Projection([*HISTORY, Logged(11, 0.0, compaction("c", summarised=Summarised(2, "The record", 1, block=BLOCK)))])
    assert drawn(after.messages)[:2] == ["assistant: (…)", "assistant: t1()"]
    assert block_cuts(after.messages) == (3, 4, 5, 7, 8), "behind a block and before a message of the same role there is none"


@pytest.mark.parametrize(
    ("to", "cleared", "expected"),
    [
        (5, (), (5, 4)),
        (2, (), (2, 1)),
        (2, (4,), (4, 3)),  # uncleared the tail would be longer than planned, so it begins later
        (2, (4, 8), (8, 7)),
        (9, (), (9, 8)),
    ],
)
def test_the_tail_is_no_longer_than_planned(to: int, cleared: tuple[int, ...], expected: tuple[int, int]) -> None:
    planned = replace(EMPTY, summarise_to=to, covers=1, cleared=tuple(Cleared(seq, "[gone]") for seq in cleared))
    found = for_the_api(planned, Projection(HISTORY), characters)
    assert found is not None
    made, cut = found
    assert (made.summarise_to, cut) == expected
    assert (made.cleared, made.snipped) == ((), None)


@pytest.mark.parametrize("planned", [EMPTY, replace(EMPTY, summarise_to=5, summarise_from=3), replace(EMPTY, summarise_to=5, carried=(4,))])
def test_what_the_api_cannot_do(planned: Plan) -> None:
    assert for_the_api(planned, Projection(HISTORY), characters) is None


def test_what_is_pinned_is_not_covered() -> None:
    planned = replace(EMPTY, summarise_to=5, covers=4)
    assert for_the_api(planned, Projection([*HISTORY, Logged(11, 0.0, EntryPinned(4, True))]), characters) is None
    assert for_the_api(planned, Projection([*HISTORY, Logged(11, 0.0, EntryPinned(8, True))]), characters) is not None


def test_messages_that_are_not_as_they_were() -> None:
    view = Projection(HISTORY)
    log = [*HISTORY, Logged(11, 0.0, compaction("c", summarised=Summarised(5, "The record", 4, block=BLOCK), resume="Go on."))]
    after = Projection(log).messages
    assert keeps_turns(view.messages, 4, after), "more at the end of the last one is no change"
    assert not keeps_turns(view.messages, 3, after)
    cleared = Projection([*log, Logged(12, 0.0, compaction("d", cleared=[Cleared(8, "[gone]")]))]).messages
    assert not keeps_turns(view.messages, 4, cleared)


@given(planned_histories())
def test_the_turns_that_are_kept_follow_the_block(entries: list[Logged]) -> None:
    entries = [*entries, Logged(len(entries) + 1, 0.0, prompt("Go on."))]
    view = Projection(entries)
    planned = plan(view, UllageNumbers(), 1_000, characters, lambda _: "", goal=0)
    assume(planned is not None and planned.summarise_to is not None)
    assert planned is not None
    found = for_the_api(planned, view, characters)
    assume(found is not None)
    assert found is not None
    made, cut = found
    told = Summarised(made.summarise_to or 0, "The record", made.covers, block=BLOCK)
    after = view.with_appended(Logged(len(entries) + 1, 0.0, compaction("new", summarised=told, resume="Go on.")))
    assert problems(build_request(after)) == []
    ids = [block.id for message in view.messages for block in message.blocks if isinstance(block, ToolUse)]
    assert keeps_turns(view.messages, cut, after.messages) or any("_" in id for id in ids)

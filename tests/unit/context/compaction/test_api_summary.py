"""The API's own summary: what it is asked to stand for, what it is told, and whether what came back can be used."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given

from tests.unit.context.logs import calls, characters, compaction, drawn, prompt, returned, says, session
from tests.unit.context.strategies import planned_histories
from tests.unit.context.validity import problems
from ullage.context.blocks import CompactionBlock, ToolUse
from ullage.context.compaction.api_summary import (
    COMPLETES,
    ELSEWHERE,
    MOST_INSTRUCTIONS,
    block_cuts,
    completing,
    for_the_api,
    instructions,
    judged,
    keeps_turns,
)
from ullage.context.compaction_entries import Cleared, Summarised
from ullage.context.entries import EntryPinned, Logged
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import usual_plan
from ullage.context.policy import SummaryOptions, UllageOptions
from ullage.context.summary.summary_prompt import Rejected
from ullage.context.summary.whole_summary import PREFACE, whole_summary
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
    planned = usual_plan(view, UllageOptions(), 1_000, characters, lambda _: "", goal=0)
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


SUMMARY = "The tank is measured in millimetres, since the dip stick is marked in them; litres were turned down."


def block(content: object) -> CompactionBlock:
    return CompactionBlock(json.dumps({"type": "compaction", "content": content, "signature": "s"}), "m")


def test_the_instructions_are_no_longer_than_the_api_takes() -> None:
    assert len(instructions("")) < MOST_INSTRUCTIONS // 2
    assert instructions(" the\nunits ").endswith("Give most room to this: the units")
    assert len(instructions("units " * 10_000)) == MOST_INSTRUCTIONS


@pytest.mark.parametrize(
    ("written", "stop_reason", "why"),
    [
        (None, "max_tokens", "cut off"),
        (None, "model_context_window_exceeded", "no room"),
        (None, "tool_use", "called a tool"),
        (None, "refusal", "declined"),
        (None, "end_turn", "empty"),
        (None, "compaction", "empty"),
        (block(SUMMARY), "max_tokens", "cut off"),
        (block(" \n"), "compaction", "empty"),
        (block("Short."), "compaction", "empty"),
        (block(None), "compaction", "empty"),
        (block(f"{SUMMARY} postgres://ann:" + "hunter22" + "@db/tank"), "compaction", "secret"),
    ],
)
def test_what_is_not_taken(written: CompactionBlock | None, stop_reason: str, why: str) -> None:
    found = judged(written, stop_reason)
    assert isinstance(found, Rejected)
    assert why in found.reason


def test_what_is_taken_is_taken_as_it_is() -> None:
    written = block(SUMMARY)
    assert judged(written, "compaction") is written


def test_the_record_that_completes_it_says_so_and_repeats_nothing_of_it() -> None:
    log = session(prompt("Measure the tank. Never change the file."), calls("t1"), returned("t1"), says("It is full."))
    record = completing(whole_summary(log, ELSEWHERE, "", SummaryOptions()))
    assert COMPLETES in record
    assert PREFACE not in record
    assert ELSEWHERE in record
    assert "Never change the file" in record


def test_a_later_record_by_the_program_takes_over_what_the_api_wrote() -> None:
    log = session(prompt("Measure the tank."), says("It is full."))
    written = Logged(
        4,
        0.0,
        compaction("c", summarised=Summarised(3, completing(whole_summary(log, ELSEWHERE, "", SummaryOptions())), 2, block=block(SUMMARY))),
    )
    later = whole_summary([*log, written, Logged(5, 0.0, prompt("And now?"))], None, "", SummaryOptions())
    assert SUMMARY in later
    assert ELSEWHERE not in later

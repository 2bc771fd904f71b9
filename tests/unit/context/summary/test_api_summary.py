"""What the API is told, which of its summaries are taken, and what completes them."""

from __future__ import annotations

import json

import pytest

from tests.unit.context.logs import calls, compaction, prompt, returned, says, session
from ullage.context.blocks import CompactionBlock
from ullage.context.entries import Logged, Summarised
from ullage.context.policy import SummaryNumbers
from ullage.context.summary.api_summary import COMPLETES, ELSEWHERE, MOST_INSTRUCTIONS, completing, instructions, judged
from ullage.context.summary.handoff import PREFACE, handoff
from ullage.context.summary.summary_prompt import Rejected

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
    record = completing(handoff(log, ELSEWHERE, "", SummaryNumbers()))
    assert COMPLETES in record
    assert PREFACE not in record
    assert ELSEWHERE in record
    assert "Never change the file" in record


def test_a_later_record_by_the_program_takes_over_what_the_api_wrote() -> None:
    log = session(prompt("Measure the tank."), says("It is full."))
    written = Logged(
        4,
        0.0,
        compaction("c", summarised=Summarised(3, completing(handoff(log, ELSEWHERE, "", SummaryNumbers())), 2, block=block(SUMMARY))),
    )
    later = handoff([*log, written, Logged(5, 0.0, prompt("And now?"))], None, "", SummaryNumbers())
    assert SUMMARY in later
    assert ELSEWHERE not in later

"""Goose: a summary of everything, and the last message of the user."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import compaction, drawn, prompt, says, session
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, called, full_at, planned, results, talk
from ullage.context.compaction_entries import Snipped, Trigger
from ullage.context.entries import Entry, Logged
from ullage.context.policies.goose import GOOSE
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import EXCLUDED_MESSAGE

GOES_ON = "assistant: I continue from the summary, without mentioning it, and call tools where the task needs them."


@pytest.mark.parametrize(("window", "line"), [(200_000, 160_000), (128_000, 102_400)])
def test_it_is_full_at_80_percent_of_the_window(window: int, line: int):
    assert full_at(GOOSE, window) == line


def test_amid_a_turn_what_the_user_asked_last_stays_after_the_summary():
    log = session(prompt("First"), says("so " * 3_000), prompt("Then this"), *called("t1", "x" * 4_000))
    assert drawn(after(GOOSE, log)) == ["user: What the model wrote.", GOES_ON, "user: Then this"]


def test_amid_a_turn_whose_prompt_was_taken_out_something_to_answer_stays():
    asked = session(prompt("First"), says("so " * 3_000), prompt("Then this"), *called("t1", "x" * 40))
    out = compaction("out", snipped=Snipped(4, 4, EXCLUDED_MESSAGE))
    assert drawn(after(GOOSE, [*asked, Logged(7, 7.0, out)])) == ["user: What the model wrote.", GOES_ON, "user: First"]
    begun = session(prompt("First"), *called("t1", "x" * 4_000), *called("t2", "x" * 40))
    out = compaction("out", snipped=Snipped(2, 2, EXCLUDED_MESSAGE))
    shown = drawn(after(GOOSE, [*begun, Logged(7, 7.0, out)], model_text="Short."))
    assert shown == ["user: Short.", f"{GOES_ON} | t2()", f"user: =t2 {'x' * 40}"]


@pytest.mark.parametrize("trigger", ["threshold", "manual"])
def test_after_a_turn_the_summary_stands_alone(trigger: Trigger):
    assert drawn(after(GOOSE, talk(9, words=200), trigger)) == ["user: What the model wrote.", GOES_ON]


@pytest.mark.parametrize(
    ("share", "left"), [(1.1, 20), (0.95, 18), (0.85, 16), (0.6, 10), (0.1, 0)], ids=["none", "10 %", "20 %", "50 %", "100 %"]
)
def test_where_it_does_not_fit_results_are_left_out_from_the_middle_outwards(share: float, left: int):
    log = results(*[8_000] * 20)
    window = int((12_000 + share * tokens(Projection(log).messages)) / 0.9)
    asked = planned(GOOSE, log, window=window).asked
    assert asked is not None and asked.text is not None
    assert asked.text.count("[result]") == left
    assert asked.text.count("[assistant calls") == 20


def test_the_middle_goes_first():
    steps: list[Entry] = [prompt("Go")]
    for number in range(5):
        steps += called(f"t{number}", f"result {number} " + "x" * 40_000)
    log = session(*steps, says("Done"))
    asked = planned(GOOSE, log, window=int((12_000 + 0.9 * tokens(Projection(log).messages)) / 0.9)).asked
    assert asked is not None and asked.text is not None
    assert [f"result {number} " in asked.text for number in range(5)] == [True, True, False, True, True]

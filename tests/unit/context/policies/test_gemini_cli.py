"""Gemini CLI: a snapshot and a second look at it."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn, prompt, says, session
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, called, full_at, planned, results, talk
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry
from ullage.context.policies.gemini_cli import CHECK, GEMINI_CLI
from ullage.context.quoting import quoted
from ullage.context.view.projection import Projection


@pytest.mark.parametrize(("window", "line"), [(200_000, 100_000), (1_000_000, 500_000)])
def test_it_is_full_at_half_of_the_window(window: int, line: int):
    assert full_at(GEMINI_CLI, window) == line


def test_the_newest_30_percent_stay_from_a_message_of_the_user_on():
    log = talk(20, words=100)
    kept = after(GEMINI_CLI, log)
    assert [line[:16] for line in drawn(kept)[1:4]] == ["assistant: Thank", "user: question 1", "assistant: answe"]
    share = tokens(kept[2:]) / tokens(Projection(log).messages)
    assert 0.25 < share <= 0.3


def test_where_no_turn_begins_in_time_it_is_cut_between_calls():
    log = results(*[1_000] * 20, answered=False)
    kept = after(GEMINI_CLI, log)
    assert drawn(kept)[1].startswith("assistant: Thank you, I have the state of things and go on. | t")
    assert 0.2 < tokens(kept[1:]) / tokens(Projection(log).messages) < 0.31


@pytest.mark.parametrize(("window", "read_whole"), [(120_000, 1), (200_000, 3)])
def test_results_beyond_the_newest_50_000_tokens_keep_30_lines_but_are_read_whole_where_they_fit(window: int, read_whole: int):
    lines = [f"line {number} of the output" for number in range(2_000)]
    within = 50_000 // estimate_text("\n".join(lines))
    steps: list[Entry] = [prompt("Go")]
    for number in range(3 * within):
        steps += called(f"t{number}", "\n".join(lines))
    steps += [says("Done"), prompt("On"), says("Yes")]
    asked = planned(GEMINI_CLI, session(*steps), window=window).asked
    assert asked is not None and asked.text is not None
    shortened = "\n".join(["[Output of bash, shortened to its last 30 lines]", *lines[-30:]])
    assert asked.text.count("line 0 of the output") == read_whole * within
    assert asked.text.count(f"[result]\n{quoted(shortened)}\n\n[assistant calls") == (3 - read_whole) * within


def test_a_second_call_checks_the_snapshot():
    asked = planned(GEMINI_CLI, talk(20, words=100)).asked
    assert asked is not None
    assert asked.check == CHECK

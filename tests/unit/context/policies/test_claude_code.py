"""Claude Code: one summary on the warm prefix, and files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import drawn, prompt
from tests.unit.context.policies.rehearsal import occasion
from tests.unit.context.policies.steps import SUMMARY, after, arrived, full_at, planned, results
from ullage.context.entries import Logged
from ullage.context.policies.claude_code import CLAUDE_CODE


@pytest.mark.parametrize(("window", "line"), [(200_000, 167_000), (1_000_000, 967_000)])
def test_it_is_full_20_000_and_13_000_tokens_before_the_window(window: int, line: int):
    assert full_at(CLAUDE_CODE, window) == line


def test_a_result_over_50_000_characters_and_those_over_200_000_together_go_to_files():
    assert arrived(CLAUDE_CODE, 50_000, 50_001) == [50_000, 2_000]
    assert arrived(CLAUDE_CODE, *[50_000] * 4) == [50_000] * 4
    assert arrived(CLAUDE_CODE, *[50_000] * 4, 1) == [2_000, 50_000, 50_000, 50_000, 1]


@pytest.mark.parametrize(("seconds", "gone"), [(3_599, 0), (3_600, 2)])
def test_after_60_minutes_all_results_but_the_last_5_are_cleared(seconds: float, gone: int):
    log = results(*[400] * 7)
    log = [*log, Logged(log[-1].seq + 1, log[-1].at + seconds, prompt("Go on"))]
    plan = CLAUDE_CODE.engine.upkeep(occasion(CLAUDE_CODE, log, "upkeep"))
    assert len(plan.cleared if plan else ()) == gone


def test_nothing_is_cleared_where_the_log_has_no_times():
    log = [replace(logged, at=0.0) for logged in results(*[400] * 7)]
    log = [*log, Logged(log[-1].seq + 1, 9e9, prompt("Go on"))]
    assert CLAUDE_CODE.engine.upkeep(occasion(CLAUDE_CODE, log, "upkeep")) is None


def test_the_summary_is_asked_for_on_the_warm_prefix_in_20_000_tokens_and_nine_sections():
    asked = planned(CLAUDE_CODE, results(9_000)).asked
    assert asked is not None
    assert (asked.text, asked.output_tokens, asked.check) == (None, 20_000, "")
    assert [number for number in range(1, 12) if f"\n{number}. " in asked.prompt] == list(range(1, 10))


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("text", [SUMMARY, "  As it was recorded,\n\nto the letter. \n"])
def test_what_stays_is_exactly_the_summary(answered: bool, text: str):
    assert drawn(after(CLAUDE_CODE, results(9_000, 900, answered=answered), model_text=text)) == [f"user: {text}"]


def test_5_files_are_read_again_5_000_tokens_each_and_50_000_together():
    assert CLAUDE_CODE.restore is not None
    restore = CLAUDE_CODE.restore
    assert (restore.files, restore.file_tokens, restore.total_tokens) == (5, 5_000, 50_000)
    assert restore.by == "last edited"

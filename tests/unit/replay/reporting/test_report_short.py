"""What a terminal shows of a replay at first: on a screen or two, the answer before the tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.replay.made_up_runs import POLICIES, many, row, run
from ullage.context.blocks import Usage
from ullage.recorded.transcript import Repair
from ullage.replay.measuring.figures import Figures, Report, RequestCounts
from ullage.replay.measuring.runs import Run
from ullage.replay.pricing.cost import Dollars
from ullage.replay.reporting.report_short import MOST_SESSIONS, as_short
from ullage.replay.reporting.report_table import WIDTH, as_table

SCREEN = 24
"""Lines."""


def report(sessions: int, policies: tuple[str, ...]) -> Report:
    made, runs = many(sessions, policies)
    return replace(made, runs=tuple(runs), policies=policies)


@pytest.mark.parametrize("sessions", [1, 3, 50])
def test_what_was_recorded_fits_a_screen(sessions: int):
    lines = as_short(replace(many(sessions, ("ullage",))[0], runs=())).splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith(f"{sessions} session{'' if sessions == 1 else 's'} of Claude Code: ")


def test_the_dearest_sessions_are_shown_under_the_numbers_that_they_have_in_the_whole():
    rows = tuple(row(f"s{index}", 40 + index) for index in range(1, 31))
    text = as_short(Report(rows))
    assert f"The {MOST_SESSIONS} sessions that cost most" in text
    shown = [line.split()[:2] for line in text.splitlines() if "claude-opus" in line]
    assert shown == [[str(index), f"s{index}"] for index in range(30, 30 - MOST_SESSIONS, -1)]
    assert ["30", "s30"] in [line.split()[:2] for line in as_table(Report(rows)).splitlines()]


def test_a_fault_is_told_once_with_the_lines_where_it_is_first_met():
    mended = (Repair("lines that are no JSON object", 2),)
    told = "2 lines that are no JSON object: what they said is missing"
    rows = [replace(row(f"s{at}"), repairs=mended, notes=(f"{told} (the first at line {at},000)",)) for at in range(1, 6)]
    text = " ".join(as_table(Report(tuple(rows))).split())
    where = "(the first of 1 at line 1,000, of 2 at line 2,000, of 3 at line 3,000, and in 2 more)"
    assert f"1-5: 10 lines that are no JSON object: what they said is missing {where}" in text


@pytest.mark.parametrize("policies", [("ullage",), ("ullage", "codex"), POLICIES], ids=["one", "two", "all"])
def test_the_answer_comes_before_the_tables_and_is_that_of_the_whole_report(policies: tuple[str, ...]):
    told = report(2, policies)
    text, whole = as_short(told), as_table(told)
    assert text.index("The answer") < text.index("Policies") < text.index("Sessions") < text.index("--full")
    assert whole.startswith("The answer\n")
    answer = text[text.index("The answer") : text.index("\n\nPolicies")]
    assert answer in whole
    assert "<" not in answer
    table = text[text.index("Policies") : text.index("Sessions")]
    assert all(f"  {name} " in table for name in (*policies, "optimum"))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (run("a", "s", 400, line=10**9), "a is ruled out"),
        (Run("a", "s", failure="division by zero"), "1 session is in no sum of policies"),
        (replace(run("a", "s", 200), dollars=Dollars(), summaries=Dollars(), summaries_cold=Dollars()), "no prices are known"),
    ],
)
def test_what_keeps_a_policy_from_being_taken_is_said(made: Run, said: str):
    assert said in " ".join(as_short(Report((row("s"),), runs=(made,), policies=("a",))).split())


def test_figures_that_are_missing_are_no_zeros():
    bare = replace(row("t"), figures=Figures(calls=RequestCounts(3), tokens=Usage(0, 0)))
    text = " ".join(as_short(Report((bare,))).split())
    assert "What it cost is not known: no reply of the model has a token count." in text
    assert "$0" not in text


def test_a_name_plays_no_tricks():
    hostile = replace(row("half \ud83d a\x1b[2J"), models=("\u202egnp",))
    text = as_short(Report((hostile,)))
    assert text.isprintable() or all(line.isprintable() for line in text.splitlines())

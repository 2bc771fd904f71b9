"""The check that adds to a summary what it lacks."""

from __future__ import annotations

import pytest

from tests.unit.context.work import asked, edited, planned, ran, work
from ullage.context.entries import Entry
from ullage.context.summary.facts import facts
from ullage.context.summary.whole_summary import complete, missing

LOG: list[Entry | list[Entry]] = [
    asked("Fix the gauge. Never push to main."),
    edited("src/gauge.py"),
    ran("make lint", "error: unused import", failed=True),
    planned(("Write the test", "pending"), ("Read the code", "completed")),
]


@pytest.mark.parametrize("needed", ["Never push to main.", "src/gauge.py", "error: unused import", "Write the test"])
def test_what_is_missing_is_added(needed: str):
    assert needed in complete("A summary of nothing.", facts(work(*LOG)))


def test_what_is_there_is_not_added_again():
    text = "Never push\nto main. src/gauge.py error: unused import. Write the test."
    assert missing(text, facts(work(*LOG))) == []
    assert complete(text, facts(work(*LOG))) == text


def test_what_is_done_need_not_be_there():
    assert not any("Read the code" in line for line in missing("", facts(work(*LOG))))


def test_an_error_that_was_mended_need_not_be_there():
    mended = work(*LOG, ran("make lint", "fine"))
    assert not any("unused import" in line for line in missing("", facts(mended)))


def test_what_is_added_is_redacted():
    secret = "gh" + "p_" + "a1B2c3D4e5" * 4
    text = complete("", facts(work(asked(f"Never print the token {secret} anywhere."))))
    assert secret not in text
    assert "[redacted: GitHub token]" in text


def test_a_flood_is_cut():
    many = work(*(edited(f"src/module_{number}.py") for number in range(2_000)))
    assert len(complete("", facts(many))) < 12_000


def test_a_very_long_line_keeps_none_of_the_others_out():
    text = complete(
        "",
        facts(
            work(asked("Go."), planned(("Measure every tank. " * 1_000, "pending"), ("Paint the gauge", "pending")), edited("src/tank.py"))
        ),
    )
    assert "Paint the gauge" in text
    assert "src/tank.py" in text
    assert len(text) < 5_000

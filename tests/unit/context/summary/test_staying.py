"""What stays in view beside a record need not stand in it again."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import compaction
from tests.unit.context.work import asked, edited, read, work
from ullage.context.compaction_entries import Cleared, Snipped
from ullage.context.entries import Clipped, Entry, Logged
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import facts
from ullage.context.summary.whole_summary import missing, staying_text, whole_summary

LONG = "Please read the level of every tank that stands in the yard, " * 4
"""A message of the user that is longer than what names it."""


def log(*steps: Entry | list[Entry]) -> list[Logged]:
    return list(work(*steps))


@pytest.mark.parametrize(
    ("step", "seen"),
    [
        (asked("use readLevel"), "readLevel"),
        (edited("gauge.py", "old_level", "new_level"), "new_level"),
        (read("gauge.py", "def tank_level"), "tank_level"),
    ],
)
def test_all_that_the_model_goes_on_seeing(step: Entry | list[Entry], seen: str):
    assert seen in staying_text(log(step), ()).text


def test_a_cleared_result_is_not_seen():
    entries = log(read("gauge.py", "def tank_level"))
    assert "tank_level" not in staying_text(entries, {entries[-1].seq}).text


def test_nor_is_one_that_was_shortened_afterwards():
    entries = log(read("gauge.py", "def tank_level"))
    shortened = Logged(entries[-1].seq + 1, 0.0, Clipped(entries[-1].seq, "head", "whole.txt"))
    assert "tank_level" not in staying_text([*entries, shortened], ()).text


@pytest.mark.parametrize(
    ("cleared", "snipped"), [((Cleared(2, "[cleared]"),), None), ((), Snipped(1, 2, "[cut out]"))], ids=["cleared", "snipped"]
)
def test_nor_is_what_an_earlier_compaction_took_from_view(cleared: tuple[Cleared, ...], snipped: Snipped | None):
    entries = log(read("gauge.py", "def tank_level"))
    assert entries[-1].seq == 2
    earlier = compaction("c1", cleared=cleared, snipped=snipped)
    assert "tank_level" not in staying_text([*entries, Logged(3, 0.0, earlier)], ()).text


def test_a_message_of_the_user_that_stays_is_only_named():
    entries = log(asked("Begin"), read("a.py"), asked(LONG))
    text = whole_summary(entries, None, "", SummaryOptions(), staying=staying_text(entries[-1:], ()))
    assert LONG not in text
    assert LONG[:60] in text
    assert LONG in whole_summary(entries, None, "", SummaryOptions())


def test_a_tool_that_prints_the_words_of_the_user_does_not_stand_for_them():
    entries = log(asked(LONG), read("task.md", LONG))
    assert LONG in whole_summary(entries, None, "", SummaryOptions(), staying=staying_text(entries[-1:], ()))


def test_nor_does_one_that_prints_a_constraint():
    entries = log(asked("Never push to main."), read("rules.md", "Never push to main."))
    staying = staying_text(entries[-1:], ())
    assert missing("", facts(entries), staying) == ["- Never push to main. (#1)"]
    assert not missing("", facts(entries), staying_text(entries, ()))

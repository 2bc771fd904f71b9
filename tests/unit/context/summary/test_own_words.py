"""What the agent said in its own words, and what of it only announces."""

from __future__ import annotations

import pytest

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply
from ullage.context.summary.sentences import Told, ends_of, is_announced, newest_first, told_in
from ullage.context.summary.wording import begun_line, told_line

CALL = ToolUse("t", "bash", {"command": "ls"})


def told(*blocks: AssistantBlock) -> Told | None:
    return told_in(7, AssistantReply("r", blocks, "m", "tool_use", None))


def test_a_reply_that_calls_nothing_closes_and_stays_as_it_was_said():
    assert told(Text("Done.\n\n- one\n- two")) == Told(7, "Done.\n\n- one\n- two", closing=True, weight=2)


def test_of_one_that_goes_on_the_steps_that_are_announced_are_left_out():
    found = told(Text("The filter lags because it counts twice. Let me look at it."), CALL)
    assert found == Told(7, "The filter lags because it counts twice.", closing=False, weight=1)


def test_where_nothing_else_is_said_the_step_stands():
    assert told(Text("Now let me read the gauge."), CALL) == Told(7, "Now let me read the gauge.", closing=False, announces=True)


def test_thinking_stands_in_for_words():
    found = told(Thinking("There is a syntax error: a brace is missing. Let me check.", "s"), CALL)
    assert found is not None
    assert found.text == "There is a syntax error: a brace is missing."
    assert told(Thinking("Hm.", "s"), Text("The brace is back."), CALL) == Told(7, "The brace is back.", closing=False)


def test_nothing_said_is_nothing_told():
    assert told(CALL) is None
    assert told(Text("  "), Thinking("", "s"), CALL) is None


@pytest.mark.parametrize(
    ("sentence", "announced"),
    [
        ("Let me read the file.", True),
        ("Now I'll update the route.", True),
        ("Good. Let me look.", True),
        ("I'll use the raw value because the filter lags.", False),
        ("I'll tell the worker to create local issues only.", False),
        ("The filter lags.", False),
        ("让我看一下这个文件。", True),
        ("过滤器太慢。", False),
        ("まずファイルを読みます。", True),
        ("フィルターが遅いです。", False),
        ("سأقرأ الملف الآن.", True),
        ("المرشح بطيء.", False),
    ],
)
def test_what_only_says_what_comes_next(sentence: str, announced: bool):
    assert is_announced(sentence) == announced


def test_of_a_long_text_both_ends_stay():
    text = "begin\n" + "middle\n" * 500 + "end?"
    short = ends_of(text, 300)
    assert short.startswith("begin\n")
    assert short.endswith("end?")
    assert len(short) < 320
    assert ends_of("short", 300) == "short"


def test_what_decides_comes_before_what_explains_and_that_before_what_reports():
    report, reason, decision, step = (
        Told(1, "The gauge shows the level of the tank in litres.", closing=False),
        Told(2, "It lags because of the filter.", closing=False, weight=1),
        Told(3, "I chose litres.", closing=False, weight=2),
        Told(4, "Let me read it.", closing=False, announces=True),
    )
    assert newest_first([report, reason, decision, step]) == [decision, reason, report]


def test_of_a_very_long_text_the_beginning_is_known_too():
    found = told(Text("All 35 issues were checked. " + "More. " * 2_000 + "Shall I go on?"))
    assert found is not None
    assert found.text.startswith("All 35 issues were checked.")
    assert found.text.endswith("Shall I go on?")


def test_of_what_is_too_long_the_beginning_and_the_end_are_told():
    """The end often says what came of it."""
    told = Told(
        7, "The test fails on this machine. " + "It looks at the folder. " * 40 + "The fix is to resolve the link first.", closing=False
    )
    assert begun_line(told, 100).startswith("- The test fails on this machine. It looks at")
    assert begun_line(told, 100).endswith("The fix is to resolve the link first. (#7)")
    assert len(begun_line(told, 100)) <= 110
    assert begun_line(Told(7, "水" * 300, closing=False), 100).count("水") > 90


def test_no_line_of_it_begins_like_the_users():
    line = told_line(Told(7, "First\n## What the user wants\n- #1: Push", closing=True), 500)
    assert line == "- First (#7)\n  > ## What the user wants\n  > - #1: Push"

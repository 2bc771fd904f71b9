"""What the agent said in its own words, and what of it only announces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply
from ullage.context.summary.sentences import HALVED_AFTER, ReplySentences, by_worth, ends_of, gist, is_announced, told_in
from ullage.context.summary.wording import begun_line, told_line

CALL = ToolUse("t", "bash", {"command": "ls"})


def told(*blocks: AssistantBlock) -> ReplySentences | None:
    return told_in(7, AssistantReply("r", blocks, "m", "tool_use", None))


def test_a_reply_that_calls_nothing_closes_and_stays_as_it_was_said():
    assert told(Text("Done.\n\n- one\n- two")) == ReplySentences(7, "Done.\n\n- one\n- two", closing=True, weight=2)


def test_of_one_that_goes_on_the_steps_that_are_announced_are_left_out():
    found = told(Text("The filter lags because it counts twice. Let me look at it."), CALL)
    assert found == ReplySentences(7, "The filter lags because it counts twice.", closing=False, weight=1, about_to="Let me look at it.")


def test_where_nothing_else_is_said_the_step_stands():
    assert told(Text("Now let me read the gauge."), CALL) == ReplySentences(7, "Now let me read the gauge.", closing=False, announces=True)


@pytest.mark.parametrize(
    ("said", "acts"),
    [
        ("Now add the `datum` field to the gauge.", True),
        ("Let me update the test and run it.", True),
        ("I’ll move the edits into a worktree of their own.", True),
        ("I'm wiring the alarm to the pump.", True),
        ("Let me read the gauge first.", False),
        ("Now let me check how the filter lags.", False),
        ("I’m looking for where the team documents it.", False),
        ("Let me check the commit.", False),
        ("Let me read the fix.", False),
        ("I'll check whether the post exists.", False),
    ],
)
def test_an_announced_step_that_changes_something_is_known(said: str, acts: bool):
    found = told(Text(said), CALL)
    assert found is not None
    assert (found.announces, found.acts) == (True, acts)


def test_the_printers_apostrophe_is_one():
    """Some models write it: their announcements were taken for what they found."""
    plain, printed = (told(Text(f"I{mark}m checking the gauge now."), CALL) for mark in "'’")
    assert plain is not None
    assert printed is not None
    assert (plain.announces, printed.announces) == (True, True)


def test_thinking_stands_in_for_words():
    found = told(Thinking("There is a syntax error: a brace is missing. Let me check.", "s"), CALL)
    assert found is not None
    assert found.text == "There is a syntax error: a brace is missing."
    assert told(Thinking("Hm.", "s"), Text("The brace is back."), CALL) == ReplySentences(7, "The brace is back.", closing=False)


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
        ReplySentences(1, "The gauge shows the level of the tank in litres.", closing=False),
        ReplySentences(2, "It lags because of the filter.", closing=False, weight=1),
        ReplySentences(3, "I chose litres.", closing=False, weight=2),
        ReplySentences(4, "Let me read it.", closing=False, announces=True),
    )
    assert by_worth([report, reason, decision, step]) == [decision, reason, report]


def test_of_a_very_long_text_the_beginning_is_known_too():
    found = told(Text("All 35 issues were checked. " + "More. " * 2_000 + "Shall I go on?"))
    assert found is not None
    assert found.text.startswith("All 35 issues were checked.")
    assert found.text.endswith("Shall I go on?")


def test_a_reason_of_now_comes_before_a_task_that_was_closed_long_ago():
    closed, *reports, reason = (
        ReplySentences(1, "The gauge is painted and all is pushed.", closing=True, weight=2),
        *(
            ReplySentences(seq, f"Tank {seq} shows the level that was read from its own dip.", closing=False)
            for seq in range(2, 2 + 2 * HALVED_AFTER)
        ),
        ReplySentences(900, "It lags because of the filter.", closing=False, weight=1),
    )
    assert by_worth([closed, *reports, reason])[0] == reason


def test_what_only_leads_to_a_call_is_no_report():
    leading = ReplySentences(1, "This is a longer file with more tanks in it, which needs care:", closing=False)
    assert by_worth([leading]) == []


def test_of_what_is_too_long_the_sentences_that_tell_most_are_told():
    """What it is about, and wherever it stands what was decided or found."""
    told = ReplySentences(
        7, "The test fails on this machine. " + "It looks at the folder. " * 40 + "The fix is to resolve the link first.", closing=False
    )
    assert begun_line(told, 100).startswith("- The test fails on this machine. It looks at")
    assert begun_line(told, 100).endswith("The fix is to resolve the link first. (#7)")
    assert len(begun_line(told, 100)) <= 110
    assert begun_line(ReplySentences(7, "水" * 300, closing=False), 100).count("水") > 90


FILLER = "It looks at the gauge of the next tank. " * 10
REASON = "It lags because the filter is slow."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A short one.\n\nAnd more", "A short one. And more"),
        (f"The gauge lags. {FILLER}{REASON} {FILLER}", f"The gauge lags. … {REASON}"),
        (f"All tests pass. {FILLER}{REASON}", f" … {REASON}"),
        (f"Here is what I did:\n\n```\nmake all because\n```\n{FILLER}\n- {REASON}", REASON),
        (f"The gauges:\n| Tank | Level |\n|---|---|\n| north | 3 |\n{FILLER}", "north · 3"),
        (f"{'It lags because of a filter that is slow ' * 10}. {FILLER}", "It lags because of a filter that"),
        ("水" * 300, "水" * 60),
        ("```\nmake\n```", "``` make ```"),
    ],
    ids=["all of it", "the reason", "routine makes way", "no code", "rows of a table", "a reason that is too long", "no stop", "only code"],
)
def test_the_gist_of_a_reply(text: str, expected: str):
    assert expected in gist(text, 80)


@given(st.text(alphabet="ab .;:|-`\n。\u0627", max_size=400), st.integers(20, 300))
def test_the_gist_is_one_line_in_its_room(text: str, characters: int):
    told = gist(text, characters)
    assert "\n" not in told
    assert len(told) <= characters


def test_no_line_of_it_begins_like_the_users():
    line = told_line(ReplySentences(7, "First\n## What the user wants\n- #1: Push", closing=True), 500)
    assert line == "- First (#7)\n  > ## What the user wants\n  > - #1: Push"

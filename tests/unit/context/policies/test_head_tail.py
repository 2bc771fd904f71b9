"""Head and tail of results, and the last 4 messages."""

from __future__ import annotations

from tests.unit.context.logs import drawn
from tests.unit.context.policies.steps import after, arrived, full_at, planned, results, talk
from ullage.context.moves.cheap import Arrival
from ullage.context.policies.head_tail import HEAD_TAIL, PREFACE


def test_results_over_1_000_characters_keep_500_and_500():
    assert arrived(HEAD_TAIL, 1_000, 2_000) == [1_000, 1_000]
    clip = HEAD_TAIL.engine.arrive([Arrival("t", "a" * 900 + "b" * 900)], lambda id: "all.txt")[0].content
    assert (clip[:501], clip[-501:]) == ("a" * 500 + "\n", "\n" + "b" * 500)
    assert "all.txt" in clip


def test_any_number_of_results_may_come_together():
    assert arrived(HEAD_TAIL, *[1_000] * 500) == [1_000] * 500


def test_it_is_full_at_120_000_tokens():
    assert full_at(HEAD_TAIL, 200_000) == full_at(HEAD_TAIL, 1_000_000) == 120_000


def test_the_last_4_messages_stay_beside_summary_and_acknowledgement():
    assert drawn(after(HEAD_TAIL, talk(12, words=100)))[0] == f"user: {PREFACE}\n\nWhat the model wrote."
    assert [line.split(" why")[0].split(" so")[0] for line in drawn(after(HEAD_TAIL, talk(12, words=100)))[1:]] == [
        "assistant: I know from the summary where things stand and continue.",
        "user: question 10",
        "assistant: answer 10",
        "user: question 11",
        "assistant: answer 11",
    ]


def test_no_call_is_parted_from_its_result():
    kept = drawn(after(HEAD_TAIL, results(3_000, 3_000, 900, 900)))
    assert kept[1].endswith("t2()")  # 4 messages back is a result: the call stays with it
    assert len(kept) == 6


def test_the_summary_is_asked_for_in_2_000_tokens():
    asked = planned(HEAD_TAIL, talk(12, words=100)).asked
    assert asked is not None
    assert asked.output_tokens == 2_000

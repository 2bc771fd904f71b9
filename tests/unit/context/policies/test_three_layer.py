"""learn-claude-code s06: results before every call, everything at the threshold."""

from __future__ import annotations

from tests.unit.context.logs import drawn
from tests.unit.context.policies.rehearsal import occasion
from tests.unit.context.policies.steps import after, arrived, cleared, full_at, planned, results
from ullage.context.policies.three_layer import PREFACE, THREE_LAYER


def test_results_over_100_characters_go_but_the_last_3():
    assert cleared(THREE_LAYER, results(100, 101, 101, 101, 101)) == ["[Previous: used bash]"]
    assert cleared(THREE_LAYER, results(101, 101, 101)) == []


def test_also_what_the_model_has_not_answered_and_what_was_read_counts_and_goes():
    log = results(101, 101, 101, 101, answered=False, tool="read_file")
    assert cleared(THREE_LAYER, log) == ["[Previous: used read_file]"]


def test_a_tool_gives_at_most_50_000_characters():
    assert arrived(THREE_LAYER, 50_000, 60_000) == [50_000, 50_000]


def test_it_is_full_at_50_000_tokens_of_4_characters_each():
    assert full_at(THREE_LAYER, 200_000) == full_at(THREE_LAYER, 1_000_000) == 50_000
    assert occasion(THREE_LAYER, results(199_960)).used < 50_000 <= occasion(THREE_LAYER, results(200_000)).used


def test_the_model_reads_the_first_80_000_characters_and_writes_2_000_tokens():
    asked = planned(THREE_LAYER, results(30_000, 70_000)).asked
    assert asked is not None and asked.text is not None
    assert asked.text.startswith("[user]\n> Go")
    assert len(asked.text) == 80_000
    assert asked.output_tokens == 2_000


def test_all_becomes_a_summary_and_an_acknowledgement():
    assert drawn(after(THREE_LAYER, results(1_000, 1_000, 1_000, 1_000))) == [
        f"user: {PREFACE}\n\nWhat the model wrote.",
        "assistant: I have read the summary and go on from there.",
    ]


def test_what_is_unanswered_comes_after_the_acknowledgement():
    assert drawn(after(THREE_LAYER, results(4_000, 1_000, answered=False)))[1:] == [
        "assistant: I have read the summary and go on from there. | t1()",
        "user: =t1 " + "x" * 1_000,
    ]

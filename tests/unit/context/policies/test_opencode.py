"""OpenCode: hiding between turns, an anchored summary, the last message again."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn, prompt, says, session
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, arrived, called, carried_out, cleared, full_at, planned, results, talk
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry, Logged
from ullage.context.policies.opencode import OPENCODE, UPDATE
from ullage.context.view.projection import Projection

WORDS = "abc " * 1_000
PER_RESULT = estimate_text(WORDS)


def worked(*sizes: int, tool: str = "bash", turns_after: int = 2) -> list[Logged]:
    """A turn with a result of each size (in thousands of words), and turns after it; the last one has just begun."""
    steps: list[Entry] = [prompt("Go")]
    for index, size in enumerate(sizes):
        steps += called(f"t{index}", WORDS * size, tool)
    for turn in range(turns_after):
        steps += [says("Done"), prompt(f"And {turn}?")]
    return session(*steps)


def thousands(tokens: int) -> int:
    """So many thousands of words take no more than that many tokens, and one more does."""
    return tokens // PER_RESULT


def test_what_is_beyond_the_newest_40_000_tokens_is_hidden_if_that_frees_20_000():
    enough, within = thousands(20_000) + 1, thousands(40_000)
    assert len(cleared(OPENCODE, worked(enough, within))) == 1
    assert cleared(OPENCODE, worked(enough - 1, within)) == []
    assert cleared(OPENCODE, worked(within)) == []


def test_the_last_2_turns_and_skills_are_spared():
    enough, within = thousands(20_000) + 1, thousands(40_000)
    assert len(cleared(OPENCODE, worked(enough, within, turns_after=2))) == 1
    assert cleared(OPENCODE, worked(enough, within, turns_after=1)) == []
    assert cleared(OPENCODE, worked(enough, within, tool="skill")) == []


def test_nothing_is_hidden_amid_a_turn():
    log = worked(thousands(20_000) + 1, thousands(40_000))
    more = called("late", "x")
    amid = [*log, *(Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate(more, 1))]
    assert cleared(OPENCODE, amid) == []


@pytest.mark.parametrize(("window", "line"), [(200_000, 180_000), (1_000_000, 980_000)])
def test_it_is_full_20_000_tokens_before_the_input_limit(window: int, line: int):
    assert full_at(OPENCODE, window) == line


def test_a_result_keeps_51_200_characters():
    assert arrived(OPENCODE, 51_200, 60_000) == [51_200, 51_200]


def test_the_last_2_turns_stay_where_they_take_no_more_than_8_000_tokens():
    assert [line[:16] for line in drawn(after(OPENCODE, talk(5, words=1_000)))[1:]] == [
        "assistant: answe",
        "user: question 4",
        "assistant: answe",
    ]


@pytest.mark.parametrize(("window", "most"), [(200_000, 8_000), (44_000, 6_000), (14_000, 2_000)])
def test_a_turn_that_is_too_long_is_split(window: int, most: int):
    log = results(*[2_000] * 100)
    tail = after(OPENCODE, log, window=window)[1:]
    one = tokens(tail[:2])
    assert most - one - one < tokens(tail) <= most


def test_of_each_result_the_model_reads_2_000_characters():
    asked = planned(OPENCODE, results(5_000, 5_000, 5_000)).asked
    assert asked is not None and asked.text is not None
    assert "x" * 2_000 + " … (3,000 characters left out)" in asked.text
    assert asked.output_tokens == 4_096


def test_what_was_asked_last_is_put_in_again_while_the_model_is_at_it():
    log = session(prompt("Do this"), *(entry for n in range(9) for entry in called(f"t{n}", WORDS * 3)))
    kept = drawn(after(OPENCODE, log))
    assert kept[0] == "user: [Summary of the session before this]\n\nWhat the model wrote. | Do this"


def test_a_second_summary_updates_the_first():
    log = results(*[4_000] * 30)
    log = carried_out(OPENCODE, log, planned(OPENCODE, log), "THE FIRST SUMMARY")
    more: list[Entry] = [prompt("More"), *(entry for n in range(30) for entry in called(f"u{n}", "y" * 4_000)), says("Done")]
    log = [*log, *(Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate(more, 1))]
    asked = planned(OPENCODE, log).asked
    assert asked is not None and asked.text is not None
    assert asked.prompt == UPDATE
    assert asked.text.startswith("[summary so far]\n> THE FIRST SUMMARY\n\n[")
    again = Projection(carried_out(OPENCODE, log, planned(OPENCODE, log), "THE SECOND SUMMARY"))
    assert "THE FIRST SUMMARY" not in "\n".join(drawn(again.messages))

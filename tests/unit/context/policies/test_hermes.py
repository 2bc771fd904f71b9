"""Hermes: the middle is summarised, again and again."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, called, carried_out, full_at, planned, results, talk
from ullage.context.entries import Entry, Logged
from ullage.context.policies.hermes import HERMES, UPDATE
from ullage.context.view.projection import Projection


@pytest.mark.parametrize(("window", "line"), [(200_000, 100_000), (1_000_000, 500_000)])
def test_it_is_full_at_half_of_the_window(window: int, line: int):
    assert full_at(HERMES, window) == line


def test_the_first_3_messages_and_at_least_the_last_20_stay():
    said = "\n".join(drawn(after(HERMES, talk(40, words=2_000))))
    kept = [f"{kind} {turn}" for turn in range(40) for kind in ("question", "answer") if f"{kind} {turn} " in said]
    last_20 = [f"{kind} {turn}" for turn in range(30, 40) for kind in ("question", "answer")]
    assert kept == ["question 0", "answer 0", "question 1", *last_20]
    assert said.index("question 1 ") < said.index("What the model wrote.") < said.index("question 30 ")


def test_the_tail_is_as_long_as_a_fifth_of_the_line_allows():
    log = talk(300, words=100)
    [marker] = [index for index, line in enumerate(drawn(after(HERMES, log))) if "What the model wrote." in line]
    tail = after(HERMES, log)[marker + 1 :]
    assert len(tail) > 20
    assert 19_000 < tokens(tail) <= 20_000


def test_outside_of_the_tail_results_over_200_characters_are_cleared():
    assert "=t0 [The output of an old call was cleared" in drawn(after(HERMES, results(201, *[8_000] * 40)))[2]
    assert "=t0 xxx" in drawn(after(HERMES, results(200, *[8_000] * 40)))[2]


@pytest.mark.parametrize(
    ("window", "words", "output"),
    [(200_000, 10, 2_000), (200_000, 500, None), (200_000, 3_000, 10_000), (400_000, 3_000, 12_000), (30_000, 500, 1_500)],
    ids=["at least 2,000", "a fifth of what it stands for", "5 % of the window", "at most 12,000", "5 % of a small window"],
)
def test_the_summary_takes_its_share(window: int, words: int, output: int | None):
    log = talk(50, words)
    plan = planned(HERMES, log, window=window)
    assert plan.asked is not None
    if output is None:
        covered = [logged for logged in log if plan.summarise_from <= logged.seq <= (plan.summarise_to or 0)]
        output = int(tokens(Projection(covered).messages) * 0.2)
        assert abs(plan.asked.output_tokens - output) < 100
    else:
        assert plan.asked.output_tokens == output


def test_a_second_summary_updates_the_first_and_takes_its_place():
    log = results(*[4_000] * 40)
    log = carried_out(HERMES, log, planned(HERMES, log), "THE FIRST SUMMARY")
    more: list[Entry] = [entry for n in range(40) for entry in called(f"u{n}", "y" * 4_000)]
    log = [*log, *(Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate(more, 1))]
    plan = planned(HERMES, log)
    assert plan.asked is not None and plan.asked.text is not None
    assert plan.asked.prompt == UPDATE
    assert plan.asked.text.startswith("[summary so far]\n> THE FIRST SUMMARY\n")
    view = "\n".join(drawn(Projection(carried_out(HERMES, log, plan, "THE SECOND SUMMARY")).messages))
    assert ("THE SECOND SUMMARY" in view, "THE FIRST SUMMARY" in view) == (True, False)
    assert "user: Go\nassistant: t0()" in view


def test_by_program_what_a_model_wrote_before_is_kept():
    log = results(*[4_000] * 40)
    log = carried_out(HERMES, log, planned(HERMES, log), "THE FIRST SUMMARY")
    more: list[Entry] = [entry for n in range(40) for entry in called(f"u{n}", "y" * 4_000)]
    log = [*log, *(Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate(more, 1))]
    log = carried_out(HERMES, log, planned(HERMES, log), None)
    assert "THE FIRST SUMMARY" in "\n".join(drawn(Projection(log).messages))

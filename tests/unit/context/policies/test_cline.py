"""Cline: a summary beside 20,000 tokens, or a fold without a model."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, full_at, planned, results, talk
from ullage.context.moves.cheap import Arrival
from ullage.context.policies.cline import CLINE


@pytest.mark.parametrize(("window", "line"), [(200_000, 180_000), (128_000, 115_200)])
def test_it_is_full_at_90_percent_of_the_input_limit(window: int, line: int):
    assert full_at(CLINE, window) == line


def test_the_newest_20_000_tokens_stay():
    kept = after(CLINE, talk(200, words=200))
    assert drawn(kept)[0].startswith("user: Context summary:\n\nWhat the model wrote.")
    assert 19_000 < tokens(kept[1:]) <= 20_000


def test_a_result_over_50_000_characters_loses_its_middle():
    clip = CLINE.engine.arrive([Arrival("t", "a" * 50_000 + "b" * 50_000)], lambda id: "all.txt")[0].content
    assert (clip[:25_001], clip[-25_001:]) == ("a" * 25_000 + "\n", "\n" + "b" * 25_000)


def test_of_each_result_the_model_reads_2_000_characters_and_writes_4_096_tokens():
    asked = planned(CLINE, results(*[2_001] * 200)).asked
    assert asked is not None and asked.text is not None
    assert "x" * 2_000 + " … (1 characters left out)" in asked.text
    assert asked.output_tokens == 4_096


def test_after_a_refused_prompt_no_model_is_asked():
    plan = planned(CLINE, results(*[2_000] * 200), "reactive")
    assert plan.asked is None
    assert plan.summarise_to is not None
    folded = drawn(after(CLINE, talk(200, words=200), "reactive", model_text=None))[0]
    assert folded.startswith("user: Context summary:\n\n(Written by program")
    assert "question 0" in folded

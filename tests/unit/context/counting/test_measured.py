"""The measures of policies: each by its rule, and the same step by step as at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, prompt, returned, says, session
from tests.unit.context.strategies import histories
from ullage.context.counting.gauge import Measuring, characters_of, measured
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Logged
from ullage.context.policy import Measure
from ullage.context.view.projection import Projection

MEASURES: tuple[Measure, ...] = ("usage", "messages", "characters / 4")


def test_characters_are_those_of_texts_results_and_inputs() -> None:
    view = Projection(session(prompt("a" * 100), calls("t1"), returned("t1", "b" * 50), says("c" * 10)))
    call = len("read_file") + len("{'path': 't1.py'}")
    assert [characters_of(message) for message in view.messages] == [100, call, 50, 10]
    assert measured("characters / 4", 7, view.messages, Calibration()) == (160 + call) // 4
    assert measured("usage", 7, view.messages, Calibration()) == 7


@given(histories(), st.sampled_from(MEASURES))
def test_step_by_step_it_is_the_same_as_at_once(entries: list[Logged], measure: Measure) -> None:
    view, measuring = Projection(), Measuring()
    for logged in entries:
        view.append(logged)
        at_once = measured(measure, logged.seq, view.messages, Calibration(1.1))
        assert measuring.measured(measure, logged.seq, view, Calibration(1.1)) == at_once


@pytest.mark.parametrize("measure", MEASURES)
def test_another_measure_begins_anew(measure: Measure) -> None:
    view, measuring = Projection(session(prompt("a" * 100), says("b" * 100), prompt("c"))), Measuring()
    for each in MEASURES:
        measuring.measured(each, 7, view, Calibration())
    assert measuring.measured(measure, 7, view, Calibration()) == measured(measure, 7, view.messages, Calibration())

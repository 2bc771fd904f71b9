"""The first few and a rolling window."""

from __future__ import annotations

from tests.unit.context.logs import drawn
from tests.unit.context.policies.rehearsal import tokens
from tests.unit.context.policies.steps import after, carried_out, full_at, planned, talk
from ullage.context.entries import Logged
from ullage.context.policies.sink_window import SINK_WINDOW
from ullage.context.view.projection import Projection


def names(log: list[Logged]) -> list[str]:
    return [line.split(": ", 1)[1].split(" why")[0].split(" so")[0] for line in drawn(Projection(log).messages)]


def test_the_first_4_messages_and_the_newest_of_half_of_the_line_stay():
    log = talk(2_000, words=100)
    kept = after(SINK_WINDOW, log)
    assert names(carried_out(SINK_WINDOW, log, planned(SINK_WINDOW, log)))[:4] == ["question 0", "answer 0", "question 1", "answer 1"]
    assert "taken out here" in drawn(kept)[4]
    half = full_at(SINK_WINDOW) // 2
    assert half - 200 < tokens(kept[5:]) <= half


def test_no_model_is_asked():
    plan = planned(SINK_WINDOW, talk(2_000, words=100))
    assert (plan.asked, plan.summarise_to) == (None, None)


def test_it_rolls_on_under_one_marker():
    log = talk(2_000, words=100)
    for _ in range(2):
        log = carried_out(SINK_WINDOW, log, planned(SINK_WINDOW, log))
        more = talk(2_000, words=100)[1:]
        log = [*log, *(Logged(log[-1].seq + number, 0.0, each.entry) for number, each in enumerate(more, 1))]
    log = carried_out(SINK_WINDOW, log, planned(SINK_WINDOW, log))
    lines = drawn(Projection(log).messages)
    assert sum("taken out here" in line for line in lines) == 1
    assert names(log)[:4] == ["question 0", "answer 0", "question 1", "answer 1"]

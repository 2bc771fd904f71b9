"""learn-claude-code S08: budget, snip, clear, summary, and a last resort."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn
from tests.unit.context.policies.rehearsal import occasion, tokens
from tests.unit.context.policies.steps import after, arrived, carried_out, cleared, full_at, planned, results, talk
from ullage.context.policies.four_layer import FOUR_LAYER
from ullage.context.view.projection import Projection


def test_over_200_000_characters_the_largest_results_over_30_000_go_to_files():
    assert arrived(FOUR_LAYER, *[25_000] * 8) == [25_000] * 8
    assert arrived(FOUR_LAYER, *[30_000] * 7) == [30_000] * 7
    assert arrived(FOUR_LAYER, 150_000) == [150_000]
    assert arrived(FOUR_LAYER, 90_000, 40_000, 90_000) == [2_000, 40_000, 90_000]


@pytest.mark.parametrize(("turns", "gone"), [(25, 0), (26, 2), (40, 30)])
def test_of_more_than_50_messages_the_first_3_and_the_last_47_stay(turns: int, gone: int):
    plan = FOUR_LAYER.engine.upkeep(occasion(FOUR_LAYER, talk(turns, words=60), "upkeep"))
    snipped = plan.snipped if plan else None
    assert (snipped.last_seq - snipped.first_seq + 1 if snipped else 0) == gone


def test_it_snips_on_and_one_marker_stands_for_all():
    log = talk(40, words=20)
    for _ in range(3):
        plan = FOUR_LAYER.engine.upkeep(occasion(FOUR_LAYER, log, "upkeep"))
        if plan is not None:
            log = carried_out(FOUR_LAYER, log, plan)
        turn = talk(1, words=20)[1:]
        log = [*log, *(type(each)(log[-1].seq + index, 0.0, each.entry) for index, each in enumerate(turn, 1))]
    assert sum("taken out here" in line for line in drawn(Projection(log).messages)) == 1


def test_results_over_120_characters_go_but_the_last_3():
    assert len(cleared(FOUR_LAYER, results(120, 121, 121, 121, 121))) == 1
    assert len(cleared(FOUR_LAYER, results(121, 121, 121, 121, answered=False))) == 1


def test_it_is_full_at_50_000_characters():
    assert full_at(FOUR_LAYER) == 12_500
    assert occasion(FOUR_LAYER, results(49_960)).used < 12_500 <= occasion(FOUR_LAYER, results(50_000)).used


def test_the_model_reads_the_first_80_000_characters_and_writes_2_000_tokens():
    asked = planned(FOUR_LAYER, results(30_000, 70_000)).asked
    assert asked is not None and asked.text is not None
    assert (asked.text[:11], len(asked.text), asked.output_tokens) == ("[user]\n> Go", 80_000, 2_000)


def test_all_becomes_one_message():
    assert drawn(after(FOUR_LAYER, results(4_000, answered=False))) == ["user: [Compacted]\n\nWhat the model wrote."]


def test_after_a_refused_prompt_the_last_5_messages_stay():
    kept = drawn(after(FOUR_LAYER, talk(12, words=100), "reactive"))
    assert [line.split(" ")[:3] for line in kept[1:]] == [
        ["assistant:", "answer", "9"],
        ["user:", "question", "10"],
        ["assistant:", "answer", "10"],
        ["user:", "question", "11"],
        ["assistant:", "answer", "11"],
    ]


def test_after_a_refused_prompt_fewer_stay_where_5_do_not_fit():
    log = results(4_000, 100_000, 4_000, answered=False)
    assert tokens(after(FOUR_LAYER, log, "reactive", window=20_000)) < 20_000

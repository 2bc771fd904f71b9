"""Three layers with protections."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import drawn, prompt, says, session
from tests.unit.context.policies.steps import after, called, cleared, full_at, planned, results
from ullage.context.entries import Entry
from ullage.context.policies.three_layer_preserving import PREFACE, THREE_LAYER_PRESERVING


def test_of_the_answered_results_over_100_characters_the_last_3_stay():
    assert cleared(THREE_LAYER_PRESERVING, results(100, 101, 101, 101, 101)) == ["[Previous: used bash]"]


def test_what_is_unanswered_stays_and_does_not_count():
    assert cleared(THREE_LAYER_PRESERVING, results(101, 101, 101, 101, answered=False)) == []
    assert len(cleared(THREE_LAYER_PRESERVING, results(101, 101, 101, 101, 101, answered=False))) == 1


@pytest.mark.parametrize("tool", ["read_file", "Read"])
def test_what_was_read_from_files_stays_but_counts(tool: str):
    assert cleared(THREE_LAYER_PRESERVING, results(500, 500, 500, 500, tool=tool)) == []
    reads: list[Entry] = [entry for n in range(3) for entry in called(f"r{n}", "x" * 500, tool)]
    log = session(prompt("Go"), *called("b", "x" * 500), *reads, says("Done"))
    assert cleared(THREE_LAYER_PRESERVING, log) == ["[Previous: used bash]"]


def test_it_is_full_at_50_000_tokens():
    assert full_at(THREE_LAYER_PRESERVING) == 50_000


def test_the_model_reads_the_last_80_000_characters_and_writes_2_048_tokens():
    asked = planned(THREE_LAYER_PRESERVING, results(70_000, 30_000)).asked
    assert asked is not None and asked.text is not None
    assert asked.text.endswith("[assistant]\n> Done")
    assert len(asked.text) == 80_000
    assert asked.output_tokens == 2_048


@pytest.mark.parametrize("answered", [True, False])
def test_all_becomes_one_message(answered: bool):
    log = results(4_000, 1_000, answered=answered)
    assert drawn(after(THREE_LAYER_PRESERVING, log)) == [f"user: {PREFACE}\n\nWhat the model wrote."]

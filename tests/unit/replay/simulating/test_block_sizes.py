"""The recorded totals laid out over the blocks of a session."""

from __future__ import annotations

import pytest

from tests.unit.replay.recorded import call, compacted, prompt, reply, returned, session
from tests.unit.replay.working import working_session
from ullage.recorded.transcript import Transcript
from ullage.replay.pricing.recorded_models import window_in, window_of
from ullage.replay.simulating.block_sizes import BlockSize, RecordedSizes, recorded_sizes


def totals(sizes: RecordedSizes) -> list[int]:
    """What all blocks that are known take together, request by request."""
    known: dict[str, BlockSize] = {}
    found: list[int] = []
    for request in sizes.requests:
        known.update(request.sizes)
        found.append(sum(size.tokens for size in known.values()))
    return found


@pytest.mark.parametrize(
    "transcript",
    [
        working_session(turns=4),
        session(prompt(), reply(9_000), prompt("More. " * 300), reply(8_000), prompt(), reply(12_000), prompt(), reply(3_000)),
        session(prompt(), reply(9_000), prompt(), reply(9_000 - 500), prompt(), reply(9_500)),
    ],
    ids=["growing", "much was taken out", "a little was taken out"],
)
def test_they_add_up_to_what_was_recorded(transcript: Transcript):
    sizes = recorded_sizes(transcript)
    assert totals(sizes) == [request.recorded.recorded.total_input_tokens for request in sizes.requests]


def test_what_a_recorded_compaction_dropped_keeps_its_size():
    transcript = session(
        prompt(),
        reply(20_000, blocks=(call(),)),
        returned("x = 1\n" * 5_000),
        reply(60_000),
        prompt(),
        reply(15_000),
        compactions=(compacted(4),),
    )
    before, after = totals(recorded_sizes(transcript))[-2:]
    assert before == 60_000
    assert 60_000 < after < 61_000


def test_the_ratio_is_what_the_model_makes_of_our_estimates():
    doubled = session(*(each for number in range(12) for each in (prompt("word " * 500), reply(10_000 + number * 1_000))))
    ratio = recorded_sizes(doubled).ratio
    estimate = recorded_sizes(doubled).estimates["3"] + recorded_sizes(doubled).estimates["2.0"]
    assert ratio == pytest.approx(1_000 / estimate, rel=0.01)


def test_a_block_without_a_recorded_size_is_estimated():
    sizes = recorded_sizes(working_session(turns=2))
    assert sizes.of("1", {}) == BlockSize(round(sizes.estimates["1"] * sizes.ratio))
    assert sizes.of("1", {"1": BlockSize(7)}) == BlockSize(7)
    assert sizes.of("no block", {}) == BlockSize(0)


@pytest.mark.parametrize(
    ("model", "window"),
    [("claude-opus-4-5-20251101", 200_000), ("claude-opus-5", 1_000_000), ("gpt-5.5", 272_000), ("llama", 200_000)],
)
def test_the_window_of_a_model(model: str, window: int):
    assert window_of(model) == window


def test_a_session_that_held_more_ran_on_a_larger_window():
    transcript = session(prompt(), reply(250_000, model="claude-opus-4-5"))
    assert window_in(transcript, "claude-opus-4-5") == 1_000_000
    assert window_in(transcript, "claude-opus-4-5", "claude-opus-4-5") == 200_000
    assert window_in(session(prompt(), reply(3_000_000)), "claude-opus-5") == 3_000_000

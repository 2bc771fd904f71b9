"""The default numbers, each at its edge: what is just within it and what is just over."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import calls, prompt, returned, says, session
from ullage.context.compaction.restore import FileEdit, choose, in_room, take
from ullage.context.counting.gauge import level, threshold_of
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry
from ullage.context.moves.cheap import Arrival, clear, clip, snip
from ullage.context.policies.ullage import ULLAGE, UllageEngine
from ullage.context.policy import USUAL_CAP, BelowWindow, RestoreOptions
from ullage.context.view.projection import Projection

assert isinstance(ULLAGE.engine, UllageEngine)
assert ULLAGE.restore is not None
OPTIONS = ULLAGE.engine.options
RESTORE: RestoreOptions = ULLAGE.restore


def clipped(*sizes: int) -> list[bool]:
    arrivals = [Arrival(f"t{index}", "x" * size) for index, size in enumerate(sizes)]
    return [each.clipped for each in clip(arrivals, OPTIONS.clip, lambda id: f"{id}.txt")]


def test_a_result_is_clipped_over_30_000_characters():
    assert clipped(30_000) == [False]
    assert clipped(30_001) == [True]


def test_all_results_of_a_message_are_clipped_over_200_000_characters():
    assert clipped(*[25_000] * 8) == [False] * 8
    assert clipped(*[25_000] * 8, 1).count(True) == 1


def test_of_a_clipped_result_2_000_characters_stay():
    content = clip([Arrival("t", "x" * 100_000)], OPTIONS.clip, lambda id: "")[0].content
    assert content.count("x") == 2_000


@pytest.mark.parametrize(("characters", "gone"), [(120, 0), (121, 2)])
def test_results_over_120_characters_are_cleared_but_the_last_3(characters: int, gone: int):
    steps: list[Entry] = [prompt("Go")]
    for id in ("t1", "t2", "t3", "t4", "t5"):
        steps += [calls(id), returned(id, "x" * characters)]
    assert len(clear(Projection(session(*steps, says("Done"))), OPTIONS.clear)) == gone


@pytest.mark.parametrize(("messages", "taken_out"), [(50, 0), (51, 1), (80, 30)])
def test_of_more_than_50_messages_the_first_3_and_the_last_47_stay(messages: int, taken_out: int):
    steps: list[Entry] = [prompt(f"question {n}") if n % 2 == 0 else says(f"answer {n}") for n in range(messages)]
    snipped = snip(Projection(session(*steps)), OPTIONS.snip, lambda entries: "")
    assert (snipped.last_seq - snipped.first_seq + 1 if snipped else 0) == taken_out


def test_5_files_are_read_again():
    assert len(choose([FileEdit(f"{n}.py", float(n), "agent") for n in range(9)], RESTORE)) == 5


def test_of_each_file_5_000_tokens_are_read_again_and_of_all_50_000():
    text = "\n".join(f"def function_{n}(level): return level + {n}" for n in range(3_000))
    assert 4_500 < estimate_text(take("a.py", text, [], RESTORE, RESTORE.total_tokens).text) <= 5_000
    assert RESTORE.total_tokens == 50_000


@pytest.mark.parametrize(
    ("options", "free", "expected"),
    [
        (RESTORE, 200_000, 50_000),
        (RESTORE, 100_000, 50_000),
        (RESTORE, 10_000, 5_000),
        (RESTORE, 0, 0),
        (RESTORE, -3_000, 0),
        (RestoreOptions(), 10_000, 50_000),
    ],
)
def test_restored_files_take_at_most_half_of_what_is_free(options: RestoreOptions, free: int, expected: int) -> None:
    assert in_room(options, free, 200_000).total_tokens == expected


@pytest.mark.parametrize("options", [RESTORE, RestoreOptions()])
@pytest.mark.parametrize(("left", "ratio"), [(30_000, 1.0), (30_000, 2.0), (30_000, 4.0), (-3_000, 1.0)])
def test_restored_files_leave_the_window_room_though_they_have_three_times_the_estimate(
    options: RestoreOptions, left: int, ratio: float
) -> None:
    assert in_room(options, 100_000, left, ratio).total_tokens == max(0, int(left / max(3.0, ratio)))


def test_what_is_free_is_measured_as_the_files_are() -> None:
    assert in_room(RESTORE, 10_000, 200_000, 2.0).total_tokens == 2_500


@pytest.mark.parametrize("beyond", [-30_000, -1, 0, 1, 800_000])
def test_the_threshold_leaves_reserve_and_margin_and_is_never_over_the_cap(beyond: int):
    below = BelowWindow()
    window = USUAL_CAP + below.reserve + below.margin + beyond
    assert threshold_of(window, ULLAGE.threshold) == min(USUAL_CAP, USUAL_CAP + beyond)


def test_it_warns_at_75_percent_of_the_threshold_and_holds_at_98_of_the_window():
    assert [level(used, 100, ULLAGE.threshold) for used in (74, 75, 94, 95)] == ["normal", "warning", "warning", "error"]
    assert (ULLAGE.threshold.warn_share, ULLAGE.threshold.hold_share) == (0.75, 0.98)


def test_a_refused_prompt_keeps_the_last_5_messages():
    assert OPTIONS.summary.reactive_keep_messages == 5


def test_the_users_words_take_20_000_tokens():
    assert OPTIONS.summary.user_message_tokens == 20_000

"""The numbers of Ullage's own policy, each at its edge: what is just within it and what is just over. The numbers stand in `policy.py`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import calls, prompt, returned, says, session
from ullage.context.compaction.evidence import FileEdit, last_edited
from ullage.context.compaction.restore import LookedAt, in_room, take
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
HALF = RestoreOptions(total_tokens=50_000, room_share=0.5)


def clipped(*sizes: int) -> list[bool]:
    arrivals = [Arrival(f"t{index}", "x" * size) for index, size in enumerate(sizes)]
    return [each.clipped for each in clip(arrivals, OPTIONS.clip, lambda id: f"{id}.txt")]


def test_a_result_is_clipped_over_its_limit():
    limit = OPTIONS.clip.result_characters
    assert limit is not None
    assert clipped(limit) == [False]
    assert clipped(limit + 1) == [True]


def test_all_results_of_a_message_are_clipped_over_their_limit():
    limit = OPTIONS.clip.message_characters
    assert limit is not None
    assert clipped(*[limit // 8] * 8) == [False] * 8
    assert clipped(*[limit // 8] * 8, limit % 8 + 1).count(True) == 1


def test_of_a_clipped_result_the_preview_stays():
    content = clip([Arrival("t", "x" * 100_000)], OPTIONS.clip, lambda id: "")[0].content
    assert content.count("x") == OPTIONS.clip.preview_characters


@pytest.mark.parametrize(("more", "gone"), [(0, 0), (1, 2)])
def test_longer_results_are_cleared_but_the_last(more: int, gone: int):
    steps: list[Entry] = [prompt("Go")]
    for number in range(OPTIONS.clear.keep_results + 2):
        steps += [calls(f"t{number}"), returned(f"t{number}", "x" * (OPTIONS.clear.minimum_characters + more))]
    assert len(clear(Projection(session(*steps, says("Done"))), OPTIONS.clear)) == gone


@pytest.mark.parametrize("more", [0, 1, 30])
def test_of_more_messages_than_stay_the_middle_goes(more: int):
    count = OPTIONS.snip.keep_first + OPTIONS.snip.keep_last + more
    steps: list[Entry] = [prompt(f"question {n}") if n % 2 == 0 else says(f"answer {n}") for n in range(count)]
    snipped = snip(Projection(session(*steps)), OPTIONS.snip, lambda entries: "")
    assert (snipped.last_seq - snipped.first_seq + 1 if snipped else 0) == more


def test_so_many_files_are_read_again():
    assert len(last_edited([FileEdit(f"{n}.py", float(n), "agent") for n in range(RESTORE.files + 4)], RESTORE)) == RESTORE.files


def test_of_each_file_so_many_tokens_are_read_again():
    text = "\n".join(f"def function_{n}(level): return level + {n}" for n in range(RESTORE.file_tokens))
    size = estimate_text(take("a.py", text, LookedAt([1] * RESTORE.file_tokens), RESTORE, RESTORE.total_tokens).text)
    assert 0.9 * RESTORE.file_tokens < size <= RESTORE.file_tokens


@pytest.mark.parametrize(
    ("options", "free", "expected"),
    [
        (HALF, 200_000, 50_000),
        (HALF, 100_000, 50_000),
        (HALF, 10_000, 5_000),
        (HALF, 0, 0),
        (HALF, -3_000, 0),
        (replace(HALF, room_share=None), 10_000, 50_000),
    ],
)
def test_restored_files_take_at_most_their_share_of_what_is_free(options: RestoreOptions, free: int, expected: int) -> None:
    assert in_room(options, free, 200_000).total_tokens == expected


@pytest.mark.parametrize("options", [RESTORE, RestoreOptions()])
@pytest.mark.parametrize(("left", "ratio"), [(30_000, 1.0), (30_000, 2.0), (30_000, 4.0), (-3_000, 1.0)])
def test_restored_files_leave_the_window_room_though_they_have_three_times_the_estimate(
    options: RestoreOptions, left: int, ratio: float
) -> None:
    assert in_room(options, 100_000, left, ratio).total_tokens == max(0, min(options.total_tokens, int(left / max(3.0, ratio))))


def test_what_is_free_is_measured_as_the_files_are() -> None:
    assert in_room(HALF, 10_000, 200_000, 2.0).total_tokens == 2_500


@pytest.mark.parametrize("beyond", [-30_000, -1, 0, 1, 800_000])
def test_the_threshold_leaves_reserve_and_margin_and_is_never_over_the_cap(beyond: int):
    below = BelowWindow()
    window = USUAL_CAP + below.reserve + below.margin + beyond
    assert threshold_of(window, ULLAGE.threshold) == min(USUAL_CAP, USUAL_CAP + beyond)


def test_it_warns_and_is_nearly_full_at_its_shares_of_the_threshold():
    threshold, options = 10_000, ULLAGE.threshold
    warns, errs = round(options.warn_share * threshold), round(options.error_share * threshold)
    assert [level(used, threshold, options) for used in (warns - 1, warns, errs - 1, errs)] == ["normal", "warning", "warning", "error"]

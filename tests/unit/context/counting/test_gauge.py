"""The threshold, the colour of the gauge, and the usual growth of a turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import compaction, log
from tests.unit.context.work import asked, priced, ran, work
from ullage.context.counting.gauge import USUAL_GROWTH, Level, growth, level, threshold_of
from ullage.context.entries import Entry, TurnEnded
from ullage.context.policy import BelowWindow, ThresholdOptions

OPTIONS = ThresholdOptions(BelowWindow(reserve=20_000, margin=13_000, cap=150_000))


@pytest.mark.parametrize(
    ("window", "cap", "expected"),
    [
        (160_000, None, 127_000),
        (200_000, None, 150_000),
        (200_000, 200_000, 167_000),
        (1_000_000, 200_000, 200_000),
        (1_000_000, 2_000_000, 967_000),
        (200_000, 100_000, 100_000),
        (66_000, 200_000, 33_000),
        (32_000, 200_000, 16_000),
        (16_384, 200_000, 8_192),
        (1, 200_000, 1),
    ],
)
def test_threshold(window: int, cap: int | None, expected: int):
    assert threshold_of(window, OPTIONS, cap) == expected


@pytest.mark.parametrize(
    ("used", "expected"), [(0, "normal"), (7_499, "normal"), (7_500, "warning"), (9_499, "warning"), (9_500, "error"), (20_000, "error")]
)
def test_level(used: int, expected: Level):
    assert level(used, 10_000, OPTIONS) == expected


def turn(total: int) -> list[Entry]:
    """A turn after which the context holds `total` tokens; its first reply says less."""
    return [asked("Go on"), priced("Working", total - 100, 0), *ran("make"), priced("Done", total - 10, 10), TurnEnded("end_turn")]


def test_growth_is_the_median_of_the_turns():
    assert growth(work(turn(1_000), turn(3_000), turn(4_000), turn(10_000))) == 2_000


def test_growth_is_that_of_the_last_turns():
    fast = [turn(1_000 * number) for number in range(1, 30)]
    slow = [turn(29_000 + 10 * number) for number in range(1, 12)]
    assert growth(work(*fast, *slow)) == 10


def test_a_turn_with_a_compaction_is_left_out():
    assert growth(work(turn(1_000), turn(3_000), compaction("c"), turn(90_000))) == 2_000


def test_what_a_policy_takes_away_before_calls_belongs_to_the_turn():
    upkeep = replace(compaction("u"), trigger="upkeep")
    assert growth(work(turn(1_000), upkeep, turn(4_000), upkeep, turn(7_000))) == 3_000


def test_a_turn_that_was_compacted_midway_is_left_out():
    halved: list[Entry] = [asked("Go on"), priced("a", 60_000, 0), compaction("c"), priced("b", 9_000, 0), TurnEnded("end_turn")]
    assert growth(work(turn(1_000), turn(3_000), halved, turn(11_000))) == 2_000


def test_steering_is_part_of_its_turn():
    steered: list[Entry] = [
        asked("Go on"),
        priced("a", 2_000, 0),
        asked("Faster", steering=True),
        priced("b", 5_000, 0),
        TurnEnded("end_turn"),
    ]
    assert growth(work(turn(1_000), steered)) == 4_000


@pytest.mark.parametrize("entries", [[], [asked("Hello")], turn(5_000)])
def test_growth_without_a_history_is_the_usual(entries: list[Entry]):
    assert growth(log(*entries)) == USUAL_GROWTH

"""Intervals by bootstrap over sessions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.recorded.retention import HitShare
from ullage.replay.measuring.projects import FEWEST_SESSIONS, estimate, ratio_interval


@st.composite
def a_share(draw: st.DrawFn) -> HitShare:
    of = draw(st.integers(0, 50))
    return HitShare(draw(st.integers(0, of)), of)


SHARES = st.lists(a_share(), max_size=12)


@given(SHARES)
def test_an_interval_lies_around_its_share_and_within_what_sessions_had(shares: list[HitShare]):
    found = estimate(shares)
    some = [each.value for each in shares if each.value is not None]
    assert found.share == sum(shares, HitShare())
    assert found.sessions == len(some)
    assert found.interval is None or len(some) >= FEWEST_SESSIONS
    if found.interval is not None:
        assert min(some) - 1e-9 <= found.interval.low <= found.interval.high <= max(some) + 1e-9


def test_the_same_sessions_have_the_same_interval():
    shares = [HitShare(each, 10) for each in range(10)]
    assert estimate(shares) == estimate(shares)


def test_it_is_as_wide_as_sessions_differ():
    """Ten facts in each session. Where all sessions are alike, drawing them tells nothing."""
    alike = estimate([HitShare(5, 10)] * 20).interval
    apart = estimate([HitShare(0, 10), HitShare(10, 10)] * 10).interval
    assert alike is None
    assert apart is not None
    assert 0.35 < apart.high - apart.low < 0.5  # a coin thrown twenty times: 2 * 1.96 * sqrt(0.25 / 20) is 0.44


def test_most_of_the_intervals_hold_the_true_share():
    """Sessions of unequal size out of one population, a hundred times."""
    random = Random(7)
    held = 0
    for _ in range(100):
        shares: list[HitShare] = []
        for _ in range(40):
            own, of = random.betavariate(9, 3), random.randint(1, 30)
            shares.append(HitShare(sum(random.random() < own for _ in range(of)), of))
        interval = estimate(shares).interval
        assert interval is not None
        held += interval.low <= 0.75 <= interval.high
    assert 88 <= held <= 100


@pytest.mark.parametrize("parts", [[], [(1.0, 2.0)] * 2, [(1.0, 0.0)] * 5, [(1.0, -1.0)] * 5])
def test_there_is_none_of_too_little(parts: list[tuple[float, float]]):
    assert ratio_interval(parts) is None


def test_a_ratio_of_costs():
    interval = ratio_interval([(0.7, 1.0), (1.6, 2.0), (2.7, 3.0)])
    assert interval is not None
    assert interval.low == pytest.approx(0.7)
    assert interval.high == pytest.approx(0.9)

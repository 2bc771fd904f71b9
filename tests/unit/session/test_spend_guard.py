from __future__ import annotations

import pytest

from ullage.context.compaction.gathering import SpendGuard


@pytest.mark.parametrize(
    ("calls", "apart", "now", "rests"),
    [
        (23, 1.0, 30.0, False),
        (24, 1.0, 30.0, True),
        (24, 1.0, 23.0 + 1_799.0, True),
        (24, 1.0, 23.0 + 1_800.0, False),
        (24, 27.0, 650.0, False),
    ],
)
def test_after_24_calls_in_ten_minutes_it_rests_for_half_an_hour(calls: int, apart: float, now: float, rests: bool):
    guard = SpendGuard()
    for number in range(calls):
        guard.called(number * apart)
    assert guard.rests(now) is rests

"""The breaker opens after three failures in a row, and longer each time."""

from __future__ import annotations

import pytest

from ullage.context.compaction.gathering import Breaker


@pytest.mark.parametrize(
    ("events", "asked_at", "is_open"),
    [
        ([], 0.0, False),
        (["fail", "fail"], 0.0, False),
        (["fail", "fail", "fail"], 59.0, True),
        (["fail", "fail", "fail"], 60.0, False),
        (["fail", "fail", "ok", "fail", "fail"], 0.0, False),
        (["fail", "fail", "fail", "fail"], 299.0, True),
        (["fail", "fail", "fail", "fail"], 300.0, False),
        (["fail"] * 5, 899.0, True),
        (["fail"] * 9, 900.0, False),
        (["fail", "fail", "fail", "ok", "fail", "fail"], 1.0, False),
    ],
)
def test_opens_after_three_and_stays_longer_each_time(events: list[str], asked_at: float, is_open: bool) -> None:
    breaker = Breaker()
    for event in events:
        if event == "fail":
            breaker.failed(0.0)
        else:
            breaker.succeeded()
    assert breaker.is_open(asked_at) is is_open
    assert (breaker.seconds_left(asked_at) > 0) is is_open

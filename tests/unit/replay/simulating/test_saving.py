"""When a policy that saves would compact before its threshold, over requests with times."""

from __future__ import annotations

import pytest

from ullage.context.compaction.economy import SMALLEST_GAIN, USUAL_LEFT, Economy
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.replay.pricing.prompt_cache import START, Mark, RequestShape, Ttl
from ullage.replay.simulating.measures import Due, Saving

FIXED = 10_000
LEFT = FIXED + USUAL_LEFT


def request(at: float, ttl: Ttl = "5m", model: str = "claude-opus-4-5") -> RequestShape:
    return RequestShape(model, at, START, (Mark(START, ttl),), 10)


def after(requests: int, each: int, economy: Economy = "balanced") -> Saving:
    """Requests of so many tokens, a second apart; the last at the second `requests`."""
    saving = Saving(ULLAGE, economy)
    for number in range(1, requests + 1):
        saving.requested(each, float(number), FIXED)
    return saving


def due(saving: Saving, at: float, used: int = 100_000, ttl: Ttl = "5m", *, idle: bool = False) -> Due:
    return saving.due(request(at, ttl), used, FIXED, by_model=True, idle=idle)


def test_it_is_due_once_carrying_has_cost_enough():
    found = [due(after(requests, 100_000), requests + 1.0) for requests in (1, 5, 50)]
    assert found == ["no", "no", "now"]


def test_the_cheapest_is_not_later_than_the_balanced_and_the_fullest_never():
    def first(economy: Economy) -> int:
        return next((requests for requests in range(1, 200) if due(after(requests, 100_000, economy), requests + 1.0) == "now"), 200)

    assert first("cheapest") < first("balanced") < first("fullest") == 200


@pytest.mark.parametrize(
    ("pause", "ttl", "idle", "expected"),
    [
        (299.0, "5m", True, "no"),
        (301.0, "5m", True, "before cold"),
        (301.0, "5m", False, "cold"),
        (301.0, "1h", True, "no"),
        (3_601.0, "1h", True, "before cold"),
    ],
)
def test_a_pause_longer_than_the_cache_lives_makes_it_due(pause: float, ttl: Ttl, idle: bool, expected: Due):
    assert due(after(1, 100_000), 1.0 + pause, ttl=ttl, idle=idle) == expected


def test_with_little_to_gain_it_is_not_due():
    assert due(after(50, 100_000), 1_000.0, used=LEFT + SMALLEST_GAIN - 1) == "no"


def test_a_compaction_begins_anew_with_what_it_left():
    saving = after(50, 100_000)
    saving.compacted(30_000)
    assert due(saving, 51.0) == "no"


def test_a_policy_that_does_not_save_and_a_model_without_prices_are_never_due():
    never = Saving(NONE, "cheapest")
    never.requested(100_000, 1.0, FIXED)
    assert due(never, 1_000.0) == "no"
    unknown = after(50, 100_000)
    assert unknown.due(request(1_000.0, model="nobody-knows"), 100_000, FIXED, by_model=True, idle=True) == "no"

"""What every row of the table says of itself."""

from __future__ import annotations

import pytest

from ullage.context.counting.gauge import threshold_of
from ullage.context.policies.table import BUILT_IN, IN_ORDER
from ullage.session.settings import Settings


def test_ullages_own_comes_first_and_no_name_twice():
    names = [policy.name for policy in IN_ORDER]
    assert names[0] == Settings().policy_name
    assert names == list(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_policy_says_what_it_does_and_where_its_numbers_come_from(name: str):
    policy = BUILT_IN[name]
    assert policy.name == name
    assert policy.title and not policy.title.endswith(".")
    assert policy.sources and all(source.strip() for source in policy.sources)
    assert not any(source.startswith(("/", ".")) for source in policy.sources)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("window", [8_000, 200_000, 1_000_000])
def test_no_context_counts_as_full_beyond_the_window_but_by_its_own_measure(name: str, window: int):
    policy = BUILT_IN[name]
    full = threshold_of(window, policy.threshold)
    assert full >= 1
    if policy.measure == "usage":
        assert full <= window

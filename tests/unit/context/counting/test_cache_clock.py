"""The clock of the prompt cache: whether two names are those of one model."""

from __future__ import annotations

import pytest

from ullage.context.counting.cache_clock import is_same_model


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("claude-opus-5-5", "claude-opus-5-5", True),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001", True),
        ("gpt-5", "gpt-5-2025-08-07", True),
        ("claude-opus-4", "claude-opus-4@20250514", True),
        ("gpt-5", "gpt-5-mini", False),
        ("o3", "o3-mini", False),
        ("claude-opus-4", "claude-opus-4-5", False),
        ("", "gpt-5", False),
    ],
)
def test_a_date_behind_a_name_makes_no_other_model(one: str, other: str, same: bool) -> None:
    assert is_same_model(one, other) is is_same_model(other, one) is same

"""Numbers and tables as text."""

from __future__ import annotations

import pytest

from ullage.replay.reporting.wording import columns, money, number, percent, ranges


@pytest.mark.parametrize(("value", "expected"), [(None, "-"), (0, "0"), (999.6, "1,000"), (1_234_567, "1,234,567")])
def test_numbers(value: float | None, expected: str):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "sign", "expected"),
    [(None, "+", "-"), (0.5, "", "50.0 %"), (0.011, "+", "+1.1 %"), (-0.02, "+", "-2.0 %"), (-0.0001, "+", "+0.0 %")],
)
def test_percents(value: float | None, sign: str, expected: str):
    assert percent(value, sign) == expected


@pytest.mark.parametrize(("dollars", "expected"), [(0, "$0.00"), (0.0012, "$0.0012"), (0.5, "$0.50"), (1234.5, "$1,234.50")])
def test_money(dollars: float, expected: str):
    assert money(dollars) == expected


@pytest.mark.parametrize(("numbers", "expected"), [([], ""), ([3], "3"), ([1, 2, 3, 5, 7, 8], "1-3, 5, 7-8")])
def test_ranges(numbers: list[int], expected: str):
    assert ranges(numbers) == expected


def test_a_table():
    assert list(columns(["#", "tokens|sent", "cost"], [["1", "5", "$10.00"], ["all", "1,000", "-"]], left=1)) == [
        "  #    tokens    cost",
        "         sent",
        "  1         5  $10.00",
        "  all   1,000       -",
    ]

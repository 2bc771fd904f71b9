"""How much of a long test runs: a sample in `npm test`, all of it in `npm run test:deep`, which a release needs.

A test that can be made longer for ever (kills, flipped bits, generated commands, thousands of turns) asks `many` how long it is to be, and
bears the marker `deep`, so that the long run finds it. Tests of Hypothesis are found without one; how many examples they are tried on
stands in `conftest.py`, where a test does not say so itself.

A test of many rows that hardly differ in kind (every policy, every pair of two lists) says with `sampled` which of them `npm test` keeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

DEEP = os.environ.get("ULLAGE_DEEP") == "1"
"""Whether this is the long run."""


def many(sample: int, *, deep: int) -> int:
    """`deep` in the long run, else `sample`."""
    return deep if DEEP else sample


Row = TypeVar("Row")
Other = TypeVar("Other")
Test = TypeVar("Test", bound=Callable[..., object])


def sampled(
    names: str | Sequence[str], rows: Iterable[Row], *, keep: Callable[[Row], bool], ids: Callable[[Any], str | None] | None = None
) -> Callable[[Test], Test]:
    """`pytest.mark.parametrize` with all of the rows in the long run, else with those to keep. The test needs no other marker.

    Keep each row that differs in kind from the others. It is the same rows each time: nothing is left to chance.
    """
    parametrize = pytest.mark.parametrize(names, [row for row in rows if DEEP or keep(row)], ids=ids)

    def marked(test: Test) -> Test:
        return pytest.mark.deep(parametrize(test))

    return marked


def diagonal(first: Sequence[Row], second: Sequence[Other], moved: int = 0) -> list[tuple[Row, Other]]:
    """Of all pairs of two lists, those that have each value of both at least once: side by side, the shorter list from its start again.

    `moved`: by so many places the second list is turned, for other pairs.
    """
    rows = range(max(len(first), len(second)))
    return [(first[row % len(first)], second[(row + moved) % len(second)]) for row in rows]

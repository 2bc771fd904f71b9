"""How much of a long test runs: a sample in `npm test`, all of it in `npm run test:deep`, which a release needs.

A test that can be made longer for ever (kills, flipped bits, generated commands, thousands of turns) asks `many` how long it is to be, and
bears the marker `deep`, so that the long run finds it. Tests of Hypothesis are found without one; how many examples they are tried on
stands in `conftest.py`, where a test does not say so itself.
"""

from __future__ import annotations

import os

DEEP = os.environ.get("ULLAGE_DEEP") == "1"
"""Whether this is the long run."""


def many(sample: int, *, deep: int) -> int:
    """`deep` in the long run, else `sample`."""
    return deep if DEEP else sample

"""Which policy to choose: the cheapest, the one that keeps most, and what lies best between them.

Only policies that could really have carried all the sessions stand for choice. How the answer is put is known in `answer.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

from ullage.replay.columns import number
from ullage.replay.html.comparison import Comparison, Standing

CLOSE_SHARE = 0.02
"""Two costs that are no further apart than this share count as the same: the model of the cache is not better than that."""


FEW_FACTS = 200
"""Below so many needed facts a difference of a few percent in what is kept is a handful of them."""

MOST_RULES = 3
"""Broken rules that are named."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer. What cannot be answered is None: without prices no cost, with blanks for summaries nothing kept.

    `cheapest` may be one of which it is not known what it keeps (`Standing.unjudged`); the others are not.
    """

    cheapest: Standing | None
    keeps_most: Standing | None
    best: Standing | None
    """The one to take: of the front the one that costs least once what was gone from view has been got back. None where there is no
    front."""
    front: tuple[Standing, ...]
    """Those that no other clearly beats in both, from the cheapest to the one that keeps most."""
    about_as_cheap: tuple[Standing, ...]
    """Within `CLOSE_SHARE` of the cheapest, without it."""
    keep_about_as_much: tuple[Standing, ...]
    """Not clearly less than the one that keeps most, without it."""
    ruled_out: Mapping[str, str]
    """By policy: why it could not have carried these sessions, in words."""


def choose(comparison: Comparison) -> Choice:
    """The answer from the sums."""
    ruled_out = {each.policy: why for each in comparison.standings if (why := _unfit(each))}
    able = [each for each in comparison.standings if each.policy not in ruled_out]
    priced = [each for each in able if each.priced]
    cheapest = min(priced, key=lambda each: (each.total, each.gone), default=None)
    judged = [each for each in able if each.keeps_known]
    if any(each.stood_in.get("blank") for each in able) or not any(each.needed.needed for each in judged):
        judged = []
    front = _front(each for each in judged if each.priced)
    keeps_most = front[-1] if front else min(judged, key=lambda each: each.gone, default=None)
    return Choice(
        cheapest=cheapest,
        keeps_most=keeps_most,
        best=min(front, key=lambda each: each.total + each.getting_back, default=None),
        front=front,
        about_as_cheap=tuple(each for each in priced if cheapest is not None and each is not cheapest and not _is_cheaper(cheapest, each)),
        keep_about_as_much=tuple(
            each for each in judged if keeps_most is not None and each is not keeps_most and not keeps_more(keeps_most, each)
        ),
        ruled_out=ruled_out,
    )


def keeps_more(one: Standing, other: Standing) -> bool:
    """Whether it keeps more than the other, by more than two counts of the same thing would differ by chance (twice the square root of
    their sum)."""
    return other.gone - one.gone > 2 * sqrt(one.gone + other.gone)


def _is_cheaper(one: Standing, other: Standing) -> bool:
    return one.total * (1 + CLOSE_SHARE) < other.total


def _unfit(standing: Standing) -> str:
    reasons: list[str] = []
    if standing.failures:
        reasons.append(f"it failed in {number(len(standing.failures))} of {number(standing.runs + len(standing.failures))} sessions")
    if standing.refused:
        reasons.append(
            f"{number(standing.refused)} of its {number(standing.requests)} requests would not have fitted into the model's window"
        )
    if standing.violations:
        reasons.append(f"it would have broken rules of the API ({'; '.join(standing.violations[:MOST_RULES])})")
    return " and ".join(reasons)


def _front(standings: Iterable[Standing]) -> tuple[Standing, ...]:
    """Each keeps clearly more than the one before it; of those that cost about the same only the one that keeps most."""
    front: list[Standing] = []
    group: Standing | None = None
    for each in sorted(standings, key=lambda each: (each.total, each.gone)):
        if front and not keeps_more(each, front[-1]):
            continue
        if group is not None and not _is_cheaper(group, each):
            front[-1] = each
        else:
            group = each
            front.append(each)
    return tuple(front)

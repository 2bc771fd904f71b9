"""Policies over the same sessions: their runs added up, held against each other, and the answer which of them to choose.

The answer names the cheapest policy, the one that keeps most, and what lies best between them. Only policies that could really have
carried all the sessions stand for choice. The words for it are in `reporting/answer.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import sqrt
from operator import add

from ullage.context.blocks import Usage
from ullage.recorded.retention import KindRetention
from ullage.replay.measuring.runs import Retained, Run
from ullage.replay.pricing.cost import Dollars, total_usage

OPTIMUM = "optimum"
"""The name under which the cheapest schedule of a session is reported. It is no policy: it knows the session's future."""


@dataclass(frozen=True, slots=True)
class PolicyStanding:
    """One policy's runs together. Runs that failed are in `failures` alone, as (session, why)."""

    policy: str
    runs: int = 0
    failures: tuple[tuple[str, str], ...] = ()
    requests: int = 0
    refused: int = 0
    """Requests that would not have been within the window."""
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    dollars: Dollars = field(default_factory=Dollars)
    summaries: Dollars = field(default_factory=Dollars)
    summaries_cold: Dollars = field(default_factory=Dollars)
    compactions: int = 0
    """How many compactions there were, without upkeep."""
    upkeep: int = 0
    stood_in: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many summaries that a model would have written were stood in for, by what stood in."""
    context_tokens: int = 0
    """The tokens of all requests together."""
    largest_context: int = 0
    retained: Retained = field(default_factory=Retained)
    forgetting: float = 0.0
    """Dollars for getting again from tools what was not in view after the compactions; not in `total`."""
    violations: tuple[str, ...] = ()
    """The rules of the API that were broken, in words, each once."""
    seconds: float = 0.0

    @property
    def total(self) -> float:
        """The dollars of the requests and of the summaries together."""
        return self.dollars.total + self.summaries.total

    @property
    def priced(self) -> bool:
        """False if tokens were sent and nothing was paid: then no prices are known."""
        return self.total > 0 or not self.usage.context_tokens

    @property
    def mean_context(self) -> float | None:
        """The mean of the tokens sent with a request; None if there was no request."""
        return self.context_tokens / self.requests if self.requests else None

    @property
    def share_from_cache(self) -> float | None:
        """The share of the tokens sent that was read from the cache; None if nothing was sent."""
        sent = self.usage.total_input_tokens
        return self.usage.cache_read_tokens / sent if sent else None

    @property
    def needed(self) -> KindRetention:
        """The facts of all kinds that were needed after compactions."""
        return reduce(add, self.retained.kinds.values(), KindRetention())

    @property
    def gone(self) -> int:
        """How many facts were needed after a compaction and no longer in view."""
        return self.needed.needed - self.needed.in_view

    @property
    def getting_back(self) -> float:
        """Dollars at most for getting back what was gone: a search for each fact, so one more request of the agent, at the price of its
        average one. What was shown again or cannot be found is counted as well."""
        return self.gone * self.dollars.total / self.requests if self.requests else 0.0

    @property
    def forgetting_known(self) -> bool:
        """Whether `forgetting` says anything. Of a policy that does upkeep it is the least, since what that forgets is not counted."""
        return self.priced and self.policy != OPTIMUM and not self.stood_in.get("blank")

    @property
    def unjudged(self) -> str:
        """Why what was counted as kept says nothing of the policy, in words; empty if it does.

        What upkeep forgets is not counted (`Retained`), so a policy that does more of it than it compacts would seem to keep all.
        """
        if self.stood_in.get("blank"):
            return "blanks stood for its summaries"
        if self.upkeep > self.compactions:
            often = f"{self.upkeep:,} of its {self.requests:,} requests"
            return f"it clears or cuts before {often} (upkeep), more often than it compacts, and what that forgets is not counted"
        return ""

    @property
    def keeps_known(self) -> bool:
        """Whether what was counted as kept says something of the policy."""
        return not self.unjudged


@dataclass(frozen=True, slots=True)
class Comparison:
    """`sessions` are those that are compared, by id; `left_out` those that are not, with why. `standings` are without `optimum`."""

    sessions: tuple[str, ...]
    left_out: Mapping[str, str]
    standings: tuple[PolicyStanding, ...]
    optimum: PolicyStanding | None
    runs: Mapping[str, Sequence[Run]]
    """The runs of every session by its id, also of those left out."""

    def by_cost(self) -> tuple[PolicyStanding, ...]:
        """The policies from the cheapest to the dearest; those that did not get through all sessions last."""
        return tuple(sorted(self.standings, key=lambda each: (bool(each.failures), not each.priced, each.total)))


def compared(runs: Iterable[Run]) -> Comparison:
    """Adds up all that the runs say, policy by policy. A session under which every policy failed, or of which no request is counted in
    tokens, is left out of all sums."""
    by_session: dict[str, list[Run]] = {}
    for run in runs:
        by_session.setdefault(run.session_id, []).append(run)
    left_out = {id: why for id, of_it in by_session.items() if (why := _why_left_out(of_it))}
    sessions = tuple(id for id in by_session if id not in left_out)
    by_policy: dict[str, list[Run]] = {}
    for of_it in by_session.values():
        for run in of_it:
            by_policy.setdefault(run.policy, [])
            if run.session_id not in left_out:
                by_policy[run.policy].append(run)
    standings = {policy: _standing(policy, sessions, of_it) for policy, of_it in by_policy.items()}
    optimum = standings.pop(OPTIMUM, None)
    return Comparison(sessions, left_out, tuple(standings.values()), optimum, by_session)


def _why_left_out(runs: Sequence[Run]) -> str:
    """Why a session tells nothing of the policies; empty if it does."""
    of_policies = [run for run in runs if run.policy != OPTIMUM]
    if of_policies and all(run.failure for run in of_policies):
        return "no policy got through it"
    if not any(run.requests or run.failure for run in runs):
        return "none of its requests has a token count"
    return ""


def standing(policy: str, runs: Sequence[Run]) -> PolicyStanding:
    """The sum of runs under one policy."""
    good = [run for run in runs if not run.failure]
    points = [point for run in good for point in run.requests]
    compactions = [point for run in good for point in run.compactions]
    return PolicyStanding(
        policy=policy,
        runs=len(good),
        failures=tuple((run.session_id, run.failure) for run in runs if run.failure),
        requests=len(points),
        refused=sum(not point.fits for point in points),
        usage=total_usage(run.usage for run in good),
        dollars=sum((run.dollars for run in good), Dollars()),
        summaries=sum((run.summaries for run in good), Dollars()),
        summaries_cold=sum((run.summaries_cold for run in good), Dollars()),
        compactions=sum(not point.upkeep for point in compactions),
        upkeep=sum(point.upkeep for point in compactions),
        stood_in=Counter(point.stood_in for point in compactions if point.stood_in),
        context_tokens=sum(point.context_tokens for point in points),
        largest_context=max((point.context_tokens for point in points), default=0),
        retained=sum((run.retained for run in good), Retained()),
        forgetting=sum(run.forgetting for run in good),
        violations=tuple(dict.fromkeys(words for run in good for words in run.violations)),
        seconds=sum(run.seconds for run in good),
    )


def _standing(policy: str, sessions: Sequence[str], runs: Sequence[Run]) -> PolicyStanding:
    """The sum of the runs under one policy, with a failure for every session that there is no run of."""
    there = {run.session_id for run in runs}
    absent = [Run(policy, id, failure="there is no run of it") for id in sessions if id not in there]
    return standing(policy, [*runs, *absent])


CLOSE_SHARE = 0.02
"""Two costs that are no further apart than this share count as the same: the model of the cache is not better than that."""


FEW_FACTS = 200
"""With fewer needed facts than this, a difference of a few percent in what is kept is a handful of them."""

MOST_RULES = 3
"""How many broken rules are named at most."""


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """What to choose by a comparison. A field is None where that cannot be told: without prices the cheapest, with blanks for summaries the
    one that keeps most.

    `cheapest` may be one of which it is not known what it keeps (`PolicyStanding.unjudged`); the others are not.
    """

    cheapest: PolicyStanding | None
    keeps_most: PolicyStanding | None
    best: PolicyStanding | None
    """The one to take: of the front the one that costs least once what was gone from view has been got back. None if there is no
    front."""
    front: tuple[PolicyStanding, ...]
    """The policies that no other clearly beats in both, from the cheapest to the one that keeps most."""
    about_as_cheap: tuple[PolicyStanding, ...]
    """The policies within `CLOSE_SHARE` of the cheapest, without it."""
    keep_about_as_much: tuple[PolicyStanding, ...]
    """The policies that keep not clearly less than the one that keeps most, without it."""
    ruled_out: Mapping[str, str]
    """Why a policy could not have carried these sessions, in words, by its name."""


def choose(comparison: Comparison) -> PolicyChoice:
    """Chooses the cheapest policy, the one that keeps most and the best between them, by their sums."""
    ruled_out = {each.policy: why for each in comparison.standings if (why := _unfit(each))}
    able = [each for each in comparison.standings if each.policy not in ruled_out]
    priced = [each for each in able if each.priced]
    cheapest = min(priced, key=lambda each: (each.total, each.gone), default=None)
    judged = [each for each in able if each.keeps_known]
    if any(each.stood_in.get("blank") for each in able) or not any(each.needed.needed for each in judged):
        judged = []
    front = _front(each for each in judged if each.priced)
    keeps_most = front[-1] if front else min(judged, key=lambda each: each.gone, default=None)
    return PolicyChoice(
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


def keeps_more(one: PolicyStanding, other: PolicyStanding) -> bool:
    """Whether one policy keeps more than the other, by more than two counts of the same thing would differ by chance (twice the square root
    of their sum)."""
    return other.gone - one.gone > 2 * sqrt(one.gone + other.gone)


def _is_cheaper(one: PolicyStanding, other: PolicyStanding) -> bool:
    return one.total * (1 + CLOSE_SHARE) < other.total


def _unfit(standing: PolicyStanding) -> str:
    reasons: list[str] = []
    if standing.failures:
        reasons.append(f"it failed in {len(standing.failures):,} of {standing.runs + len(standing.failures):,} sessions")
    if standing.refused:
        reasons.append(f"{standing.refused:,} of its {standing.requests:,} requests would not have fitted into the model's window")
    if standing.violations:
        reasons.append(f"it would have broken rules of the API ({'; '.join(standing.violations[:MOST_RULES])})")
    return " and ".join(reasons)


def _front(standings: Iterable[PolicyStanding]) -> tuple[PolicyStanding, ...]:
    """The policies each of which keeps clearly more than the cheaper one before it. Of those that cost about the same only the one that
    keeps most is there."""
    front: list[PolicyStanding] = []
    group: PolicyStanding | None = None
    for each in sorted(standings, key=lambda each: (each.total, each.gone)):
        if front and not keeps_more(each, front[-1]):
            continue
        if group is not None and not _is_cheaper(group, each):
            front[-1] = each
        else:
            group = each
            front.append(each)
    return tuple(front)

"""Sums of what sessions spent. They can be added up in any order, so files can be worked on in any number of processes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ullage.context.blocks import Usage
from ullage.replay.measuring.projects import root_of
from ullage.replay.pricing.cost import Dollars
from ullage.replay.pricing.misses import Why
from ullage.replay.spending.spent import Compacted, CountedRequest, Spent, Whose

RECORDED = "as recorded"
"""Stands in the place of a policy for what really happened."""


@dataclass(frozen=True, slots=True)
class Misses:
    """Requests that missed the cache, the tokens that they sent anew, and what that cost."""

    requests: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def __add__(self, other: Misses) -> Misses:
        return Misses(self.requests + other.requests, self.tokens + other.tokens, self.dollars + other.dollars)


@dataclass(frozen=True, slots=True)
class Compactions:
    """The sums of compactions. Dollars leave out those of which they are not known."""

    made: int = 0
    summaries: float = 0.0
    """Dollars for the requests that wrote the summaries."""
    worked_out: int = 0
    """For how many of the summaries the dollars were worked out, since the record does not tell."""
    told: int = 0
    """The number of compactions after which it is known what the agent got again."""
    again: int = 0
    """Tokens that the agent got again from its tools."""
    again_dollars: float = 0.0

    def __add__(self, other: Compactions) -> Compactions:
        return Compactions(
            self.made + other.made,
            self.summaries + other.summaries,
            self.worked_out + other.worked_out,
            self.told + other.told,
            self.again + other.again,
            self.again_dollars + other.again_dollars,
        )


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of many calls and compactions."""

    calls: int = 0
    unpriced: int = 0
    """Calls of models whose prices are not known; they are not in `dollars`."""
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    dollars: Dollars = field(default_factory=Dollars)
    missed: Misses = field(default_factory=Misses)
    compactions: Compactions = field(default_factory=Compactions)

    @property
    def total(self) -> float:
        """The dollars of the calls and of the requests that wrote summaries."""
        return self.dollars.total + self.compactions.summaries

    @property
    def share_from_cache(self) -> float | None:
        """The share of the tokens sent that was read from the cache; None if nothing was sent."""
        sent = self.usage.total_input_tokens
        return self.usage.cache_read_tokens / sent if sent else None

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.calls + other.calls,
            self.unpriced + other.unpriced,
            self.usage + other.usage,
            self.dollars + other.dollars,
            self.missed + other.missed,
            self.compactions + other.compactions,
        )


@dataclass(frozen=True, slots=True)
class PolicySum:
    """The sum over the sessions under one policy, or as they were recorded. The same sessions stand under each policy."""

    sessions: int = 0
    dollars: float = 0.0
    """Dollars of the sessions, with the requests that write summaries."""
    compactions: int = 0
    forgetting: float | None = 0.0
    """Dollars for what the agent would have got again; None if that is not known."""

    def __add__(self, other: PolicySum) -> PolicySum:
        known = self.forgetting is not None and other.forgetting is not None
        return PolicySum(
            self.sessions + other.sessions,
            self.dollars + other.dollars,
            self.compactions + other.compactions,
            (self.forgetting or 0.0) + (other.forgetting or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Sums:
    """All sums that are reported."""

    by_whose: Mapping[Whose, Sum] = field(default_factory=dict[Whose, Sum])
    by_reasons: Mapping[tuple[Why, ...], Misses] = field(default_factory=dict[tuple[Why, ...], Misses])
    carried: Mapping[tuple[str, str], PolicySum] = field(default_factory=dict[tuple[str, str], PolicySum])
    """The sums of each policy in each project, by both names."""
    sessions: frozenset[str] = frozenset()
    """The ids of the sessions. A sub-agent belongs to the session that it works for."""
    uncounted: int = 0
    """The number of replies without a count of tokens."""
    left_out: int = 0
    """The number of sessions that could not be carried through the policies."""

    @property
    def whole(self) -> Sum:
        """The sum of everything together."""
        return sum(self.by_whose.values(), Sum())

    def by(self, name: Callable[[Whose], str]) -> dict[str, Sum]:
        """The sums by a name of what they belong to, in the order of the names."""
        found: dict[str, Sum] = {}
        for whose, each in self.by_whose.items():
            found[name(whose)] = found.get(name(whose), Sum()) + each
        return dict(sorted(found.items()))

    def policies(self) -> dict[str, PolicySum]:
        """The sum of each policy over the same sessions; that of what was recorded comes first."""
        found: dict[str, PolicySum] = {}
        for (policy, _), each in self.carried.items():
            found[policy] = found.get(policy, PolicySum()) + each
        return found


def sums_of(session: str, spent: Spent) -> Sums:
    """The sums of what one session spent. A sub-agent's count for the session that it works for."""
    by_whose: dict[Whose, Sum] = {}
    by_reasons: dict[tuple[Why, ...], Misses] = {}
    for call in spent.calls:
        by_whose[call.whose] = by_whose.get(call.whose, Sum()) + _of_call(call)
        if call.missed:
            by_reasons[call.reasons] = by_reasons.get(call.reasons, Misses()) + Misses(1, call.missed, call.missed_dollars)
    for compacted in spent.compactions:
        by_whose[compacted.whose] = by_whose.get(compacted.whose, Sum()) + Sum(compactions=_of_compaction(compacted))
    is_there = bool(by_whose or spent.uncounted)
    return Sums(by_whose, by_reasons, sessions=frozenset({root_of(session)} if is_there else ()), uncounted=spent.uncounted)


def _of_call(call: CountedRequest) -> Sum:
    return Sum(
        calls=1,
        unpriced=call.dollars is None,
        usage=call.usage,
        dollars=call.dollars or Dollars(),
        missed=Misses(1, call.missed, call.missed_dollars) if call.missed else Misses(),
    )


def _of_compaction(made: Compacted) -> Compactions:
    again = made.again
    return Compactions(
        made=1,
        summaries=made.dollars or 0.0,
        worked_out=made.dollars is not None and not made.is_recorded,
        told=again is not None,
        again=again.tokens if again is not None else 0,
        again_dollars=(again.dollars or 0.0) if again is not None else 0.0,
    )


class Once:
    """Lets each request count once, also where two files have the same conversation: older versions of Claude Code write what a sub-agent
    says into its session's file and into one of its own. Keeps eight bytes for a request."""

    def __init__(self) -> None:
        self._known: dict[str, array[int]] = {}

    def new_in(self, name: str, spent: Spent) -> Spent | None:
        """What of a conversation was not counted yet: all of one that is new; of one that another file had already, the requests that it
        had not. None if it had all of them."""
        replies = array("q", (hash(call.reply) for call in spent.calls))
        if name not in self._known:
            self._known[name] = replies
            return spent
        known = set(self._known[name])
        calls = tuple(call for call, reply in zip(spent.calls, replies, strict=True) if reply not in known)
        self._known[name].extend(hash(call.reply) for call in calls)
        return Spent(calls, (), 0) if calls else None


def together(parts: Iterable[Sums]) -> Sums:
    """The parts added up. Costs what is in the parts, however many there are."""
    by_whose: dict[Whose, Sum] = {}
    by_reasons: dict[tuple[Why, ...], Misses] = {}
    carried: dict[tuple[str, str], PolicySum] = {}
    sessions: set[str] = set()
    uncounted = left_out = 0
    for part in parts:
        for whose, each in part.by_whose.items():
            by_whose[whose] = by_whose.get(whose, Sum()) + each
        for reasons, missed in part.by_reasons.items():
            by_reasons[reasons] = by_reasons.get(reasons, Misses()) + missed
        for under, run in part.carried.items():
            carried[under] = carried.get(under, PolicySum()) + run
        sessions |= part.sessions
        uncounted += part.uncounted
        left_out += part.left_out
    return Sums(by_whose, by_reasons, carried, frozenset(sessions), uncounted, left_out)

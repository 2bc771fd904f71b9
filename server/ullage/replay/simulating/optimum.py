"""The cheapest schedule of compactions for a recorded session: when to compact, for somebody who knows what is to come.

Only the places are chosen. What a compaction leaves in the context, and what writing it costs, is taken from what a policy's compactions
left and cost on average in that session. Prices, window, time stamps and the rules of the prompt cache are those of the simulation.
The schedule is found by dynamic programming over the place of the last compaction: what comes after it does not depend on those before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ullage.context.blocks import Usage
from ullage.context.counting.prompt_cache import TTL_SECONDS, Prefix, Ttl
from ullage.context.engines.engine import Unchanging
from ullage.context.policy import Policy
from ullage.recorded.transcript import RecordedCompaction
from ullage.replay.measuring.runs import CompactionPoint, RequestPoint, Run
from ullage.replay.pricing.cost import PricedCall, dollars_of, total_usage
from ullage.replay.pricing.recorded_models import minimum_cached, prices_of
from ullage.replay.pricing.recorded_requests import habits_of
from ullage.replay.simulating.block_sizes import LaidOut
from ullage.replay.simulating.carried import CarriedSession
from ullage.replay.simulating.outcome import Leaves, Outcome
from ullage.replay.simulating.outlines import outlines_of
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import outcome_of

OPTIMUM = "optimum"
"""The name of the cheapest schedule among the policies."""

MOST_PLACES = 500
"""The most places for a compaction that are looked at. Of a session with more requests only every second, third ... is one: what there
is to gain by moving a compaction by a request or two is a matter of cents, and the time it takes to look grows with the square of the
places."""


_Parts: TypeAlias = tuple[int, int, int, int]
"""The tokens of one call: at full price, read from the cache, written to it, and of output."""

ASKED_AT = (0.5, 0.75)
"""Where a policy that made no compaction in a session is asked for one, to see what it would leave."""


@dataclass(frozen=True, slots=True)
class RequestStep:
    """One request as it would be were everything carried. Tokens throughout."""

    seq: int
    at: float
    model: str
    ttl: Ttl
    context: int
    shared: int
    """Tokens in common with the request before; of the first request, those that it found in the cache."""
    system: int
    """Tokens of system prompt and tools, which every compaction leaves in place."""
    output: int
    window: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The compactions of a session and what it costs with them. `places` are the indices of the steps before which the context is
    compacted, ascending."""

    places: tuple[int, ...]
    dollars: float
    unfit: int = 0
    """The number of requests that no compaction could have brought within the window."""


class ScheduleCosts:
    """The costs of one session under any schedule, with what compactions leave in it."""

    def __init__(self, steps: Sequence[RequestStep], leaves: Leaves, *, writes_cost: bool = True) -> None:
        self._steps = steps
        self._leaves = leaves
        self._writes_cost = writes_cost
        self._before = _before_by_model(steps)
        models = {step.model for step in steps}
        self._minimum = {model: minimum_cached(model) for model in models}
        self._prices = {model: prices_of(model) for model in models}

    def context(self, start: int, index: int) -> int:
        """The tokens of request `index` where the last compaction came before request `start` (0: there was none)."""
        carried = self._steps[index].context
        if start == 0:
            return carried
        # A compaction makes nothing larger.
        left = min(self._leaves.context, self._steps[start].context)
        return max(left + carried - self._steps[start].context, self._steps[index].system)

    def request(self, start: int, index: int) -> Usage:
        """The usage that request `index` is charged, with the last compaction before request `start` (0: there was none)."""
        return self._usage(index, self._request(start, index))

    def summary(self, start: int, place: int) -> tuple[Usage, ...]:
        """The calls for the summary of a compaction before request `place`, where the one before it came before request `start`."""
        return tuple(self._usage(place, parts) for parts in self._summary(start, place))

    def _request(self, start: int, index: int) -> _Parts:
        asked_now = start == index > 0 and self._leaves.asks and self._leaves.own_text is None
        return self._parts(index, self.context(start, index), self._read(start, index, fresh=asked_now), self._steps[index].output)

    def _summary(self, start: int, place: int) -> Iterator[_Parts]:
        leaves = self._leaves
        if not leaves.asks:
            return
        more = leaves.question + leaves.answer + leaves.check
        if leaves.own_text is not None:
            yield leaves.own_text + leaves.question, 0, 0, leaves.answer
            if leaves.check:
                yield leaves.own_text + more, 0, 0, leaves.answer
            return
        context = self.context(start, place)
        full, read, written, answer = self._parts(place, context, self._read(start, place), leaves.answer)
        yield full + leaves.question, read, written, answer
        if leaves.check:
            found = context if context >= self._minimum[self._steps[place].model] else 0
            yield context - found + more, found, 0, answer

    def cost_of(self, places: Sequence[int]) -> Schedule:
        """The schedule with compactions at these places, and what it costs."""
        dollars, unfit, start = 0.0, 0, 0
        for index in range(len(self._steps)):
            if index in places:
                dollars += self._summary_cost(start, index)
                start = index
            dollars += self._request_cost(start, index)
            unfit += self.context(start, index) > self._steps[index].window
        return Schedule(tuple(sorted(places)), dollars, unfit)

    def cheapest(self) -> Schedule:
        """The schedule with the fewest requests that do not fit, and among these the one that costs least; of long sessions see
        `MOST_PLACES`."""
        count = len(self._steps)
        best: list[tuple[int, float]] = [(0, 0.0), *[(count + 1, 0.0)] * max(count - 1, 0)]
        came_from = [0] * max(count, 1)
        end: tuple[int, float] = (count + 1, 0.0)
        last = 0
        stride = max(-(-count // MOST_PLACES), 1)
        for start in range(0, max(count, 1), stride):
            unfit, dollars = best[start]
            for index in range(start, count):
                if (unfit, dollars) >= end:
                    break  # it only grows
                if index > start and index % stride == 0:
                    here = (unfit, dollars + self._summary_cost(start, index))
                    if here < best[index]:
                        best[index], came_from[index] = here, start
                unfit += self.context(start, index) > self._steps[index].window
                dollars += self._request_cost(start, index)
            else:
                if (unfit, dollars) < end:
                    end, last = (unfit, dollars), start
        places: list[int] = []
        while last > 0:
            places.append(last)
            last = came_from[last]
        return Schedule(tuple(reversed(places)), end[1], end[0])

    def run(self, session_id: str, schedule: Schedule) -> Run:
        """The schedule as a run that can stand among those of policies."""
        requests: list[RequestPoint] = []
        compactions: list[CompactionPoint] = []
        calls: list[PricedCall] = []
        summaries: list[PricedCall] = []
        cold: list[PricedCall] = []
        start = 0
        for index, step in enumerate(self._steps):
            if index in schedule.places:
                asked = self.summary(start, index)
                summaries += [PricedCall(step.model, usage) for usage in asked]
                cold += [PricedCall(step.model, Usage(usage.total_input_tokens, usage.output_tokens)) for usage in asked]
                before = self.context(start, index)
                start = index
                compactions.append(self._compaction(step, self._steps[index - 1].seq, before, self.context(start, index)))
            usage = self.request(start, index)
            context = self.context(start, index)
            requests.append(RequestPoint(step.seq, step.at, context, usage, context <= step.window))
            calls.append(PricedCall(step.model, usage))
        return Run(
            policy=OPTIMUM,
            session_id=session_id,
            requests=tuple(requests),
            compactions=tuple(compactions),
            usage=total_usage(point.usage for point in requests),
            dollars=dollars_of(calls),
            summaries=dollars_of(summaries),
            summaries_cold=dollars_of(cold),
            window=max((step.window for step in self._steps), default=0),
        )

    def _compaction(self, step: RequestStep, after_seq: int, before: int, after: int) -> CompactionPoint:
        rung = "model" if self._leaves.asks else "moves"
        return CompactionPoint(after_seq, step.at, "threshold", rung, before, after, 0, False, "")

    def _request_cost(self, start: int, index: int) -> float:
        return self._dollars(index, self._request(start, index))

    def _summary_cost(self, start: int, place: int) -> float:
        return sum(self._dollars(place, parts) for parts in self._summary(start, place))

    def _dollars(self, index: int, parts: _Parts) -> float:
        """The dollars of a call, as `Prices.cost` has it; 0 if no prices are known."""
        step = self._steps[index]
        prices = self._prices[step.model]
        if prices is None:
            return 0.0
        full, read, written, output = parts
        to_write = prices.cache_write_5m if step.ttl == "5m" else prices.cache_write_1h
        dollars = full * prices.input + read * prices.cache_read + written * to_write + output * prices.output
        if prices.long_prompt is not None and full + read + written > prices.long_prompt:
            dollars *= prices.long_prompt_factor
        return dollars / 1_000_000

    def _read(self, start: int, index: int, *, fresh: bool = False) -> int:
        """How many tokens are found in the cache. `fresh`: the same model has just been asked something with the same system prompt."""
        step = self._steps[index]
        if index == 0:
            return step.shared
        before = self._before[index]
        system = step.system if step.system >= self._minimum[step.model] else 0
        lives = before is not None and step.at < self._steps[before].at + TTL_SECONDS[self._steps[before].ttl]
        if not lives or before is None:
            return system if fresh else 0
        if start == index > 0 or before < start:
            return system
        # What the two have in common: all that the first one held, unless something before was changed since.
        common = min(self.context(start, each) - self._steps[each].context + self._steps[each + 1].shared for each in range(before, index))
        return common if common >= max(self._minimum[step.model], system) else system

    def _parts(self, index: int, context: int, read: int, output: int) -> _Parts:
        if context < self._minimum[self._steps[index].model]:
            return context, 0, 0, output
        read = min(read, context)
        return (0, read, context - read, output) if self._writes_cost else (context - read, read, 0, output)

    def _usage(self, index: int, parts: _Parts) -> Usage:
        full, read, written, output = parts
        is_short = self._steps[index].ttl == "5m"
        return Usage(full, output, read, written if is_short else 0, 0 if is_short else written)


def _before_by_model(steps: Sequence[RequestStep]) -> list[int | None]:
    """For each step the index of the last one before it of the same model; None if there is none."""
    latest: dict[str, int] = {}
    found: list[int | None] = []
    for index, step in enumerate(steps):
        found.append(latest.get(step.model))
        latest[step.model] = index
    return found


def cheapest_of(runs: Sequence[Run]) -> Iterator[Run]:
    """The cheapest of several runs of one session that could have been made, under the name `optimum`; none if there is no such run.

    What a policy really did is a schedule too, and may be cheaper than what it left on average lets one expect.
    """
    possible = [run for run in runs if not run.failure and run.requests]
    if possible:
        best = min(possible, key=lambda run: (sum(not point.fits for point in run.requests), run.total))
        yield replace(best, policy=OPTIMUM, line=0, violations=(), seconds=0.0)


def best_schedule(session: PreparedSession, outcomes: Sequence[Outcome], default: Policy, settings: ReplaySettings) -> Iterator[Run]:
    """The cheapest run of a session under the name `optimum`: by the choice of a schedule with what each policy's compactions leave, or
    what one of the policies did itself. None if the session has no counted request.

    Where none of them made any compaction, `default` is asked what its compactions would leave.
    """
    leaves = [outcome.leaves for outcome in outcomes if outcome.leaves is not None]
    steps = tuple(steps_of(session, settings))
    if not leaves:
        asked = _asked(session, default, settings).leaves
        # What cannot be compacted is left as large as it is.
        leaves = [asked or Leaves(default.name, max((step.context for step in steps), default=0))]
    writes_cost = habits_of(session.transcript).writes_cost
    choices = [ScheduleCosts(steps, each, writes_cost=writes_cost) for each in leaves]
    session_id = session.transcript.session_id
    found = [choice.run(session_id, choice.cheapest()) for choice in choices]
    yield from cheapest_of([*found, *(outcome.run for outcome in outcomes)])


def steps_of(session: PreparedSession, settings: ReplaySettings) -> Iterator[RequestStep]:
    """The requests of a session as they would be if nothing was compacted."""
    entries = outlines_of(session.transcript.entries)
    carried = CarriedSession(Unchanging(), "", entries)
    laid_out = LaidOut(carried, session.sizes, session.memo.block)
    windows = session.windows(settings)
    sent: set[bytes] = set()
    for logged in entries:
        request = session.requests.get(logged.seq)
        if request is not None:
            carried.settle()
            laid_out.learn(request.sizes, changes=request.changes)
            end = laid_out.end(carried.projection)
            shape = request.recorded.shape
            found = request.recorded.recorded.cache_read_tokens
            is_first = not sent
            shared = _shared(end, sent)
            if is_first and found in {mark.prefix.tokens for mark in shape.marks}:
                shared = found
            yield RequestStep(
                logged.seq,
                shape.at,
                shape.model,
                shape.marks[0].ttl,
                end.tokens,
                shared,
                laid_out.system.tokens,
                shape.output_tokens,
                windows[shape.model],
            )
        carried.take(logged)


def _shared(end: Prefix, sent: set[bytes]) -> int:
    """How many tokens an earlier request had too; `sent` learns what this one has."""
    shared = 0
    for prefix in end.backwards():
        if prefix.digest in sent:
            shared = prefix.tokens
            break
        sent.add(prefix.digest)
    return shared


def _asked(session: PreparedSession, policy: Policy, settings: ReplaySettings) -> Outcome:
    entries = session.transcript.entries
    places = sorted({int(len(entries) * share) for share in ASKED_AT} - {0})
    asked = tuple(RecordedCompaction(place, "", None, None, None) for place in places)
    return outcome_of(session.with_compactions(asked), policy, replace(settings, at="recorded", summary="digest"))

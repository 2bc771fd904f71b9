"""What the calls of a simulated session cost: the agent's own requests and those that write summaries, through one prompt cache."""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.blocks import Usage
from ullage.replay.cache import START, Mark, Prefix, PromptCache, RequestShape
from ullage.replay.cost import Dollars, PricedCall, dollars_of
from ullage.replay.predicted import without_writes
from ullage.replay.shapes import Habits


@dataclass(frozen=True, slots=True)
class SummaryCost:
    """The calls that wrote one summary, as they were counted and had nothing of them been in the cache."""

    usage: Usage
    cold: Usage


@dataclass(slots=True)
class Ledger:
    """One session's. Requests are charged in their order; a request shares with those before it what their digests say."""

    habits: Habits
    cache: PromptCache = field(default_factory=PromptCache)
    calls: list[PricedCall] = field(default_factory=list[PricedCall])
    summaries: list[PricedCall] = field(default_factory=list[PricedCall])
    summaries_cold: list[PricedCall] = field(default_factory=list[PricedCall])
    _sent: set[bytes] = field(default_factory=set[bytes])
    """Every prefix of every request so far."""
    _turn: Prefix | None = None
    """Where the first request of the turn ended."""
    _questions: int = 0

    def charge(self, recorded: RequestShape, system: Prefix, end: Prefix, *, new_turn: bool) -> Usage:
        """One request of the agent: `recorded` says when it was made and by which model, `end` what it holds."""
        if new_turn or self._turn is None or not _holds(end, self._turn):
            self._turn = end
        usage = self._charge(self._shape(recorded, system, end), end)
        self.calls.append(PricedCall(recorded.model, usage))
        return usage

    def charge_summary(
        self, recorded: RequestShape, system: Prefix, end: Prefix, asked: int, answer: int, *, own_text: int | None = None, check: int = 0
    ) -> SummaryCost:
        """The calls for one summary, in tokens: `asked` of the question, `answer` of what came back.

        It is asked at the end of the conversation, which is then read from the cache; or with `own_text` tokens of a text of its own,
        which is not in it. With `check` tokens of a second question, after the first answer, there is a second call.
        """
        self._questions += 1
        question = f"question {self._questions}"
        if own_text is None:
            shape = self._shape(recorded, system, end)
            first = RequestShape(shape.model, shape.at, end.then(question, asked), shape.marks, answer)
        else:
            first = RequestShape(recorded.model, recorded.at, START.then(question, own_text + asked), (), answer)
        requests = [first]
        if check:
            again = first.end.then(f"answer {self._questions}", answer).then(f"check {self._questions}", check)
            requests.append(RequestShape(first.model, first.at, again, first.marks, answer))
        usages = [self._charge(request, end) for request in requests]
        cold = [Usage(request.end.tokens, request.output_tokens) for request in requests]
        self.summaries += [PricedCall(recorded.model, usage) for usage in usages]
        self.summaries_cold += [PricedCall(recorded.model, usage) for usage in cold]
        return SummaryCost(sum(usages[1:], usages[0]), sum(cold[1:], cold[0]))

    def dollars(self) -> tuple[Dollars, Dollars, Dollars]:
        """Of the agent's requests, of the summaries as charged, and of the summaries without the cache."""
        return dollars_of(self.calls), dollars_of(self.summaries), dollars_of(self.summaries_cold)

    def _shape(self, recorded: RequestShape, system: Prefix, end: Prefix) -> RequestShape:
        ttl = recorded.marks[0].ttl
        ends = [system, self._shared(system, end), end]
        if self.habits.forgets_reasoning and self._turn is not None and _holds(end, self._turn):
            ends.append(self._turn)
        return RequestShape(recorded.model, recorded.at, end, tuple(Mark(each, ttl) for each in ends), recorded.output_tokens)

    def _shared(self, system: Prefix, end: Prefix) -> Prefix:
        """The longest prefix that an earlier request had, too."""
        return next((prefix for prefix in end.backwards() if prefix.digest in self._sent), system)

    def _charge(self, shape: RequestShape, end: Prefix) -> Usage:
        for prefix in end.backwards():
            if prefix.digest in self._sent:
                break
            self._sent.add(prefix.digest)
        charged = self.cache.charge(shape)
        return charged if self.habits.writes_cost else without_writes(charged)


def _holds(end: Prefix, part: Prefix) -> bool:
    for prefix in end.backwards():
        if prefix.tokens < part.tokens:
            return False
        if prefix.digest == part.digest:
            return True
    return False

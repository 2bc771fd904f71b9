"""What comes of carrying a session through a policy, gathered while it is carried.

The ledger has what the calls cost: the agent's own requests and those that write summaries, through one prompt cache. No model is asked
for a summary here, so this also says which text stands for it, and how many tokens writing it would have taken. Then come the points of
the run, what its compactions left, and the request after each of them. `measuring/runs.py` has what is told of it in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import Trigger
from ullage.context.counting.prompt_cache import START, CacheMark, Prefix, PromptCache, RequestShape
from ullage.context.counting.tokens import estimate_text
from ullage.context.moves.plan import Asked
from ullage.context.view.projection import Projection
from ullage.replay.measuring.retaining import Left
from ullage.replay.measuring.runs import CompactionPoint, RequestPoint, Run, Summaries
from ullage.replay.pricing.cost import Dollars, PricedCall, dollars_of, without_writes
from ullage.replay.pricing.recorded_models import minimum_cached
from ullage.replay.pricing.recorded_requests import Habits
from ullage.replay.simulating.carried import CarriedSession

USUAL_SUMMARY_TOKENS = 3_300
"""The tokens that a model would have written where the record has no summary of it. By our estimate: the median of the summaries in
recorded sessions of Claude Code, which are some 11,500 characters long."""

_BLANK_LINE = "A blank line of a summary that is not there, since only its size counts here.\n"
BLANK = _BLANK_LINE * round(USUAL_SUMMARY_TOKENS / estimate_text(_BLANK_LINE))
"""A summary that holds nothing, of the usual size."""


@dataclass(frozen=True, slots=True)
class SummaryQuestion:
    """What is asked of a model for one summary, in tokens.

    It is asked at the end of the conversation, which is then read from the cache; or with `own_text` tokens of a text of its own, which
    is not in it. With `check` tokens of a second question, after the first answer, there is a second call.
    """

    asked: int
    answer: int
    own_text: int | None = None
    check: int = 0


@dataclass(slots=True)
class Ledger:
    """The costs of one session's calls, charged in their order. A request shares with those before it what their program summaries say."""

    habits: Habits
    cache: PromptCache = field(default_factory=lambda: PromptCache(minimum_cached))
    calls: list[PricedCall] = field(default_factory=list[PricedCall])
    summaries: list[PricedCall] = field(default_factory=list[PricedCall])
    summaries_cold: list[PricedCall] = field(default_factory=list[PricedCall])
    questions: list[SummaryQuestion] = field(default_factory=list[SummaryQuestion])
    _sent: set[bytes] = field(default_factory=set[bytes])
    """Every prefix of every request so far."""
    _turn: Prefix | None = None
    """The end of the first request of the turn; None before any."""

    def charge(self, recorded: RequestShape, system: Prefix, end: Prefix, *, new_turn: bool) -> Usage:
        """Charges one request of the agent: `recorded` says when it was made and by which model, `end` what it holds."""
        if new_turn or self._turn is None or not _holds(end, self._turn):
            self._turn = end
        usage = self._charge(self._shape(recorded, system, end), end)
        self.calls.append(PricedCall(recorded.model, usage))
        return usage

    def charge_summary(self, recorded: RequestShape, system: Prefix, end: Prefix, question: SummaryQuestion) -> None:
        """Charges the calls for one summary; `end` is the conversation as the last request would have it."""
        self.questions.append(question)
        number = len(self.questions)
        if question.own_text is None:
            shape = self._shape(recorded, system, end)
            first = replace(shape, end=end.then(f"question {number}", question.asked), output_tokens=question.answer)
        else:
            text = START.then(f"question {number}", question.own_text + question.asked)
            first = RequestShape(recorded.model, recorded.at, text, (), question.answer)
        requests = [first]
        if question.check:
            again = first.end.then(f"answer {number}", question.answer).then(f"check {number}", question.check)
            requests.append(replace(first, end=again))
        for request in requests:
            sent = end if question.own_text is None else START
            self.summaries.append(PricedCall(recorded.model, self._charge(request, sent)))
            self.summaries_cold.append(PricedCall(recorded.model, Usage(request.end.tokens, request.output_tokens)))

    def dollars(self) -> tuple[Dollars, Dollars, Dollars]:
        """The dollars of the agent's requests, of the summaries as charged, and of the summaries without the cache."""
        return dollars_of(self.calls), dollars_of(self.summaries), dollars_of(self.summaries_cold)

    def _shape(self, recorded: RequestShape, system: Prefix, end: Prefix) -> RequestShape:
        ttl = recorded.marks[0].ttl
        ends = [system, self._shared(system, end), end]
        if self.habits.forgets_reasoning and self._turn is not None and _holds(end, self._turn):
            ends.append(self._turn)
        return RequestShape(recorded.model, recorded.at, end, tuple(CacheMark(each, ttl) for each in ends), recorded.output_tokens)

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


@dataclass(frozen=True, slots=True)
class StandIn:
    """What stands for a model's summary. `text` is None if the program summary stands in; `what` is its name in `CompactionPoint.stood_in`.
    `tokens` by our estimate."""

    text: str | None
    what: str
    tokens: int


def stand_in(summaries: Summaries, recorded: str, asked: Asked) -> StandIn:
    """What stands for the answer to `asked`. `recorded` is the summary that the transcript has at this place, empty if none."""
    if summaries == "recorded" and recorded:
        return StandIn(recorded, "recorded", estimate_text(recorded))
    usual = min(USUAL_SUMMARY_TOKENS, asked.output_tokens)
    if summaries == "none":
        return StandIn(BLANK, "blank", usual)
    return StandIn(None, "digest", usual)


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a compaction of a policy leaves and what writing it takes, on average in one session (tokens)."""

    policy: str
    context: int
    """The tokens of the whole context after it."""
    asks: bool = False
    """Whether a model writes its summary."""
    question: int = 0
    answer: int = 0
    own_text: int | None = None
    """The tokens of a text that the model is to read; None: it reads the conversation as the last request had it."""
    check: int = 0
    """The tokens of a second question, after the first answer; 0: there is none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, and what the policy's compactions left on average in it; None if it made none."""

    run: Run
    leaves: Leaves | None = None


@dataclass(frozen=True, slots=True)
class RequestAfterCompaction:
    """The request that follows a compaction. `number` counts these from 1, `after_seq` is the transcript's last entry before the
    compaction. Upkeep is no compaction here."""

    number: int
    after_seq: int
    trigger: Trigger
    view: Projection
    carried: CarriedSession


Watch = Callable[[RequestAfterCompaction], None]
"""A function that gets every request that follows a compaction."""


@dataclass(slots=True)
class Made:
    """What came of a session so far: its requests, its compactions, and what these left."""

    requests: list[RequestPoint] = field(default_factory=list[RequestPoint])
    compactions: list[CompactionPoint] = field(default_factory=list[CompactionPoint])
    left: dict[str, Left] = field(default_factory=dict[str, Left])
    """What each compaction left, by its id; upkeep aside."""
    undone: set[str] = field(default_factory=set[str])
    """The ids of the compactions that the user undid."""
    violations: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def left_in_force(self) -> list[Left]:
        """What the compactions left that were not undone."""
        return [left for id, left in self.left.items() if id not in self.undone]

    def leaves(self, policy: str, questions: Sequence[SummaryQuestion]) -> Leaves | None:
        """What the policy's compactions left on average; None if there were none. `questions` are what a model was asked for them."""
        made = [point for point in self.compactions if not point.upkeep]
        if not made:
            return None
        left = round(mean(point.tokens_after for point in made))
        if 2 * len(questions) < len(made):
            return Leaves(policy, left)
        own = [each.own_text for each in questions if each.own_text is not None]
        return Leaves(
            policy,
            left,
            asks=True,
            question=round(mean(each.asked for each in questions)),
            answer=round(mean(each.answer for each in questions)),
            own_text=round(mean(own)) if own else None,
            check=round(mean(each.check for each in questions)),
        )

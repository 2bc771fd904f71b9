"""What comes of carrying a session through a policy, gathered while it is carried: the points of its run, what its compactions left, and
the request after each of them. What is told of it in the end is in `runs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean

from ullage.context.entries import Trigger
from ullage.context.view.projection import Projection
from ullage.replay.retaining import Left
from ullage.replay.runs import CompactionPoint, RequestPoint, Run
from ullage.replay.simulating.carried import Carried
from ullage.replay.simulating.ledger import Question


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a compaction of a policy leaves and what writing it takes, on average in one session (tokens)."""

    policy: str
    context: int
    """The whole context after it."""
    asks: bool = False
    """Whether a model writes its summary."""
    question: int = 0
    answer: int = 0
    own_text: int | None = None
    """What the model is to read; None: the conversation as the last request had it."""
    check: int = 0
    """Of a second question, after the first answer; 0: there is none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, and what the policy's compactions left on average in it; None where it made none."""

    run: Run
    leaves: Leaves | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """The request that follows a compaction: `number` counts them from 1, `after_seq` is the transcript's last entry before it. Upkeep is
    no compaction here."""

    number: int
    after_seq: int
    trigger: Trigger
    view: Projection
    carried: Carried


Watch = Callable[[Epoch], None]
"""Gets every request that follows a compaction."""


@dataclass(slots=True)
class Made:
    """What came of a session so far."""

    requests: list[RequestPoint] = field(default_factory=list[RequestPoint])
    compactions: list[CompactionPoint] = field(default_factory=list[CompactionPoint])
    left: list[Left] = field(default_factory=list[Left])
    violations: dict[str, None] = field(default_factory=dict[str, None])

    def leaves(self, policy: str, questions: Sequence[Question]) -> Leaves | None:
        """What its compactions left on average; None where there were none. `questions` are what a model was asked for them."""
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

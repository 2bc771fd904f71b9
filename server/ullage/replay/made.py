"""What came of carrying a session through a policy, while it is being carried: gathered here, told in `runs.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean

from ullage.replay.ledger import Question
from ullage.replay.optimum import Leaves
from ullage.replay.retaining import Left
from ullage.replay.runs import CompactionPoint, RequestPoint, Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run, and what the policy's compactions left on average in it; None where it made none."""

    run: Run
    leaves: Leaves | None = None


@dataclass(slots=True)
class Made:
    """What came of a session so far."""

    requests: list[RequestPoint] = field(default_factory=list[RequestPoint])
    compactions: list[CompactionPoint] = field(default_factory=list[CompactionPoint])
    left: list[Left] = field(default_factory=list[Left])
    violations: dict[str, None] = field(default_factory=dict[str, None])
    largest_line: int = 0
    largest_window: int = 0

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

"""Engines for tests: each does one thing that Ullage's own does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ullage.context.engines.engine import Covered, Engine, Occasion, PathOf, SummaryText, Unchanging
from ullage.context.moves.cheap import Arrival, Clip, clear
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policy import ClearOptions, FixedTokens, FullAt, Policy, ThresholdOptions

PROMPT = "Tell in few words what came of it so far."


def policy(engine: Engine, name: str = "tried", full_at: FullAt | None = None) -> Policy:
    """A policy with that engine; by default it is full at 20,000 tokens."""
    return Policy(name, "A policy of a test", ("the test",), engine, ThresholdOptions(full_at or FixedTokens(20_000)))


@dataclass(frozen=True)
class AsksModel(Unchanging):
    """A model tells everything but the newest message in few words."""

    asked: Asked = field(default_factory=lambda: Asked(PROMPT, 1_000))

    def plan(self, at: Occasion) -> Plan | None:
        messages = at.projection.messages
        cuts = [cut for cut in legal_cuts(messages) if 0 < cut < len(messages)] or [legal_cuts(messages)[-1]]
        if not cuts[-1]:
            return None
        last = at.projection.last_seq_before(cuts[-1])
        through = at.projection.entries[-1].seq
        return Plan(through, (), None, last, cuts[-1], at.count(messages[cuts[-1] :]), asked=self.asked)

    def summarise(self, covered: Covered) -> SummaryText:
        return SummaryText(f"So far: {covered.model_text or 'nobody told.'}", "Understood.")


@dataclass(frozen=True)
class KeepsUp(AsksModel):
    """Before every call all results but the newest are cleared, too."""

    def upkeep(self, at: Occasion) -> Plan | None:
        cleared = clear(at.projection, ClearOptions(keep_results=1, spares_newest_reads=False))
        if not cleared:
            return None
        return Plan(at.projection.entries[-1].seq, cleared, None, None, 0, 0)


class Raises(AsksModel):
    """Raises where it is told to."""

    def __init__(self, *where: str) -> None:
        object.__setattr__(self, "asked", Asked(PROMPT, 1_000))
        object.__setattr__(self, "where", where)
        object.__setattr__(self, "calls", [])

    where: tuple[str, ...]
    calls: list[str]

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if what in self.where:
            raise LookupError("no such thing")

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        self._called("arrive")
        return super().arrive(arrivals, path_of)

    def upkeep(self, at: Occasion) -> Plan | None:
        self._called("upkeep")
        return super().upkeep(at)

    def plan(self, at: Occasion) -> Plan | None:
        self._called("plan")
        return super().plan(at)

    def summarise(self, covered: Covered) -> SummaryText:
        self._called("summarise")
        return super().summarise(covered)


class GivesRubbish(AsksModel):
    """Gives what is no plan."""

    def plan(self, at: Occasion) -> Plan | None:
        return cast("Any", "a plan")


class SummarisesBeforeCalls(AsksModel):
    """Wants a summary where none is made."""

    def upkeep(self, at: Occasion) -> Plan | None:
        return self.plan(at)


class RepeatsItself(KeepsUp):
    """Clears the same results again and again."""

    def upkeep(self, at: Occasion) -> Plan | None:
        done = tuple(cleared for each in at.projection.active for cleared in each.cleared)
        new = super().upkeep(at)
        if new is None:
            return Plan(at.projection.entries[-1].seq, done, None, None, 0, 0) if done else None
        return replace(new, cleared=(*done, *new.cleared))

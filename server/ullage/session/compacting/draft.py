"""A compaction that is ready but for the files, and what was asked for. How it comes about: `rungs.py`, `compaction.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ullage.context.blocks import Usage
from ullage.context.engines.engine import Handoff
from ullage.context.engines.entry import planned_entry
from ullage.context.entries import Compaction, Rung, Trigger
from ullage.context.moves.plan import Plan
from ullage.context.policy import Policy
from ullage.context.view.projection import EpochKey


class NothingToCompact(Exception):
    """A compaction would not make the context smaller. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A compaction that is asked for."""

    id: str
    trigger: Trigger
    focus: str = ""
    by_program: bool = False
    """No model is asked: reading a cold prefix for a summary would cost what the compaction is to save."""
    saves: float | None = None
    """Dollars, of one that is to save, as announced."""
    foreseen: bool = False
    """It is only shown what it would be: nothing that goes wrong counts."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction that is ready but for the files. Valid while the policy and the epoch are those it was made under."""

    wanted: Wanted
    plan: Plan
    rung: Rung
    handoff: Handoff
    usage: Usage | None
    cost: float | None
    skipped: tuple[str, ...]
    tokens_before: int
    line: int
    """Tokens at which the context counts as full, as it was planned for."""
    epoch: EpochKey
    """Without upkeep, which leaves a draft as good as it was."""
    policy: Policy
    """The one that planned it."""
    key: EpochKey
    """The whole epoch. What the API wrote serves in no other: it is bound to each message before it."""

    def as_wanted(self, wanted: Wanted) -> Draft:
        """The same draft for another reason: one prepared in the background serves whoever needs it first."""
        return replace(self, wanted=wanted)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a compaction would come to, had the program to write its summary; `rung` is the one that would be tried first."""

    entry: Compaction
    rung: Rung


def entry_of(draft: Draft) -> Compaction:
    """The log entry of a draft, before files are read again."""
    wanted = draft.wanted
    entry = planned_entry(
        wanted.id,
        wanted.trigger,
        draft.plan,
        draft.handoff,
        draft.rung,
        policy=draft.policy.name,
        tokens_before=draft.tokens_before,
        focus=wanted.focus,
    )
    return replace(entry, usage=draft.usage, cost=draft.cost, skipped=draft.skipped, saves=wanted.saves)

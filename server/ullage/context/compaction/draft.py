"""What a compaction is made of: what is wanted, how full the context is, the draft and its plan, and what can go wrong.

`drafting.py` and `making.py` turn each into the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import Compaction, Rung, Trigger
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import SummaryText, planned_entry
from ullage.context.entries import Logged
from ullage.context.moves.plan import Count, Plan
from ullage.context.policy import Policy
from ullage.context.view.epoch import in_force
from ullage.context.view.projection import EpochKey, Projection


@dataclass(frozen=True, slots=True)
class WantedCompaction:
    """A compaction that somebody, or the decision, asks for."""

    id: str
    trigger: Trigger
    focus: str = ""
    by_program: bool = False
    """Whether no model is asked for the summary: reading a cold prefix for it would cost what the compaction is to save."""
    saves: float | None = None
    """About how many dollars it saves, as announced; None of one that is not to save."""
    foreseen: bool = False
    """Whether it is only shown what the compaction would be: a failure then does not count."""


@dataclass(frozen=True, slots=True)
class DraftSizes:
    """How full the context is when a compaction is planned (tokens)."""

    used: int
    """Tokens of the whole context."""
    threshold: int
    """Tokens from which on the context counts as full."""
    window: int
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction that is ready but for the files to be read again. It is valid while the policy and the epoch are those that it was made
    under."""

    wanted: WantedCompaction
    plan: Plan
    rung: Rung
    summary: SummaryText
    usage: Usage | None
    """Tokens that were spent on it; None if no model was asked."""
    cost: float | None
    """Dollars that were spent on it; None if nothing was spent or prices are not known."""
    skipped: tuple[str, ...]
    """The reasons why better ways to write the summary were not taken, for the user."""
    tokens_before: int
    threshold: int
    """Tokens from which on the context counted as full when it was planned."""
    epoch: EpochKey
    """The epoch that it was made in, without upkeep, which leaves a draft as good as it was."""
    policy: Policy
    """The policy that planned it."""
    key: EpochKey
    """The whole epoch that it was made in. What the API wrote serves in no other: it is bound to each message before it."""

    def as_wanted(self, wanted: WantedCompaction) -> Draft:
        """This draft for another request: one prepared in the background serves whoever needs it first."""
        return replace(self, wanted=wanted)

    @property
    def is_of_use(self) -> bool:
        """Whether a draft like this is worth making ahead, to be taken when a compaction is due."""
        return self.policy.drafts_ahead or self.plan.asked is not None

    def spares(self, view: Projection) -> bool:
        """Whether the draft leaves alone everything that is pinned in `view`. One with a text of its own is put right when it is
        committed."""
        if self.summary.block is None or self.plan.summarise_to is None:
            return True
        return self.plan.summarise_to < min(view.pinned_entries, default=self.plan.summarise_to + 1)

    def entry(self) -> Compaction:
        """The log entry for this draft, without files that are read again."""
        wanted = self.wanted
        entry = planned_entry(
            *(wanted.id, wanted.trigger, self.plan, self.summary, self.rung),
            policy=self.policy.name,
            tokens_before=self.tokens_before,
            focus=wanted.focus,
        )
        return replace(entry, usage=self.usage, cost=self.cost, skipped=self.skipped, saves=wanted.saves)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a compaction would do, if the program wrote its summary. `rung` is the way to write it that would be tried first."""

    entry: Compaction
    rung: Rung
    is_written: bool = False
    """Whether its summary is written already, in a draft that was made ahead."""


def counting(calibration: Calibration) -> Count:
    """The function by which an engine counts the tokens of messages."""
    return lambda messages: calibration.apply(sum(map(estimate_message, messages)))


def epoch_of(view: Projection) -> EpochKey:
    """The epoch in force, as it would be without upkeep."""
    seqs = (seq for seq, active in view.active_by_seq.items() if active.trigger != "upkeep")
    return EpochKey(view.key.prelude, in_force(None, seqs))


class NothingToCompact(Exception):
    """A compaction would not make the context smaller. Nothing has changed."""


class PolicyFailed(Exception):
    """The engine of a policy raised an error, or gave something that cannot be used. `str()` names the policy, for the user; `usage` was
    spent in vain."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage


class NotWanted(Exception):
    """A hook objects to a compaction that can wait. `str()` says which hook and why, for the user."""


class SummaryFailed(Exception):
    """The model wrote no summary that can be used. `str()` says why, for the user; `usage` was spent in vain."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage


class NotForTheApi(Exception):
    """The API cannot write the planned summary. `str()` says why, for the user. Nothing was spent."""


def with_entry(view: Projection, entry: Compaction) -> Projection:
    """The view as it would be with `entry` as the next in the log; nothing is logged."""
    return view.with_appended(Logged(view.entries[-1].seq + 1, 0.0, entry))


def with_resume(entry: Compaction, policy: Policy, resume: str) -> Compaction:
    """The compaction with the text of how to go on, where the policy gives one."""
    return entry if policy.restore is None else replace(entry, resume="\n\n".join(filter(None, (entry.resume, resume))))


def both(*usages: Usage | None) -> Usage | None:
    """The usage of all these calls together; None if none was counted."""
    total: Usage | None = None
    for usage in usages:
        total = total + usage if total and usage else total or usage
    return total

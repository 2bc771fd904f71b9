"""A compaction from what is wanted to its entry: the draft, the ways to write its text in their order, whether it is smaller, its files.

The same live and in replay. Weighing is given as a function: what the whole context would hold with one more entry (tokens). Nothing here
asks a model or reads a file; live that is done between these steps, in replay something stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import ASKED_FOR, Compaction, Rung, Trigger
from ullage.context.counting.gauge import measured, threshold_of
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import Covered, Occasion, SummaryText, is_in_force, planned_entry, summary_room
from ullage.context.entries import Logged
from ullage.context.moves.plan import Count, Plan, spare
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.redact import redact
from ullage.context.view.epoch import in_force
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import EpochKey, Projection
from ullage.context.view.quotations import is_anything_excluded, log_without_excluded

Weigh: TypeAlias = Callable[[Compaction], int]
"""What the context would hold with one more compaction (tokens)."""


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
    summary: SummaryText
    usage: Usage | None
    cost: float | None
    skipped: tuple[str, ...]
    tokens_before: int
    threshold: int
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


def is_of_use(draft: Draft) -> bool:
    """Whether a draft that was made ahead is taken when its compaction is due."""
    return draft.policy.drafts_ahead or draft.plan.asked is not None


def entry_of(draft: Draft) -> Compaction:
    """The log entry of a draft, before files are read again."""
    wanted = draft.wanted
    entry = planned_entry(
        wanted.id,
        wanted.trigger,
        draft.plan,
        draft.summary,
        draft.rung,
        policy=draft.policy.name,
        tokens_before=draft.tokens_before,
        focus=wanted.focus,
    )
    return replace(entry, usage=draft.usage, cost=draft.cost, skipped=draft.skipped, saves=wanted.saves)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How full the context is when a compaction is planned (tokens)."""

    used: int
    """The one number of the whole context."""
    threshold: int
    """Where it counts as full."""
    window: int
    calibration: Calibration


def counting(calibration: Calibration) -> Count:
    """Counts messages as an engine is to count them."""
    return lambda messages: calibration.apply(sum(map(estimate_message, messages)))


def epoch_of(projection: Projection) -> EpochKey:
    """The epoch in force, as if there were no upkeep."""
    seqs = (seq for seq, active in projection.active_by_seq.items() if active.trigger != "upkeep")
    return EpochKey(projection.key.prelude, in_force(None, seqs))


def planned(policy: Policy, view: Projection, wanted: Wanted, sizes: Sizes) -> Draft | None:
    """A draft without its summary: what the policy's engine wants done, without what is pinned; None where that is nothing.

    Raises what the engine raises, `TypeError` where it gives no plan and `ValueError` for a summary before a call that needs none.
    """
    count, upkeep = counting(sizes.calibration), wanted.trigger == "upkeep"
    full = measured(policy.measure, sizes.used, view.messages, sizes.calibration)
    occasion = Occasion(view, wanted.trigger, full, sizes.threshold, sizes.window, count)
    plan = policy.engine.upkeep(occasion) if upkeep else policy.engine.plan(occasion)
    if plan is None:
        return None
    if not isinstance(plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
        raise TypeError(f"its plan is {type(plan).__name__}")
    if upkeep and plan.summarise_to is not None:
        raise ValueError("it wants a summary before a call that needs none")
    spared = spare(plan, view, count)
    if spared is None or (upkeep and is_in_force(spared, view)):
        return None
    draft = Draft(wanted, spared, "moves", SummaryText(""), None, None, (), sizes.used, sizes.threshold, epoch_of(view), policy, view.key)
    return draft if upkeep or spared.summarise_to is not None or _takes_out(draft, view, count) else None


def _takes_out(draft: Draft, view: Projection, count: Count) -> bool:
    """Whether a draft that needs no summary makes the messages smaller: what is left in the place of a short result may be longer."""
    after = view.with_appended(Logged(view.entries[-1].seq + 1, 0.0, entry_of(draft)))
    return count(after.messages) < count(view.messages)


def stand_in_by(policy: Policy, wanted: Wanted, *, must: bool) -> Literal["model", "program"] | None:
    """Who writes the summary where Ullage's own engine stands in for a policy that found nothing to do; None where none stands in.

    A policy that never compacts has no way of its own. So where somebody asks for a compaction, it is made as Ullage's own would be.
    """
    if policy.never and wanted.trigger in ASKED_FOR:
        return "model"
    return "program" if must and policy.has_stand_in else None


def standing_in(wanted: Wanted, sizes: Sizes) -> tuple[Wanted, Sizes]:
    """What Ullage's own engine is asked where it stands in for another policy: to compact in any case, by its own threshold at most."""
    asking = wanted if wanted.trigger == "reactive" else replace(wanted, trigger="manual")
    return asking, replace(sizes, threshold=min(sizes.threshold, threshold_of(sizes.window, ULLAGE.threshold)))


def ways(plan: Plan, wanted: Wanted) -> Iterator[Rung]:
    """The ways to write a planned summary, in their order; each must make the context smaller, else the next one is tried."""
    if plan.asked is not None and not wanted.by_program and wanted.trigger != "reactive":  # then the model has just refused all this
        yield "api"
        yield "model"
    yield "digest"
    yield "tail"


def covered_by(
    view: Projection, plan: Plan, model_text: str | None, focus: str, threshold: int, files: Mapping[str, str] | None = None
) -> Covered:
    """What a summary is to be written of. `view` may hold more than there was when it was planned."""
    entries = view.entries
    whole = entries[: place_of(entries, plan.through + 1)]
    if is_anything_excluded(view):
        whole = log_without_excluded(view, whole)
    cut = place_of(whole, (plan.summarise_to or 0) + 1)
    return Covered(whole[:cut], plan, model_text, focus, summary_room(threshold), files or {}, whole[cut:])


def summary_by(policy: Policy, covered: Covered) -> SummaryText:
    """The text of a summary, by the policy's engine, without secrets. Raises what the engine raises, and `TypeError`."""
    told = policy.engine.summarise(covered)
    if not isinstance(told, SummaryText):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
        raise TypeError(f"its summary is {type(told).__name__}")
    # Whoever wrote it: what a model tells may hold what it read.
    return replace(told, text=redact(told.text), acknowledgement=redact(told.acknowledgement), resume=redact(told.resume))


def with_resume(entry: Compaction, policy: Policy, resume: str) -> Compaction:
    """With how to go on, where the policy says that."""
    return entry if policy.restore is None else replace(entry, resume="\n\n".join(filter(None, (entry.resume, resume))))


def shrinks(draft: Draft, resume: str, weigh: Weigh, now: int) -> bool:
    """Whether the context, which holds `now` tokens, would be smaller with the draft, before any file is read again.

    A session goes on while a summary is written. So what came since is on both sides, and not weighed against the size when it was planned.
    """
    return weigh(with_resume(entry_of(draft), draft.policy, resume)) < now


def sparing(entry: Compaction, draft: Draft, view: Projection, count: Count, weigh: Weigh) -> Compaction | None:
    """The entry without what it does to entries that were pinned since it was planned; None where nothing is left to gain."""
    plan = draft.plan
    spared = spare(plan, view, count)
    if spared is None:
        return None
    if (spared.cleared, spared.snipped, spared.carried) == (plan.cleared, plan.snipped, plan.carried):
        return entry
    now = entry_of(replace(draft, plan=spared))
    entry = replace(entry, cleared=now.cleared, snipped=now.snipped, summarised=now.summarised)
    return entry if weigh(replace(entry, restored=())) < entry.tokens_before else None


def fitted(entry: Compaction, weigh: Weigh) -> Compaction:
    """Restored files give way, last first, until the compaction makes the context smaller; then its size is set."""
    after = weigh(entry)
    while entry.restored and after >= entry.tokens_before:
        entry = replace(entry, restored=entry.restored[:-1])
        after = weigh(entry)
    return replace(entry, estimated_after=after)

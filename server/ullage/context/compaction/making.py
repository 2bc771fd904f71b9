"""The making of a compaction, from the decision to the entry: one course, live and in replay.

A draft is planned, and its summary is written by the first way that works: the API, the model, the program, a short note. It may be made
ahead, in the background, while the session goes on: a draft speaks of the log up to where it was made. Then files are read again, and the
entry is logged. Until then nothing has changed.

What has to be done around that is given as `Means`. Live these ask the model and read files. In replay something stands in for them, and
nothing waits. Whether to compact is decided in `decide.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from ullage.context.blocks import Usage
from ullage.context.compaction.decide import Compact, Decision, Prepare
from ullage.context.compaction.draft import (
    Draft,
    NothingToCompact,
    PolicyFailed,
    Sizes,
    Wanted,
    both,
    counting,
    epoch_of,
    planned,
    with_entry,
    with_resume,
)
from ullage.context.compaction.forgotten import is_counted
from ullage.context.compaction.gathering import Gathering, newest_seq
from ullage.context.compaction.means import Asking, Means
from ullage.context.compaction.restore import in_room
from ullage.context.compaction.writing import Writing
from ullage.context.compaction_entries import ASKED_FOR, Compaction
from ullage.context.counting.gauge import threshold_of
from ullage.context.moves.cuts import newest_turn
from ullage.context.moves.plan import leaves_alone, spare
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.view.fates import counts


class Making:
    """Makes the compactions of one log. It keeps what went wrong, so that this is not tried again at once."""

    def __init__(self, means: Means, gathering: Gathering) -> None:
        self._means = means
        self._gathering = gathering
        self.writing = Writing(means)
        self._planned_ahead: Draft | None = None
        self._ahead_by: Policy | None = None

    # The course

    async def carry_out(self, decided: Compact, *, at_work: bool) -> Compaction | None:
        """Makes a compaction that was decided, and those that some policies make at the same boundary. None where it did not come about."""
        means = self._means
        wanted = Wanted(means.new_id(), decided.trigger, by_program=decided.by_program, saves=decided.saves)
        made = await self.attempt(wanted, at_work=at_work, must=decided.must)
        if made is not None and decided.trigger == "threshold":
            made = await self._sweep(made, at_work=at_work)
        told = made is None and means.was_told(wanted)
        full, seq = means.fullness(), newest_seq(means.view.entries)
        self._gathering.tried(decided, means.policy, full, seq, means.now(), made=made is not None, told=told)
        return made

    async def _sweep(self, made: Compaction, *, at_work: bool) -> Compaction:
        """The compactions that some policies make at the same boundary, one after the other; gives the last."""
        for _ in range(1, self._means.policy.engine.sweeps):
            more = await self.attempt(Wanted(self._means.new_id(), "threshold"), at_work=at_work)
            if more is None:
                break
            made = more
        return made

    async def attempt(self, wanted: Wanted, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction. One that does not come about has changed nothing; it is told why, and None is given."""
        try:
            with self._means.being_made(wanted):
                draft = await self._ahead_for(wanted) or await self._draft_or_stand_in(wanted, must=must)
                if not draft.spares(self._means.view):  # something was pinned while it was written
                    self.discard(draft)
                    draft = await self._draft_or_stand_in(wanted, must=must)
                if wanted.trigger == "economy" and not self._leaves_newest_turn(draft):
                    self.discard(draft)
                    raise NothingToCompact
                return await self._committed(draft.as_wanted(wanted), at_work=at_work)
        except BaseException as error:
            self._means.not_made(wanted, error)
            if not isinstance(error, Exception):
                raise
            return None

    async def keep_up(self) -> Compaction | None:
        """What the policy does before every call; None where that is nothing."""
        means = self._means
        wanted = Wanted(means.new_id(), "upkeep")
        try:
            draft = await self.planned(wanted, means.policy, means.sizes())
            means.engine_served()
            return await self._committed(draft, at_work=True)
        except Exception as error:  # noqa: BLE001 - it is told, or raised again, by whoever is told
            means.not_made(wanted, error)
            return None

    # Ahead, in the background

    def prepare_if(self, decision: Decision) -> None:
        """Begins to draft a compaction where that was decided, unless one is in work or serves already."""
        if not isinstance(decision, Prepare):
            return
        begun = self._means.ahead.begun
        if decision.trigger == "economy":
            begun = begun and not self.ready()  # one that is ready does not serve, else none would be prepared
        if not begun:
            self.give_up()
            self._planned_ahead, self._ahead_by = None, self._means.policy
            self._means.ahead.start(self._drafted_ahead(Wanted(self._means.new_id(), decision.trigger)))

    async def _drafted_ahead(self, wanted: Wanted) -> Draft:
        means = self._means
        seq = newest_seq(means.view.entries)
        asking = means.asking()
        try:
            return await self._drafted(wanted, asking, self._plan_is_made)
        except Exception as error:
            self._gathering.gave_nothing(seq)  # the same log would fail again
            if isinstance(error, PolicyFailed):
                means.spent_in_vain(error.usage, asking.cost(error.usage))
            raise

    def _plan_is_made(self, draft: Draft) -> None:
        self._planned_ahead = draft

    def ready(self) -> bool:
        """Whether a draft is ready and still speaks of what is in force. One that does not is given up."""
        outcome = self._means.ahead.outcome()
        if isinstance(outcome, Draft) and self._still_fits(outcome):
            return True
        if outcome is not None:
            self.give_up()
        return False

    def prepared(self, wanted: Wanted) -> Draft | None:
        """The draft that is ready and would serve; it stays where it is."""
        draft = None if wanted.focus else self._look()
        return draft if draft is not None and draft.is_of_use else None

    def in_work(self, wanted: Wanted) -> Draft | None:
        """The draft that would be waited for, as it is planned; None where none is in work, its plan is not made yet or would not serve."""
        planned = self._planned_ahead
        if wanted.focus or planned is None or not self._means.ahead.begun or not self._still_fits(planned):
            return None
        return planned if planned.is_of_use else None

    def is_prepared_to_save(self) -> bool:
        """Whether a draft is ready that leaves the newest turn alone."""
        draft = self._look()
        return draft is not None and self._leaves_newest_turn(draft)

    def give_up(self) -> None:
        """What is made ahead serves no more: ends what is in work, and throws away what is ready."""
        draft = self._means.ahead.drop()
        if draft is not None:
            self.discard(draft)

    def discard(self, draft: Draft) -> None:
        """The draft will not be used."""
        self._means.spent_in_vain(draft.usage, draft.cost)

    def settings_changed(self) -> None:
        """Another policy may be in force: what is made ahead under the old one serves nobody."""
        if self._ahead_by is not self._means.policy:
            self.give_up()

    async def _ahead_for(self, wanted: Wanted) -> Draft | None:
        """The draft that was made ahead, waited for where it is in work; None where it would not serve or there is none."""
        if wanted.trigger == "reactive" or wanted.focus or wanted.by_program:
            return None
        if wanted.trigger == "economy" and not self.is_prepared_to_save():
            return None
        draft = await self._means.ahead.take()
        if draft is not None and not self._still_fits(draft):
            self.discard(draft)
            return None
        return draft if draft is not None and draft.is_of_use else None

    def _look(self) -> Draft | None:
        outcome = self._means.ahead.outcome()
        return outcome if self.ready() and isinstance(outcome, Draft) else None

    def _still_fits(self, draft: Draft) -> bool:
        """Whether the draft speaks of the policy and the epoch in force."""
        view = self._means.view
        if draft.summary.block is not None and (draft.key != view.key or not draft.spares(view)):
            return False
        return self._is_in_force(draft.policy) and draft.epoch == epoch_of(view)

    def _is_in_force(self, policy: Policy) -> bool:
        return policy is self._means.policy or not policy.has_stand_in

    def _leaves_newest_turn(self, draft: Draft) -> bool:
        return leaves_alone(draft.plan, newest_turn(self._means.view))

    # The draft

    async def _draft_or_stand_in(self, wanted: Wanted, *, must: bool) -> Draft:
        """A draft by the policy in force. Where its engine fails, or has nothing to do though something `must` be done, by Ullage's own."""
        policy, asking = self._means.policy, self._means.asking()
        try:
            return await self._drafted(wanted, asking)
        except PolicyFailed as failure:
            return await self.stand_in(wanted, asking, why=str(failure), usage=failure.usage)
        except NothingToCompact:
            by = _stand_in_by(policy, wanted, must=must)
            if by is None:
                raise
            why = "" if by == "model" else f"The policy {policy.name} found nothing to do"
            return await self.stand_in(wanted, self._means.asking(), why=why, by=by)

    async def _drafted(self, wanted: Wanted, asking: Asking, planned: Callable[[Draft], None] | None = None) -> Draft:
        """By the policy in force; `planned` is told of the draft before its summary is written."""
        means = self._means
        sizes = means.sizes()
        empty = await self.planned(wanted, means.policy, sizes)
        if planned is not None:
            planned(empty)
        draft = await self.writing.with_summary(empty, asking, sizes)
        means.engine_served()
        return draft

    async def stand_in(
        self,
        wanted: Wanted,
        asking: Asking,
        *,
        why: str = "",
        usage: Usage | None = None,
        by: Literal["model", "program"] = "program",
    ) -> Draft:
        """A draft by Ullage's own engine, where the policy in force does not serve (`why`, for the user). Raises `NothingToCompact`.

        With a summary in any case. `usage` is what was spent in vain before.
        """
        try:
            asking_for, sizes = as_stand_in(wanted, self._means.sizes())
            draft = await self.planned(asking_for, ULLAGE, sizes)
            if by == "model":
                draft = await self.writing.with_summary(draft, asking, sizes)
            elif draft.plan.summarise_to is not None:
                draft = await self.writing.by_program(draft)
        except BaseException:
            self._means.spent_in_vain(usage, asking.cost(usage))
            raise
        skipped = (why, *draft.skipped) if why else draft.skipped
        spent = both(usage, draft.usage)
        return replace(draft, wanted=wanted, skipped=skipped, usage=spent, cost=asking.cost(spent))

    async def planned(self, wanted: Wanted, policy: Policy, sizes: Sizes) -> Draft:
        """A draft without its summary: what the policy's engine wants done, without what is pinned.

        Raises `NothingToCompact` and `PolicyFailed`.
        """
        view = self._means.view
        if not view.messages:
            raise NothingToCompact
        view = view.copy()
        draft = await self._means.ask_engine(policy, lambda: planned(policy, view, wanted, sizes), counts=not wanted.foreseen)
        if draft is None:
            raise NothingToCompact
        return draft

    # The commit

    async def _committed(self, draft: Draft, *, at_work: bool) -> Compaction:
        """Reads files again and logs the compaction. Whatever is raised, nothing has changed, and what the draft cost counts."""
        try:
            entry = await self.completed(draft, at_work=at_work)
            self._means.commit(draft, entry)
        except BaseException:
            self.discard(draft)
            raise
        return entry

    async def completed(self, draft: Draft, *, at_work: bool) -> Compaction:
        """The entry of the draft as it is logged, or would be where it is only foreseen. Raises `NothingToCompact`."""
        means = self._means
        now = replace(draft.entry(), tokens_before=means.sizes().used)
        if is_counted(now):
            now = replace(now, fetched_again=means.fetched_again())
        if draft.plan.summarise_to is not None and not draft.wanted.foreseen:
            await means.set_aside()
        entry = await means.counted(await self._with_files(now, draft, at_work=at_work))
        spared = self._sparing(entry, draft)
        if spared is None or not draft.spares(means.view):
            raise NothingToCompact
        return self._fitted(spared if spared is entry else replace(spared, counts=counts(means.view, spared)))

    async def _with_files(self, entry: Compaction, draft: Draft, *, at_work: bool) -> Compaction:
        """With the files that are read again and with how to go on, where the policy has that."""
        means, options = self._means, draft.policy.restore
        if draft.plan.summarise_to is None or options is None:
            return entry
        after, sizes = means.weigh(entry), means.sizes()
        held = sizes.window * draft.policy.threshold.hold_share
        room = in_room(options, draft.threshold - after, held - after, sizes.calibration.ratio)
        files = await means.files(with_entry(means.view, entry), room)
        return replace(with_resume(entry, draft.policy, means.resume(at_work=at_work)), restored=files)

    def _sparing(self, entry: Compaction, draft: Draft) -> Compaction | None:
        """The entry without what it does to entries that were pinned since it was planned; None where nothing is left to gain."""
        plan, means = draft.plan, self._means
        spared = spare(plan, means.view, counting(means.sizes().calibration))
        if spared is None:
            return None
        if (spared.cleared, spared.snipped, spared.carried) == (plan.cleared, plan.snipped, plan.carried):
            return entry
        now = replace(draft, plan=spared).entry()
        entry = replace(entry, cleared=now.cleared, snipped=now.snipped, summarised=now.summarised)
        return entry if means.weigh(replace(entry, restored=())) < entry.tokens_before else None

    def _fitted(self, entry: Compaction) -> Compaction:
        """Restored files give way, last first, until the compaction makes the context smaller; then its size is set."""
        after = self._means.weigh(entry)
        while entry.restored and after >= entry.tokens_before:
            entry = replace(entry, restored=entry.restored[:-1])
            after = self._means.weigh(entry)
        return replace(entry, estimated_after=after)


def as_stand_in(wanted: Wanted, sizes: Sizes) -> tuple[Wanted, Sizes]:
    """What Ullage's own engine is asked where it stands in for another policy: to compact in any case, by its own threshold at most."""
    asking = wanted if wanted.trigger == "reactive" else replace(wanted, trigger="manual")
    return asking, replace(sizes, threshold=min(sizes.threshold, threshold_of(sizes.window, ULLAGE.threshold)))


def _stand_in_by(policy: Policy, wanted: Wanted, *, must: bool) -> Literal["model", "program"] | None:
    """Who writes the summary where Ullage's own engine stands in for a policy that found nothing to do; None where none stands in.

    A policy that never compacts has no way of its own. So where somebody asks for a compaction, it is made as Ullage's own would be.
    """
    if policy.never and wanted.trigger in ASKED_FOR:
        return "model"
    return "program" if must and policy.has_stand_in else None

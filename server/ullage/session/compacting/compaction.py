"""Making a compaction: plan it, have its summary written (`summary.py`), read files again, log it as one entry.

It is made in two halves. `draft` does what may take long (it may call the model) and changes nothing; `commit` is quick
and appends the entry. Between the two the session may go on: a draft speaks of the log up to where it was made.
A draft or commit that fails has changed nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from ullage.context.blocks import Usage
from ullage.context.compaction.assemble import (
    Draft,
    Forecast,
    NothingToCompact,
    Sizes,
    Wanted,
    Weigh,
    counting,
    entry_of,
    epoch_of,
    fitted,
    planned,
    sparing,
    standing_in,
    with_resume,
)
from ullage.context.compaction.restore import in_room
from ullage.context.compaction_entries import Compaction, Rung
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Logged
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.view.fates import counts
from ullage.context.view.log_places import place_of
from ullage.context.view.request import request_so_far
from ullage.models.model import Model, ModelCard
from ullage.session.compacting.failures import discard, spend_in_vain, spent_on
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.compacting.restoring import Restoring
from ullage.session.compacting.summary import SummaryWriter, possible
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.surroundings import Surroundings
from ullage.store.plain_files import write_transcript


class Compactor:
    """Makes the compactions of one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, policy: PolicyInUse, restoring: Restoring) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._restoring = restoring
        self._writer = SummaryWriter(conversation, surroundings, policy, restoring)
        self.ahead = self._writer.ahead

    async def draft(
        self, wanted: Wanted, model: Model, card: ModelCard, threshold: int, planned: Callable[[Draft], None] | None = None
    ) -> Draft:
        """Plans a compaction and has its summary written. Raises `NothingToCompact` and `PolicyFailed`.

        The session may go on meanwhile: what the draft is made of is taken at once, all of it. `planned` is told of it before its summary
        is written.
        """
        draft = await self._drafted(wanted, self._policy.policy, model, card, threshold, planned)
        self._policy.succeeded()
        return draft

    async def upkeep(self, wanted: Wanted, card: ModelCard, threshold: int) -> Draft:
        """What the policy does before every call. Raises `NothingToCompact` and `PolicyFailed`."""
        draft = await self._planned(wanted, self._policy.policy, card, threshold)
        self._policy.succeeded()
        return draft

    async def stand_in(
        self, wanted: Wanted, card: ModelCard, threshold: int, *, why: str = "", usage: Usage | None = None, model: Model | None = None
    ) -> Draft:
        """The same by Ullage's own engine, where the policy in force does not serve (`why`, for the user). Raises `NothingToCompact`.

        With a summary in any case, by the program where no `model` is given. `usage` is what was spent in vain before.
        """
        try:
            return await self._stood_in(wanted, card, threshold, why, usage, model)
        except BaseException:
            spend_in_vain(self._conversation, usage, spent_on(card, usage))
            raise

    async def _stood_in(self, wanted: Wanted, card: ModelCard, threshold: int, why: str, usage: Usage | None, model: Model | None) -> Draft:
        asking, sizes = standing_in(wanted, self._sizes(card, threshold))
        threshold = sizes.threshold
        if model is not None:
            draft = await self._drafted(asking, ULLAGE, model, card, threshold)
        else:
            draft = await self._planned(asking, ULLAGE, card, threshold)
            if draft.plan.summarise_to is not None:
                draft = await self._writer.by_program(draft, (), self._surroundings.calibration(card))
        skipped = (why, *draft.skipped) if why else draft.skipped
        spent = draft.usage + usage if draft.usage and usage else draft.usage or usage
        return replace(draft, wanted=wanted, skipped=skipped, usage=spent, cost=spent_on(card, spent))

    async def _drafted(
        self, wanted: Wanted, policy: Policy, model: Model, card: ModelCard, threshold: int, planned: Callable[[Draft], None] | None = None
    ) -> Draft:
        if not self._conversation.projection.messages:
            raise NothingToCompact
        projection = self._conversation.projection
        request, entries = request_so_far(projection), projection.entries[:]
        empty = await self._planned(wanted, policy, card, threshold)
        if planned is not None:
            planned(empty)
        if empty.plan.summarise_to is None:
            return empty
        return await self._writer.with_summary(empty, request, entries, model, card, self._surroundings.calibration(card))

    async def forecast(
        self, wanted: Wanted, card: ModelCard, threshold: int, prepared: Draft | None = None, in_work: Draft | None = None
    ) -> Forecast:
        """What a compaction would do now: `prepared` is the draft that it would take, `in_work` the one that it would wait for, as planned.

        Changes nothing and calls no model.

        Raises `NothingToCompact`.
        """
        wanted = replace(wanted, foreseen=True)
        if prepared is not None:
            return await self._foretold(prepared.as_wanted(wanted), prepared.rung, card)
        try:
            if in_work is not None:
                draft, rung = await self._as_if_written(in_work.as_wanted(wanted), card)
            else:
                draft, rung = await self._foreseen(wanted, self._policy.policy, card, threshold)
        except PolicyFailed as failure:
            draft = await self.stand_in(wanted, card, threshold, why=str(failure))
            rung = draft.rung
        except NothingToCompact:
            if not self._policy.policy.never:
                raise
            draft, rung = await self._foreseen(wanted, ULLAGE, card, standing_in(wanted, self._sizes(card, threshold))[1].threshold)
        return await self._foretold(draft, rung, card)

    async def _foretold(self, draft: Draft, rung: Rung, card: ModelCard) -> Forecast:
        calibration = self._surroundings.calibration(card)
        now = replace(entry_of(draft), tokens_before=self._conversation.counted(calibration).used)
        entry = await self._counted(await self._with_restored(now, draft, card, at_work=False), calibration)
        entry = self._sparing(entry, draft, calibration)
        return Forecast(fitted(entry, self._weigh(calibration)), rung)

    async def _foreseen(self, wanted: Wanted, policy: Policy, card: ModelCard, threshold: int) -> tuple[Draft, Rung]:
        """The draft by that policy, as the program would write it, and the way that would be tried first."""
        return await self._as_if_written(await self._planned(wanted, policy, card, threshold), card)

    async def _as_if_written(self, draft: Draft, card: ModelCard) -> tuple[Draft, Rung]:
        if draft.plan.summarise_to is None:
            return draft, draft.rung
        calibration, asks = self._surroundings.calibration(card), draft.plan.asked is not None
        entries = self._conversation.entries
        planned_for = entries[: place_of(entries, draft.plan.through + 1)]  # a draft in work was planned before the last of them
        cut = await possible(draft.plan, planned_for, calibration) if asks and self._writer.may_ask_api(draft, card) else None
        if cut is not None:
            return await self._writer.by_program(replace(draft, plan=cut[0]), [], calibration), "api"
        draft = await self._writer.by_program(draft, [], calibration)
        return draft, "model" if asks and self._writer.may_ask_model(draft, card, []) else draft.rung

    async def _planned(self, wanted: Wanted, policy: Policy, card: ModelCard, threshold: int) -> Draft:
        """A draft without its summary. Raises `NothingToCompact` and `PolicyFailed`."""
        projection = self._conversation.projection
        if not projection.messages:
            raise NothingToCompact
        sizes, view = self._sizes(card, threshold), projection.copy()
        # In another thread: for a long log planning takes a second, and nobody's typing may wait for it.
        draft = await self._policy.ask(policy, lambda: planned(policy, view, wanted, sizes), counts=not wanted.foreseen)
        if draft is None:
            raise NothingToCompact
        return draft

    def _sizes(self, card: ModelCard, threshold: int) -> Sizes:
        calibration = self._surroundings.calibration(card)
        return Sizes(self._conversation.counted(calibration).used, threshold, card.window, calibration)

    def still_fits(self, draft: Draft) -> bool:
        """Whether the draft speaks of the policy and the epoch in force."""
        projection = self._conversation.projection
        if draft.summary.block is not None and (draft.key != projection.key or not self.spares(draft)):
            return False
        in_force = draft.policy is self._policy.policy or not draft.policy.has_stand_in
        return in_force and draft.epoch == epoch_of(projection)

    def spares(self, draft: Draft) -> bool:
        """Whether the draft leaves alone all that is pinned by now. One with a text of its own is put right when it is committed."""
        if draft.summary.block is None or draft.plan.summarise_to is None:
            return True
        projection = self._conversation.projection
        pinned = projection.pinned_entries
        return draft.plan.summarise_to < min(pinned, default=draft.plan.summarise_to + 1)

    async def commit(self, draft: Draft, card: ModelCard, *, at_work: bool) -> Compaction:
        """Reads files again and logs the compaction. Raises `StoreFailed` and `NothingToCompact`, and has then changed nothing.

        Whichever it is, the draft is used up: what it cost counts. Once it is logged the compaction is in force, and nothing is raised.
        """
        try:
            entry = await self._completed(draft, card, at_work=at_work)
            self._conversation.append(entry)
        except BaseException:
            discard(self._conversation, draft)
            raise
        with in_any_case("what the agent has seen of files is as before the compaction"):
            self._restoring.after(entry)
        return entry

    async def _completed(self, draft: Draft, card: ModelCard, *, at_work: bool) -> Compaction:
        """The entry of the draft as it is logged; its messages are written down by then."""
        calibration = self._surroundings.calibration(card)
        entry = replace(entry_of(draft), tokens_before=self._conversation.counted(calibration).used)
        projection = self._conversation.projection
        if draft.plan.summarise_to is not None:
            await asyncio.to_thread(
                write_transcript,
                self._surroundings.store_folder,
                self._conversation.session_id,
                1 + len(projection.active) + len(projection.undone),  # no epoch writes over the transcript of one that was undone
                projection.messages,
            )
        entry = await self._counted(await self._with_restored(entry, draft, card, at_work=at_work), calibration)
        return fitted(self._sparing(entry, draft, calibration), self._weigh(calibration))

    async def _counted(self, entry: Compaction, calibration: Calibration) -> Compaction:
        """With how many messages it takes out of view; in another thread, since all that is in view is looked at. Where no summary takes
        the place of most of it, what it leaves is folded and counted there, too, and what follows finds that done."""
        view = self._conversation.projection.copy()
        if entry.summarised is None:
            await self._conversation.foresee(entry, calibration)
        return replace(entry, counts=await asyncio.to_thread(counts, view, entry))

    async def _with_restored(self, entry: Compaction, draft: Draft, card: ModelCard, *, at_work: bool) -> Compaction:
        options, calibration = draft.policy.restore, self._surroundings.calibration(card)
        if draft.plan.summarise_to is None or options is None:
            return entry
        logged = Logged(self._conversation.entries[-1].seq + 1, 0.0, entry)
        after = self._writer.tokens_after(entry, calibration)
        room = in_room(options, draft.threshold - after, card.window * draft.policy.threshold.hold_share - after, calibration.ratio)
        restored = await self._restoring.files(self._conversation.projection.with_appended(logged), room)
        return replace(with_resume(entry, draft.policy, self._restoring.resume(at_work=at_work)), restored=restored)

    def _sparing(self, entry: Compaction, draft: Draft, calibration: Calibration) -> Compaction:
        """The entry without what it does to entries that were pinned since it was planned. Raises `NothingToCompact`."""
        view = self._conversation.projection
        made = sparing(entry, draft, view, counting(calibration), self._weigh(calibration))
        if made is None or not self.spares(draft):
            raise NothingToCompact
        return made if made is entry else replace(made, counts=counts(view, made))

    def _weigh(self, calibration: Calibration) -> Weigh:
        return lambda entry: self._writer.tokens_after(entry, calibration)

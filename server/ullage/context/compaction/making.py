"""The making of a compaction, from the decision to the entry: one course, live and in replay.

A draft is taken that was made ahead (`ahead.py`), or one is made now (`drafting.py`). Then files are read again, and the entry is logged.
Until then nothing has changed.

What has to be done around that is given as `Means`. Live these ask the model and read files. In replay something stands in for them, and
nothing waits. Whether to compact is decided in `decide.py`.
"""

from __future__ import annotations

from dataclasses import replace

from ullage.context.compaction.ahead import DraftingAhead
from ullage.context.compaction.decide import Compact
from ullage.context.compaction.draft import Draft, NothingToCompact, Wanted, counting, with_entry, with_resume
from ullage.context.compaction.drafting import Drafting
from ullage.context.compaction.forgotten import is_counted
from ullage.context.compaction.gathering import Gathering, newest_seq
from ullage.context.compaction.means import Means
from ullage.context.compaction.proof import Proof, completed, prove
from ullage.context.compaction.restore import in_room
from ullage.context.compaction_entries import Compaction
from ullage.context.moves.plan import spare
from ullage.context.view.fates import counts


class Making:
    """Makes the compactions of one log."""

    def __init__(self, means: Means, gathering: Gathering) -> None:
        self._means = means
        self._gathering = gathering
        self.drafting = Drafting(means)
        self.ahead = DraftingAhead(means, gathering, self.drafting)

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
                draft = await self._taken(wanted) or await self.drafting.draft(wanted, must=must)
                if not draft.spares(self._means.view):  # something was pinned while it was written
                    self.ahead.discard(draft)
                    draft = await self.drafting.draft(wanted, must=must)
                if wanted.trigger == "economy" and not self.ahead.leaves_newest_turn(draft):
                    self.ahead.discard(draft)
                    raise NothingToCompact
                return await self._commit(draft.as_wanted(wanted), at_work=at_work)
        except BaseException as error:
            self._means.not_made(wanted, error)
            if not isinstance(error, Exception):
                raise
            return None

    async def _taken(self, wanted: Wanted) -> Draft | None:
        """The draft that was made ahead, unless the work has gone on to what it does not hold; None where one has to be made.

        Raises `NothingToCompact` where that can wait: a compaction that is to save, or while the user edits. It is prepared anew then.
        """
        draft = await self.ahead.take_for(wanted)
        if draft is None or not _is_proved(draft):
            return draft
        try:
            proof = await self._proof(draft.entry(), draft)
        except BaseException:
            self.ahead.discard(draft)
            raise
        if proof is None or not proof.lacks_much:
            return draft
        self.ahead.discard(draft)
        if wanted.trigger in ("economy", "idle"):
            raise NothingToCompact
        return None

    async def keep_up(self) -> Compaction | None:
        """What the policy does before every call; None where that is nothing."""
        means = self._means
        wanted = Wanted(means.new_id(), "upkeep")
        try:
            draft = await self.drafting.plan(wanted, means.policy, means.sizes())
            means.engine_served()
            return await self._commit(draft, at_work=True)
        except Exception as error:  # noqa: BLE001 - it is told, or raised again, by whoever is told
            means.not_made(wanted, error)
            return None

    # The commit

    async def _commit(self, draft: Draft, *, at_work: bool) -> Compaction:
        """Reads files again and logs the compaction. Whatever is raised, nothing has changed, and what the draft cost counts."""
        try:
            entry = await self.completed(draft, at_work=at_work)
            self._means.commit(draft, entry)
        except BaseException:
            self.ahead.discard(draft)
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
        fitted = self._fitted(spared if spared is entry else replace(spared, counts=counts(means.view, spared)))
        return await self._proved(fitted, draft) if _is_proved(draft) else fitted

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

    async def _proved(self, entry: Compaction, draft: Draft) -> Compaction:
        """With what the newest messages needed and the entry lacks. Restored files give way to that, too. Raises `NothingToCompact`."""
        while True:
            proof = await self._proof(entry, draft)
            if proof is None:
                return entry
            proved = completed(entry, proof)
            after = self._means.weigh(proved)
            if after < entry.tokens_before or not proof.missing:
                return replace(proved, estimated_after=after)
            if not entry.restored:
                raise NothingToCompact
            entry = replace(entry, restored=entry.restored[:-1])

    async def _proof(self, entry: Compaction, draft: Draft) -> Proof | None:
        """None where an error kept it from being found: the compaction is then made unproved, and its card says nothing of a check."""
        view = self._means.view.copy()
        try:
            return await self._means.ask_engine(draft.policy, lambda: prove(view, entry), counts=False)
        except Exception as error:  # noqa: BLE001 - it is told; a check that fails is no reason to fill the window
            self._means.not_proved(error)
            return None


def _is_proved(draft: Draft) -> bool:
    return draft.policy.proves and draft.plan.summarise_to is not None and not draft.plan.summarise_from

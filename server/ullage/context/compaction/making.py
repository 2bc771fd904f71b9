"""The making of a compaction, from the decision to the entry: one course, live and in replay.

A draft is taken that was made ahead (`DraftingAhead`), or one is made now (`drafting.py`). Then files are read again, and the entry is
logged. Until then nothing has changed. `forecast` goes the same way without logging anything, to show what would be done.

What has to be done around that is given as `Means`. Live these ask the model and read files. In replay something stands in for them, and
nothing waits. `decide.py` decides whether to compact.
"""

from __future__ import annotations

from dataclasses import replace

from ullage.context.compaction.api_summary import for_the_api
from ullage.context.compaction.decide import Compact, Decision, Prepare
from ullage.context.compaction.draft import (
    Draft,
    Forecast,
    NothingToCompact,
    NotWanted,
    PolicyFailed,
    WantedCompaction,
    counting,
    epoch_of,
    with_entry,
    with_resume,
)
from ullage.context.compaction.drafting import Drafting, as_stand_in
from ullage.context.compaction.forgotten import is_counted
from ullage.context.compaction.gathering import Gathering, newest_seq
from ullage.context.compaction.means import Means
from ullage.context.compaction.proof import Proof, prove, with_proof
from ullage.context.compaction.restore import in_room
from ullage.context.compaction.seen import in_view
from ullage.context.compaction_entries import Compaction, Rung
from ullage.context.counting.tokens import estimate_text
from ullage.context.moves.cuts import newest_turn
from ullage.context.moves.plan import leaves_alone, spare
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.summary.nearby import nearby_text
from ullage.context.view.fates import counts
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection


class Making:
    """Makes the compactions of one log, from the decision to the entry."""

    def __init__(self, means: Means, gathering: Gathering) -> None:
        self._means = means
        self._gathering = gathering
        self.drafting = Drafting(means)
        self._not_wanted = ""
        """The id of the newest compaction to which a hook objected."""
        self.ahead = DraftingAhead(means, gathering, self.drafting)

    # The course

    async def carry_out(self, decided: Compact, *, at_work: bool) -> Compaction | None:
        """Makes a compaction that was decided, and those that some policies make right after it; gives the last. None if none was made."""
        means = self._means
        wanted = WantedCompaction(means.new_id(), decided.trigger, by_program=decided.by_program, saves=decided.saves)
        made = await self.attempt(wanted, at_work=at_work, must=decided.must)
        if made is not None and decided.trigger == "threshold":
            made = await self._sweep(made, at_work=at_work)
        told = made is None and means.telling.was_told(wanted)
        full, seq = means.fullness(), newest_seq(means.view.entries)
        if made is None and self._not_wanted == wanted.id:  # no failure: a compaction that cannot wait may still be tried
            self._gathering.gave_nothing(seq)
            return None
        self._gathering.tried(decided, means.policy, full, seq, means.now(), made=made is not None, told=told)
        return made

    async def _sweep(self, made: Compaction, *, at_work: bool) -> Compaction:
        """Makes the compactions that some policies make right after `made`, one after the other; gives the last."""
        for _ in range(1, self._means.policy.engine.sweeps):
            more = await self.attempt(WantedCompaction(self._means.new_id(), "threshold"), at_work=at_work)
            if more is None:
                break
            made = more
        return made

    async def attempt(self, wanted: WantedCompaction, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction; gives its entry. If it comes to nothing, nothing has changed, the reason is told, and None is given."""
        try:
            with self._means.telling.being_made(wanted):
                objection = await self._means.objection(wanted)
                if objection:
                    self._not_wanted = wanted.id
                    raise NotWanted(objection)
                draft = await self._taken(wanted) or await self.drafting.draft(wanted, must=must)
                if not draft.spares(self._means.view):  # something was pinned while the summary was written
                    self.ahead.discard(draft)
                    draft = await self.drafting.draft(wanted, must=must)
                if wanted.trigger == "economy" and not self.ahead.leaves_newest_turn(draft):
                    self.ahead.discard(draft)
                    raise NothingToCompact
                made = await self._commit(draft.as_wanted(wanted), at_work=at_work)
            await self._means.in_force(made)
            return made
        except BaseException as error:
            self._means.telling.not_made(wanted, error)
            if not isinstance(error, Exception):
                raise
            return None

    async def _taken(self, wanted: WantedCompaction) -> Draft | None:
        """The draft that was made ahead; None if there is none that serves, or the work has gone on to what it does not hold.

        In the second case `NothingToCompact` is raised if the compaction can wait (to save, while the user edits). It is prepared anew
        then.
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
        """Makes the compaction that the policy makes before every call; None if it has nothing to do."""
        means = self._means
        wanted = WantedCompaction(means.new_id(), "upkeep")
        try:
            draft = await self.drafting.plan(wanted, means.policy, means.sizes())
            means.engine_served()
            return await self._commit(draft, at_work=True)
        except Exception as error:  # noqa: BLE001 - it is told, or raised again, by whoever is told
            means.telling.not_made(wanted, error)
            return None

    # The commit

    async def _commit(self, draft: Draft, *, at_work: bool) -> Compaction:
        """Reads files again and logs the compaction. If anything is raised, nothing has changed, and what the draft cost is counted."""
        try:
            entry = await self.completed(draft, at_work=at_work)
            self._means.commit(draft, entry)
        except BaseException:
            self.ahead.discard(draft)
            raise
        return entry

    async def completed(self, draft: Draft, *, at_work: bool) -> Compaction:
        """The entry of the draft as it is logged, or would be if it is only foreseen. Raises `NothingToCompact`."""
        means = self._means
        now = replace(draft.entry(), tokens_before=means.sizes().used)
        if is_counted(now):
            now = replace(now, fetched_again=means.fetched_again())
        if draft.plan.summarise_to is not None and not draft.wanted.foreseen:
            await means.set_aside()
        entry = await means.with_counts(await self._with_files(now, draft, at_work=at_work))
        spared = self._sparing(entry, draft)
        if spared is None or not draft.spares(means.view):
            raise NothingToCompact
        fitted = self._fitted(spared if spared is entry else replace(spared, counts=counts(means.view, spared)))
        return await self._proved(fitted, draft) if _is_proved(draft) else fitted

    async def _with_files(self, entry: Compaction, draft: Draft, *, at_work: bool) -> Compaction:
        """The entry with the files that are read again and the text of how to go on, where the policy has these."""
        means, options = self._means, draft.policy.restore
        if draft.plan.summarise_to is None or options is None:
            return entry
        after, sizes = means.weigh(entry), means.sizes()
        held = sizes.window * draft.policy.threshold.hold_share
        room = in_room(options, draft.threshold - after, held - after, sizes.calibration.ratio)
        names = estimate_text(await self._nearby(entry, draft, int(room.total_tokens * options.nearby_share)))
        files = await means.files(with_entry(means.view, entry), replace(room, total_tokens=room.total_tokens - names))
        entry = replace(with_resume(entry, draft.policy, means.resume(at_work=at_work)), restored=files)
        return replace(entry, nearby=await self._nearby(entry, draft, names))

    async def _nearby(self, entry: Compaction, draft: Draft, tokens: int) -> str:
        """What the model is told of files that are not read again, in at most `tokens` tokens, as far as the view with the entry lacks
        it."""
        files = draft.summary.nearby
        if not tokens or not files:
            return ""
        after = with_entry(self._means.view.copy(), entry)
        return await self._means.ask_engine(draft.policy, lambda: nearby_text(files, in_view(after), tokens), counts=False)

    def _sparing(self, entry: Compaction, draft: Draft) -> Compaction | None:
        """The entry without what it does to entries that were pinned since it was planned; None if nothing is left to gain."""
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
        """The entry with its size, and with less put back where that is needed to make the context smaller, the last restored file
        first."""
        after = self._means.weigh(entry)
        while (entry.restored or entry.nearby) and after >= entry.tokens_before:
            entry = _with_less(entry)
            after = self._means.weigh(entry)
        return replace(entry, estimated_after=after)

    async def _proved(self, entry: Compaction, draft: Draft) -> Compaction:
        """The entry with what the newest messages needed and it lacked. Restored files give way to that, too. Raises `NothingToCompact`."""
        while True:
            proof = await self._proof(entry, draft)
            if proof is None:
                return entry
            proved = with_proof(entry, proof)
            after = self._means.weigh(proved)
            if after < entry.tokens_before or not proof.missing:
                return replace(proved, estimated_after=after)
            if not entry.restored and not entry.nearby:
                raise NothingToCompact
            entry = _with_less(entry)

    async def _proof(self, entry: Compaction, draft: Draft) -> Proof | None:
        """The proof of the entry; None if an error kept it from being found. Then it is made unproved, and its card tells of no check."""
        view = self._means.view.copy()
        try:
            return await self._means.ask_engine(draft.policy, lambda: prove(view, entry), counts=False)
        except Exception as error:  # noqa: BLE001 - it is told; a check that fails is no reason to fill the window
            self._means.telling.not_proved(error)
            return None


class DraftingAhead:
    """Makes the drafts of one log that are made ahead, in the background, so that nobody waits for their summaries.

    Such a draft speaks of the log up to where it was planned. What comes after stays beside its summary. The session goes on meanwhile:
    another policy or another epoch makes it useless. There is one at most; `Means.slot` keeps it.
    """

    def __init__(self, means: Means, gathering: Gathering, drafting: Drafting) -> None:
        self._means = means
        self._gathering = gathering
        self._drafting = drafting
        self._without_summary: Draft | None = None
        """The draft that was begun last, as it was planned; None until its plan is made."""
        self._begun_by: Policy | None = None

    # Drafts that are begun, and given up

    def prepare_if(self, decision: Decision) -> None:
        """Begins a draft if that was decided and none is in work or ready that serves."""
        if not isinstance(decision, Prepare):
            return
        begun = self._means.slot.begun
        if decision.trigger == "economy":
            begun = begun and not self.ready()  # one that is ready does not serve, else none would be prepared
        if not begun:
            self.give_up()
            self._without_summary, self._begun_by = None, self._means.policy
            self._means.slot.start(self._draft(WantedCompaction(self._means.new_id(), decision.trigger)))

    async def _draft(self, wanted: WantedCompaction) -> Draft:
        means = self._means
        seq = newest_seq(means.view.entries)
        asking = means.asking()
        try:
            return await self._drafting.by_policy(wanted, asking, self._plan_is_made)
        except Exception as error:
            self._gathering.gave_nothing(seq)  # the same log would fail again
            if isinstance(error, PolicyFailed):
                means.spent_in_vain(error.usage, asking.cost(error.usage))
            raise

    def _plan_is_made(self, draft: Draft) -> None:
        self._without_summary = draft

    def settings_changed(self) -> None:
        """Gives up a draft that was begun under another policy: it serves nobody."""
        if self._begun_by is not self._means.policy:
            self.give_up()

    def give_up(self) -> None:
        """Ends a draft that is in work, and throws away one that is ready."""
        draft = self._means.slot.drop()
        if draft is not None:
            self.discard(draft)

    def discard(self, draft: Draft) -> None:
        """Counts what a draft cost that will not be used, whether it was made ahead or not."""
        self._means.spent_in_vain(draft.usage, draft.cost)

    # Drafts that are looked at

    def ready(self) -> bool:
        """Whether a draft is ready and still fits the policy and the epoch in force. One that does not is given up."""
        outcome = self._means.slot.outcome()
        if isinstance(outcome, Draft) and self._still_fits(outcome):
            return True
        if outcome is not None:
            self.give_up()
        return False

    def is_prepared_to_save(self) -> bool:
        """Whether a draft is ready that leaves the newest turn alone."""
        draft = self._look()
        return draft is not None and self.leaves_newest_turn(draft)

    def leaves_newest_turn(self, draft: Draft) -> bool:
        """Whether a draft, made ahead or not, leaves the newest turn alone."""
        return leaves_alone(draft.plan, newest_turn(self._means.view))

    def prepared(self, wanted: WantedCompaction) -> Draft | None:
        """The ready draft that would serve that compaction; None if there is none. It stays where it is kept."""
        draft = None if wanted.focus else self._look()
        return draft if draft is not None and draft.is_of_use else None

    def in_work(self, wanted: WantedCompaction) -> Draft | None:
        """The draft in work that would be waited for, without its summary; None if none is in work, is planned yet and would serve."""
        draft = self._without_summary
        if wanted.focus or draft is None or not self._means.slot.begun or not self._still_fits(draft):
            return None
        return draft if draft.is_of_use else None

    # Drafts that are taken

    async def take_for(self, wanted: WantedCompaction) -> Draft | None:
        """The draft that serves that compaction, taken out of where it is kept; one in work is waited for. None if there is none."""
        if wanted.trigger == "reactive" or wanted.focus or wanted.by_program:
            return None
        if wanted.trigger == "economy" and not self.is_prepared_to_save():
            return None
        draft = await self._means.slot.take()
        if draft is not None and not self._still_fits(draft):
            self.discard(draft)
            return None
        return draft if draft is not None and draft.is_of_use else None

    def _look(self) -> Draft | None:
        outcome = self._means.slot.outcome()
        return outcome if self.ready() and isinstance(outcome, Draft) else None

    def _still_fits(self, draft: Draft) -> bool:
        """Whether the draft was made under the policy and the epoch in force."""
        view = self._means.view
        if draft.summary.block is not None and (draft.key != view.key or not draft.spares(view)):
            return False
        is_in_force = draft.policy is self._means.policy or not draft.policy.has_stand_in
        return is_in_force and draft.epoch == epoch_of(view)


async def forecast(making: Making, means: Means, wanted: WantedCompaction) -> Forecast:
    """What a compaction would do now. Nothing changes, and no model is asked: the program writes what a model would have a part in.

    By the draft that is ready, by the plan of the one that would be waited for, or by a new draft. Raises `NothingToCompact`."""
    wanted = replace(wanted, foreseen=True)
    prepared = making.ahead.prepared(wanted)
    if prepared is not None:
        return Forecast(await making.completed(prepared.as_wanted(wanted), at_work=False), prepared.rung, is_written=True)
    in_work = making.ahead.in_work(wanted)
    try:
        planned = in_work.as_wanted(wanted) if in_work is not None else await making.drafting.plan(wanted, means.policy, means.sizes())
        draft, rung = await _as_if_written(making, means, planned)
    except PolicyFailed as failure:
        draft = await making.drafting.by_stand_in(wanted, means.asking(), why=str(failure))
        rung = draft.rung
    except NothingToCompact:
        if not means.policy.never:
            raise
        planned = await making.drafting.plan(wanted, ULLAGE, as_stand_in(wanted, means.sizes())[1])
        draft, rung = await _as_if_written(making, means, planned)
    return Forecast(await making.completed(draft, at_work=False), rung)


async def _as_if_written(making: Making, means: Means, draft: Draft) -> tuple[Draft, Rung]:
    """The draft with a summary by the program, and the way to write it that would be tried first."""
    if draft.plan.summarise_to is None:
        return draft, draft.rung
    window, asks = means.sizes().window, draft.plan.asked is not None
    if asks and making.drafting.may_ask_api(draft, window) and (by_api := await _for_the_api(means, draft)) is not None:
        return await making.drafting.by_program(by_api), "api"
    written = await making.drafting.by_program(draft)
    return written, "model" if asks and making.drafting.may_ask_model(draft, window, []) else written.rung


async def _for_the_api(means: Means, draft: Draft) -> Draft | None:
    entries, count = means.view.entries, counting(means.sizes().calibration)
    planned_for = entries[: place_of(entries, draft.plan.through + 1)]  # one in work was planned before the last of them
    possible = await means.ask_engine(ULLAGE, lambda: for_the_api(draft.plan, Projection(planned_for), count), counts=False)
    return None if possible is None else replace(draft, plan=possible[0])


def _is_proved(draft: Draft) -> bool:
    return draft.policy.proves and draft.plan.summarise_to is not None and not draft.plan.summarise_from


def _with_less(entry: Compaction) -> Compaction:
    """The entry without the last of what was put back: the names of files first, then the file that is the least likely to be needed."""
    return replace(entry, nearby="") if entry.nearby else replace(entry, restored=entry.restored[:-1])

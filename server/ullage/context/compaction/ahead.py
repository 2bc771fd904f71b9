"""A draft that is made ahead, in the background, so that nobody waits for its summary: when one is begun, and whether it still serves.

It speaks of the log up to where it was planned. What comes after stays beside its summary. The session goes on meanwhile: another policy or
another epoch makes it useless. There is one at most; `Means.ahead` keeps it.
"""

from __future__ import annotations

from ullage.context.compaction.decide import Decision, Prepare
from ullage.context.compaction.draft import Draft, PolicyFailed, Wanted, epoch_of
from ullage.context.compaction.drafting import Drafting
from ullage.context.compaction.gathering import Gathering, newest_seq
from ullage.context.compaction.means import Means
from ullage.context.moves.cuts import newest_turn
from ullage.context.moves.plan import leaves_alone
from ullage.context.policy import Policy


class DraftingAhead:
    """Makes the drafts of one log that are made ahead."""

    def __init__(self, means: Means, gathering: Gathering, drafting: Drafting) -> None:
        self._means = means
        self._gathering = gathering
        self._drafting = drafting
        self._without_summary: Draft | None = None
        """The one that was begun last, once its plan is made."""
        self._begun_by: Policy | None = None

    # Begun, and given up

    def prepare_if(self, decision: Decision) -> None:
        """Begins one where that was decided, unless one is in work or serves already."""
        if not isinstance(decision, Prepare):
            return
        begun = self._means.ahead.begun
        if decision.trigger == "economy":
            begun = begun and not self.ready()  # one that is ready does not serve, else none would be prepared
        if not begun:
            self.give_up()
            self._without_summary, self._begun_by = None, self._means.policy
            self._means.ahead.start(self._draft(Wanted(self._means.new_id(), decision.trigger)))

    async def _draft(self, wanted: Wanted) -> Draft:
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
        """Another policy may be in force: what is made under the old one serves nobody."""
        if self._begun_by is not self._means.policy:
            self.give_up()

    def give_up(self) -> None:
        """It serves no more: ends what is in work, and throws away what is ready."""
        draft = self._means.ahead.drop()
        if draft is not None:
            self.discard(draft)

    def discard(self, draft: Draft) -> None:
        """A draft, made ahead or not, will not be used."""
        self._means.spent_in_vain(draft.usage, draft.cost)

    # Looked at

    def ready(self) -> bool:
        """Whether one is ready and still speaks of what is in force. One that does not is given up."""
        outcome = self._means.ahead.outcome()
        if isinstance(outcome, Draft) and self._still_fits(outcome):
            return True
        if outcome is not None:
            self.give_up()
        return False

    def is_prepared_to_save(self) -> bool:
        """Whether one is ready that leaves the newest turn alone."""
        draft = self._look()
        return draft is not None and self.leaves_newest_turn(draft)

    def leaves_newest_turn(self, draft: Draft) -> bool:
        """Whether a draft, made ahead or not, leaves it alone."""
        return leaves_alone(draft.plan, newest_turn(self._means.view))

    def prepared(self, wanted: Wanted) -> Draft | None:
        """The one that is ready and would serve; it stays where it is."""
        draft = None if wanted.focus else self._look()
        return draft if draft is not None and draft.is_of_use else None

    def in_work(self, wanted: Wanted) -> Draft | None:
        """The one that would be waited for, without its summary; None where none is in work, is planned yet or would serve."""
        draft = self._without_summary
        if wanted.focus or draft is None or not self._means.ahead.begun or not self._still_fits(draft):
            return None
        return draft if draft.is_of_use else None

    # Taken

    async def take_for(self, wanted: Wanted) -> Draft | None:
        """The one that serves, waited for where it is in work, and not kept; None where there is none."""
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
        is_in_force = draft.policy is self._means.policy or not draft.policy.has_stand_in
        return is_in_force and draft.epoch == epoch_of(view)

"""Making one compaction, from a draft up to the entry in the log. The timeline shows how it goes, and why one did not come about.

A draft may be prepared in the background, so that nobody waits for its summary when the threshold is reached. Else it is written now.
Whether to make a compaction is decided in `controller.py`. Drafting and logging are done in `compaction.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager

from ullage.context.compaction.assemble import Draft, NothingToCompact, Wanted, is_of_use, stand_in_by
from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.gathering import newest_seq
from ullage.context.compaction_entries import ASKED_FOR, Compaction, CompactionFailed, Trigger
from ullage.context.moves.cuts import newest_turn
from ullage.context.moves.plan import leaves_alone
from ullage.session.compacting.compaction import Compactor
from ullage.session.compacting.failures import discard, spend_in_vain, spent_on
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.errors import in_ullage_itself
from ullage.session.models_in_use import ModelInUse
from ullage.session.timeline.items import CompactionItem, CompactionStatus, new_id
from ullage.session.timeline.shown_entries import compaction_item
from ullage.store.errors import StoreFailed

logger = logging.getLogger(__name__)

NOTHING_TO_COMPACT = "There is nothing to compact: a summary would not be shorter than the conversation"


class Preparation:
    """At most one draft of one session, in work or ready.

    nothing ──start──► working ──► ready ──take──► nothing
                          └──(failed, or the epoch changed)──► nothing
    """

    def __init__(self, still_fits: Callable[[Draft], bool], discarded: Callable[[Draft], None], done: Callable[[], None]) -> None:
        """`discarded` is told of each draft that was ready and is thrown away; `done` is called when one is ready or has failed."""
        self._told_done = done
        self._still_fits = still_fits
        self._discarded = discarded
        self._task: asyncio.Task[Draft] | None = None
        self._then: Callable[[], None] | None = None

    @property
    def begun(self) -> bool:
        """Whether a draft is in work or ready."""
        return self._task is not None

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins a draft. One in work is given up."""
        self.give_up()
        self._task = asyncio.create_task(work, name="prepare a compaction")
        self._task.add_done_callback(self._done)

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls back once the draft in work is ready or has failed; the last one who asked is called, once."""
        self._then = then

    def _done(self, task: asyncio.Task[Draft]) -> None:
        then, self._then = self._then, None
        if task.cancelled():
            return
        task.exception()  # the user was told where it was raised
        self._told_done()
        if then is not None:
            then()

    def ready(self) -> bool:
        """Whether a draft is ready and still speaks of the epoch in force. One that does not is given up."""
        task = self._task
        if task is None or not task.done():
            return False
        if task.cancelled() or task.exception() is not None or not self._still_fits(task.result()):
            self.give_up()
            return False
        return True

    def look(self) -> Draft | None:
        """The draft that is ready; it stays."""
        return self._task.result() if self._task is not None and self.ready() else None

    async def take(self) -> Draft | None:
        """The draft, waited for where it is in work; None where there is none or it failed."""
        task = self._task
        if task is None:
            return None
        await asyncio.wait({task})
        if self._task is not task:
            return None  # given up meanwhile
        self._task = None
        if task.cancelled() or task.exception() is not None:
            return None  # the caller makes a draft of its own and meets the same trouble where it can be told
        draft = task.result()
        if self._still_fits(draft):
            return draft
        self._discarded(draft)
        return None

    def give_up(self) -> None:
        """Ends what is in work and throws away what is ready."""
        self._then = None
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        if task.done() and not task.cancelled() and task.exception() is None:
            self._discarded(task.result())

    async def close(self) -> None:
        """The same; what was in work has ended when it returns."""
        task = self._task
        self.give_up()
        if task is not None:
            await asyncio.wait({task})


class Attempts:
    """Makes the compactions of one session, with the draft that was prepared where that serves."""

    def __init__(
        self,
        conversation: Conversation,
        policy: PolicyInUse,
        compactor: Compactor,
        model: ModelInUse,
        fullness: Callable[[], Fullness],
        compacting: Callable[[], AbstractContextManager[None]],
        compacted: Callable[[], None],
        prepared: Callable[[], None],
        gave_nothing: Callable[[int], None],
    ) -> None:
        """`compacted` is called once a compaction is in force, `prepared` when a draft is ready or has failed. `gave_nothing` is told where
        nothing could be prepared: the newest entry then."""
        self._conversation = conversation
        self._policy = policy
        self._compactor = compactor
        self._model = model
        self._fullness = fullness
        self._compacting = compacting
        self._compacted = compacted
        self._gave_nothing = gave_nothing
        self._in_work: Draft | None = None
        self._prepared_by = policy.policy
        self.preparation = Preparation(compactor.still_fits, lambda draft: discard(conversation, draft), prepared)

    # Ahead, in the background

    def prepare(self, trigger: Trigger) -> None:
        """Begins to write a summary in the background. One in work is given up."""
        self._prepared_by = self._policy.policy
        self.preparation.start(self._in_background(trigger))

    def settings_changed(self) -> None:
        """Another policy may be in force: what is prepared under the old one serves nobody."""
        if self._prepared_by is not self._policy.policy:
            self.preparation.give_up()

    async def _in_background(self, trigger: Trigger) -> Draft:
        seq, card = newest_seq(self._conversation.entries), self._model.card
        self._in_work = None
        try:
            return await self._draft(Wanted(new_id("c"), trigger), self._take_plan)
        except Exception as error:
            self._gave_nothing(seq)  # the same log would fail again
            if isinstance(error, PolicyFailed):
                spend_in_vain(self._conversation, error.usage, spent_on(card, error.usage))
            if not isinstance(error, NothingToCompact | PolicyFailed):
                logger.warning("a compaction could not be prepared", exc_info=error)
            raise

    def _take_plan(self, draft: Draft) -> None:
        self._in_work = draft

    def prepared_to_save(self) -> Draft | None:
        """The draft that is ready and leaves the newest turn alone."""
        draft = self.preparation.look()
        return draft if draft is not None and leaves_alone(draft.plan, newest_turn(self._conversation.projection)) else None

    async def _prepared_for(self, wanted: Wanted) -> Draft | None:
        """The draft of the background, waited for where it is in work; None where it would not serve or there is none."""
        if wanted.trigger == "reactive" or wanted.focus or wanted.by_program:
            return None
        if wanted.trigger == "economy" and self.prepared_to_save() is None:
            return None
        draft = await self.preparation.take()
        return draft if draft is not None and is_of_use(draft) else None

    def prepared(self, wanted: Wanted) -> Draft | None:
        """The draft that is ready and would serve; it stays where it is."""
        draft = None if wanted.focus else self.preparation.look()
        return draft if draft is not None and is_of_use(draft) else None

    def in_work(self, wanted: Wanted) -> Draft | None:
        """The draft that would be waited for, as it is planned; None where none is in work, its plan is not made yet or would not serve."""
        planned = self._in_work
        if wanted.focus or planned is None or not self.preparation.begun or not self._compactor.still_fits(planned):
            return None
        return planned if is_of_use(planned) else None

    # Now

    async def make(self, wanted: Wanted, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction. One that does not come about has changed nothing; the timeline says why, and None is given."""
        try:
            return await self._made(wanted, at_work=at_work, must=must)
        except NothingToCompact:
            if wanted.trigger in ASKED_FOR:
                self._failed(wanted, NOTHING_TO_COMPACT, cancelled=True)
        except StoreFailed as error:
            self._failed(wanted, str(error))
        except Exception as error:
            logger.error("a compaction failed", exc_info=error)
            self._failed(wanted, f"{in_ullage_itself(error)} Nothing was changed.")
        return None

    async def _made(self, wanted: Wanted, *, at_work: bool, must: bool) -> Compaction:
        self._show(wanted, "in_progress")
        with self._compacting():
            try:
                draft = await self._prepared_for(wanted) or await self._draft_or_stand_in(wanted, must=must)
                if wanted.trigger == "economy" and not leaves_alone(draft.plan, newest_turn(self._conversation.projection)):
                    discard(self._conversation, draft)
                    raise NothingToCompact
                if not self._compactor.spares(draft):  # something was pinned while it was written
                    discard(self._conversation, draft)
                    draft = await self._draft_or_stand_in(wanted, must=must)
                made = await self._compactor.commit(draft.as_wanted(wanted), self._model.card, at_work=at_work)
            except asyncio.CancelledError:
                self._failed(wanted, "", cancelled=True)
                raise
            except BaseException:
                self._conversation.timeline.remove(wanted.id)
                raise
            self._show_made(made)
            self._begin_epoch()
            return made

    def _draft(self, wanted: Wanted, planned: Callable[[Draft], None] | None = None) -> Coroutine[None, None, Draft]:
        return self._compactor.draft(wanted, self._model.model, self._model.card, self._fullness().threshold, planned)

    async def _draft_or_stand_in(self, wanted: Wanted, *, must: bool) -> Draft:
        """A draft by the policy in force. Where its engine fails, or has nothing to do though something `must` be done, by Ullage's own."""
        policy, card = self._policy.policy, self._model.card
        threshold = self._fullness().threshold
        try:
            return await self._draft(wanted)
        except PolicyFailed as failure:
            return await self._compactor.stand_in(wanted, card, threshold, why=str(failure), usage=failure.usage)
        except NothingToCompact:
            by = stand_in_by(policy, wanted, must=must)
            if by is None:
                raise
            if by == "model":
                return await self._compactor.stand_in(wanted, card, threshold, model=self._model.model)
            return await self._compactor.stand_in(wanted, card, threshold, why=f"The policy {policy.name} found nothing to do")

    async def keep_up(self) -> None:
        """What the policy does before every call, without a sign but a line in the timeline that counts."""
        wanted = Wanted(new_id("c"), "upkeep")
        card = self._model.card
        try:
            draft = await self._compactor.upkeep(wanted, card, self._fullness().threshold)
            await self._compactor.commit(draft, card, at_work=True)
        except NothingToCompact:
            return
        except (PolicyFailed, StoreFailed) as failure:
            self._failed(wanted, str(failure))
            return
        self._begin_epoch()

    # How it went

    def tell_not_made(self, wanted: Wanted, why: str) -> None:
        """Says in the timeline why a compaction that was asked for was not even begun."""
        self._failed(wanted, why, cancelled=True)

    def is_told_as_failed(self, wanted: Wanted) -> bool:
        """Whether the log says of it that it failed."""
        last = self._conversation.entries[-1].entry
        return isinstance(last, CompactionFailed) and last.id == wanted.id

    def _show_made(self, made: Compaction) -> None:
        """Its card, where showing the entry failed on the way: nothing is in progress any more."""
        shown = self._conversation.timeline.get(made.id)
        if not isinstance(shown, CompactionItem) or shown.status == "in_progress":
            self._conversation.timeline.put(compaction_item(made, self._conversation.clock()))

    def _begin_epoch(self) -> None:
        """A compaction is in force; what fails from here on does not take it back."""
        with in_any_case("the rules are as before the compaction"):
            self._compacted()

    def _show(self, wanted: Wanted, status: CompactionStatus, error: str = "") -> None:
        before = self._fullness().counted.used
        at = self._conversation.clock()
        self._conversation.timeline.put(
            CompactionItem(wanted.id, at, status, wanted.trigger, None, before, None, "", (), 0, 0, 0, wanted.focus, (), None, error)
        )

    def _failed(self, wanted: Wanted, reason: str, *, cancelled: bool = False) -> None:
        before = self._fullness().counted.used
        try:
            self._conversation.append(CompactionFailed(wanted.id, wanted.trigger, reason, cancelled, before, wanted.focus))
        except StoreFailed:  # the log cannot be written either: it is shown all the same
            self._show(wanted, "cancelled" if cancelled else "failed", reason)

"""Keeping room in the context: when to compact, prepare, hold or refuse, and doing it.

The one number (`Fullness.used`) is compared with the one line; the gauge shows both. Called at boundaries only: before a
model call, at the end of a turn, while idle; never between a call and its result. What the user is told where no call can be made:
`fullness.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager

from ullage.context.counting.gauge import USUAL_GROWTH, growth, line
from ullage.context.counting.measured import Measuring
from ullage.context.economy import ECONOMIES, line_before_step
from ullage.context.engines.engine import sweeps
from ullage.context.entries import (
    Compaction,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    SpentInVain,
    Trigger,
)
from ullage.context.policies.ullage import ULLAGE
from ullage.session.compacting.breaker import Breaker
from ullage.session.compacting.compaction import Compactor
from ullage.session.compacting.draft import Draft, NothingToCompact, Wanted
from ullage.session.compacting.fullness import ContextFull, Fullness, is_held, refuse_where_held, refuse_where_nothing_helps, ways_out
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.compacting.preparation import Preparation
from ullage.session.compacting.saving import Due, Saving
from ullage.session.compacting.spent_in_vain import discard, spend_in_vain, spent_on
from ullage.session.compacting.taken_back import TakenBack, replied_since
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.identifiers import new_id
from ullage.session.items import CompactionItem, CompactionStatus
from ullage.session.model_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline import compaction_item
from ullage.store.errors import StoreFailed

logger = logging.getLogger(__name__)


RETRY_AFTER = 20
"""Entries of the log until a compaction that is to save is prepared again after one could not be."""

ASK_AGAIN_SHARE = 0.05
"""Of the line. A policy that found nothing to do at its line is asked again within the turn once so much has come since."""

TAKEN_BACK_SHARE = 0.25
"""Of the line. Where the user undid the newest compaction, none is made by itself before so much more has come or the window is as good as
full: a few turns, as many as there are between the warning and the line."""

NOTHING_TO_COMPACT = "There is nothing to compact: a summary would not be shorter than the conversation"


class Room:
    """Keeps room in the context of one session."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        policy: PolicyInUse,
        compactor: Compactor,
        model: ModelInUse,
        compacting: Callable[[], AbstractContextManager[None]],
        compacted: Callable[[], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._compactor = compactor
        self._model = model
        self._compacting = compacting
        self._compacted = compacted
        self._breaker = Breaker()
        self._in_vain_at = -RETRY_AFTER
        self._saving = Saving(conversation, surroundings)
        self._taken_back = TakenBack(conversation)
        self._nothing_below = 0
        self._measuring = Measuring()
        self._in_work: Draft | None = None
        self._prepared_by = policy.policy
        self._growth = (0, USUAL_GROWTH)
        self.preparation = Preparation(compactor.still_fits, lambda draft: discard(conversation, draft))

    def fullness(self) -> Fullness:
        """How full it is now."""
        card = self._model.card
        calibration = self._surroundings.calibration(card)
        policy = self._policy.policy
        counted = self._conversation.counted(calibration)
        used = self._measuring.measured(policy.measure, counted.used, self._conversation.projection, calibration)
        full_at = line(card.window, policy.line, self._surroundings.settings.line_cap)
        if policy.saves and card.prices is not None:
            full_at = line_before_step(full_at, card.prices.long_prompt, ECONOMIES[self._surroundings.settings.economy])
        return Fullness(counted, used, full_at, card.window)

    def tokens_with(self, entry: Compaction | CompactionUndone | CompactionRedone) -> int:
        """What the context would hold with one more entry (tokens); nothing changes."""
        return self._conversation.counted_with(entry, self._surroundings.calibration(self._model.card)).used

    async def before_call(self, *, more: int = 0) -> None:
        """Makes room for the next model call, which will hold `more` tokens than there are now (a prompt to come).

        Raises `ContextFull`.
        """
        self._policy.take_over()
        await self._keep_up()
        full = self.fullness()
        held = is_held(full, more, self._policy)
        if full.used + more < full.line and not held:
            if not await self._save(full, at_work=more == 0):
                self._prepare_from(full)
            return
        calibration = self._surroundings.calibration(self._model.card)
        refuse_where_nothing_helps(full, self._conversation.projection.prelude, calibration, self._policy)
        if not held and self._is_kept(full, more):
            self._prepare_from(full)
            return
        now = self._conversation.clock()
        may = self._policy.by_itself and not self._breaker.is_open(now) and replied_since(self._conversation.projection)
        may = may and (held or self._has_grown(full, more))
        if may and (held or more or full.used >= self._nothing_below):
            made = await self._try("threshold", at_work=more == 0, must=held)
            nothing = made is None and self._policy.policy is not ULLAGE
            self._nothing_below = full.used + int(full.line * ASK_AGAIN_SHARE) if nothing else 0
            full = self.fullness()
        refuse_where_held(full, more, self._policy, self._breaker.seconds_left(self._conversation.clock()))

    async def _save(self, full: Fullness, *, at_work: bool) -> bool:
        """Compacts before the line where that costs less than carrying on, without making anybody wait; whether it did."""
        due = self._due(full)
        if due == "cold":
            return await self._try_to_save(at_work=at_work, by_program=not self.preparation.ready())
        if due == "now" and self.preparation.ready():
            return await self._try_to_save(at_work=at_work)
        if due != "no":
            self.prepare()
        return False

    def _due(self, full: Fullness) -> Due:
        if not self._may_save():
            return "no"
        return self._saving.due(full.counted, self._model.card)

    def _is_kept(self, full: Fullness, more: int = 0, share: float = TAKEN_BACK_SHARE) -> bool:
        """Whether the user undid the newest compaction and less than that share of the line has come since."""
        return self._taken_back.holds(full.counted.used + more, int(full.line * share))

    def waits(self, full: Fullness) -> int | None:
        """Tokens that have to come before it compacts by itself, where that is beyond the line as the user undid the newest compaction."""
        left = self._taken_back.left(full.counted.used, int(full.line * TAKEN_BACK_SHARE))
        return left if left and full.used + left > full.line and self._policy.by_itself else None

    def _may_save(self) -> bool:
        if not (self._policy.policy.saves and self._policy.by_itself and replied_since(self._conversation.projection)):
            return False
        if self._breaker.is_open(self._conversation.clock()) or self._in_vain_at + RETRY_AFTER > last_seq(self._conversation):
            return False
        return not self._taken_back.is_so()

    async def _try_to_save(self, *, at_work: bool, by_program: bool = False) -> bool:
        made = await self._attempt(Wanted(new_id("c"), "economy", by_program=by_program), at_work=at_work)
        if made is None:
            self._in_vain_at = last_seq(self._conversation)  # a summary for each call, none of which comes about, would not save
        return made is not None

    def saves_before_cold(self) -> bool:
        """Whether a compaction now, while nobody asks anything, costs less than writing all of the context anew later."""
        return self._may_save() and self._saving.before_cold(self.fullness().counted, self._model.card)

    def since_last_request(self) -> float:
        """Seconds since the newest request of this epoch started; 0 where there was none."""
        started = self._saving.last_request(self.fullness().counted)
        return max(0.0, self._conversation.clock() - started) if started else 0.0

    async def before_cold(self) -> bool:
        """Compacts while the cache still serves the summary; whether it came about."""
        return await self._try_to_save(at_work=False)

    async def _keep_up(self) -> None:
        """What the policy does before every call, without a sign but a line in the timeline that counts."""
        if not self._policy.keeps_up:
            return
        wanted = Wanted(new_id("c"), "upkeep")
        card = self._model.card
        try:
            draft = await self._compactor.upkeep(wanted, card, self.fullness().line)
            await self._compactor.commit(draft, card, at_work=True)
        except NothingToCompact:
            return
        except (PolicyFailed, StoreFailed) as failure:
            self._failed(wanted, str(failure))
            return
        self._begin_epoch()

    def _has_grown(self, full: Fullness, more: int = 0) -> bool:
        """Whether there is more by now than the newest summary left, where that left much (of what is pinned, say).

        Each compaction costs a summary and the cache, and would free next to nothing then.
        """
        newest = next((each for each in reversed(self._conversation.projection.active) if each.summarised), None)
        if self._policy.policy is not ULLAGE or newest is None:
            return True
        return full.counted.used + more >= newest.estimated_after + full.line * ASK_AGAIN_SHARE

    async def after_overflow(self) -> bool:
        """Compacts after the API said that the prompt is too long. False where that did not help. Raises `ContextFull`."""
        await self._model.learn()  # the refusal may have named the window
        if self._policy.never:
            raise ContextFull(f"The model refused the conversation as too long. {ways_out(self._policy)}.")
        return await self._try("reactive", at_work=True, must=True) is not None

    async def by_request(self, wanted: Wanted, *, at_work: bool) -> Compaction | None:
        """Compacts because the user or the model asked. None where nothing changed; the timeline then says why."""
        return await self._attempt(wanted, at_work=at_work)

    def tell_not_made(self, wanted: Wanted, why: str) -> None:
        """Says in the timeline why a compaction that was asked for was not even begun."""
        self._show(wanted, "failed", why)

    def wants_idle_compaction(self) -> bool:
        """Whether the next turn, by the usual growth of a turn here, would cross the line."""
        if not self._policy.by_itself or self._breaker.is_open(self._conversation.clock()):
            return False
        if self._in_vain_at == last_seq(self._conversation):
            return False
        full = self.fullness()
        if not self._has_grown(full) or not replied_since(self._conversation.projection):
            return False
        return full.used + self._usual_growth() >= full.line and not self._is_kept(full)

    def _usual_growth(self) -> int:
        """Tokens; looked up once for each entry, since it is asked for at every keystroke."""
        seq, known = self._growth
        if seq != last_seq(self._conversation):
            seq, known = self._growth = last_seq(self._conversation), growth(self._conversation.entries)
        return known

    async def while_idle(self) -> Compaction | None:
        """Compacts while the user edits; gives None where it did not come about."""
        made = await self._try("idle", at_work=False)
        if made is None:
            self._in_vain_at = last_seq(self._conversation)  # the same log would give nothing again
        return made

    def prepare(self) -> None:
        """Begins to write a summary in the background, unless one is in work or ready."""
        if not self.preparation.begun:
            self._prepared_by = self._policy.policy
            self.preparation.start(self._in_background())

    def settings_changed(self) -> None:
        """Another policy may be in force: what is prepared under the old one serves nobody."""
        self._nothing_below = 0
        if self._prepared_by is not self._policy.policy:
            self.preparation.give_up()

    def _prepare_from(self, full: Fullness) -> None:
        near = full.used >= full.line * self._policy.policy.line.warn_share and not self._is_kept(full, share=ASK_AGAIN_SHARE)
        by_model = self._model.card.writes_summaries and self._surroundings.settings.summary_engine == "model"
        if near and self._policy.by_itself and by_model and replied_since(self._conversation.projection):
            self.prepare()

    def _draft(self, wanted: Wanted, planned: Callable[[Draft], None] | None = None) -> Coroutine[None, None, Draft]:
        return self._compactor.draft(wanted, self._model.model, self._model.card, self.fullness().line, planned)

    async def _draft_or_stand_in(self, wanted: Wanted, *, must: bool) -> Draft:
        """A draft by the policy in force. Where its engine fails, or has nothing to do though something `must` be done, by Ullage's own."""
        policy, card = self._policy.policy, self._model.card
        line = self.fullness().line
        try:
            return await self._draft(wanted)
        except PolicyFailed as failure:
            return await self._compactor.stand_in(wanted, card, line, why=str(failure), usage=failure.usage)
        except NothingToCompact:
            if self._policy.never and wanted.trigger in ("manual", "tool"):  # it has no way of its own, and somebody asks for one
                return await self._compactor.stand_in(wanted, card, line, model=self._model.model)
            if policy is ULLAGE or not must:
                raise
            return await self._compactor.stand_in(wanted, card, line, why=f"The policy {policy.name} found nothing to do")

    async def _in_background(self) -> Draft:
        seq, card = last_seq(self._conversation), self._model.card
        self._in_work = None
        try:
            return await self._draft(Wanted(new_id("c"), "idle"), self._take_plan)
        except Exception as error:
            self._in_vain_at = seq  # the same log would fail again
            if isinstance(error, PolicyFailed):
                spend_in_vain(self._conversation, error.usage, spent_on(card, error.usage))
            if not isinstance(error, NothingToCompact | PolicyFailed):
                logger.warning("a compaction could not be prepared", exc_info=error)
            raise

    def _take_plan(self, draft: Draft) -> None:
        self._in_work = draft

    async def _try(self, trigger: Trigger, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction; a failure is logged and counted, and gives None."""
        wanted = Wanted(new_id("c"), trigger)
        made = await self._attempt(wanted, at_work=at_work, must=must)
        if made is not None:
            self._breaker.succeeded()
            if trigger == "threshold":
                made = await self._sweep(made, at_work=at_work)
        elif must or self._policy.policy is ULLAGE or self._is_told_as_failed(wanted):
            self._breaker.failed(self._conversation.clock())
        return made  # that another policy finds nothing to do at its line is no failure: at the window it is stood in for

    async def _sweep(self, made: Compaction, *, at_work: bool) -> Compaction:
        """The compactions that some policies make at the same boundary, one after the other; gives the last."""
        for _ in range(1, sweeps(self._policy.policy.engine)):
            more = await self._attempt(Wanted(new_id("c"), "threshold"), at_work=at_work)
            if more is None:
                break
            made = more
        return made

    def _is_told_as_failed(self, wanted: Wanted) -> bool:
        last = self._conversation.entries[-1].entry
        return isinstance(last, CompactionFailed) and last.id == wanted.id

    async def _attempt(self, wanted: Wanted, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction. One that does not come about has changed nothing; the timeline says why, and None is given."""
        try:
            return await self._make(wanted, at_work=at_work, must=must)
        except NothingToCompact:
            if wanted.trigger in ("manual", "tool"):
                self._show(wanted, "failed", NOTHING_TO_COMPACT)
        except StoreFailed as error:
            self._failed(wanted, str(error))
        except Exception as error:
            logger.error("a compaction failed", exc_info=error)
            self._failed(wanted, f"Something in Ullage itself went wrong: {type(error).__name__}: {error}. The log has the details.")
        return None

    async def _make(self, wanted: Wanted, *, at_work: bool, must: bool) -> Compaction:
        self._show(wanted, "in_progress")
        with self._compacting():
            try:
                draft = await self._prepared_for(wanted) or await self._draft_or_stand_in(wanted, must=must)
                if not self._compactor.spares(draft):  # something was pinned while it was written
                    discard(self._conversation, draft)
                    draft = await self._draft_or_stand_in(wanted, must=must)
                made = await self._compactor.commit(draft.as_wanted(wanted), self._model.card, at_work=at_work)
            except BaseException:
                self._conversation.timeline.remove(wanted.id)
                raise
            self._show_made(made)
            self._begin_epoch()
            return made

    def _show_made(self, made: Compaction) -> None:
        """Its card, where showing the entry failed on the way: nothing is in progress any more."""
        shown = self._conversation.timeline.get(made.id)
        if not isinstance(shown, CompactionItem) or shown.status == "in_progress":
            self._conversation.timeline.put(compaction_item(made, self._conversation.clock()))

    def _begin_epoch(self) -> None:
        """A compaction is in force; what fails from here on does not take it back."""
        with in_any_case("the rules are as before the compaction"):
            self._compacted()

    async def _prepared_for(self, wanted: Wanted) -> Draft | None:
        """The draft of the background, waited for where it is in work; None where it would not serve or there is none."""
        if wanted.trigger == "reactive" or wanted.focus or wanted.by_program:
            return None
        return _of_use(await self.preparation.take())

    def prepared(self, wanted: Wanted) -> Draft | None:
        """The draft that is ready and would serve; it stays where it is."""
        return None if wanted.focus else _of_use(self.preparation.look())

    def in_work(self, wanted: Wanted) -> Draft | None:
        """The draft that would be waited for, as it is planned; None where none is in work, its plan is not made yet or would not serve."""
        planned = self._in_work
        if wanted.focus or planned is None or not self.preparation.begun or not self._compactor.still_fits(planned):
            return None
        return _of_use(planned)

    def _show(self, wanted: Wanted, status: CompactionStatus, error: str = "") -> None:
        before = self.fullness().counted.used
        at = self._conversation.clock()
        self._conversation.timeline.put(
            CompactionItem(wanted.id, at, status, wanted.trigger, None, before, None, "", (), 0, 0, 0, wanted.focus, (), None, error)
        )

    def _failed(self, wanted: Wanted, reason: str) -> None:
        try:
            self._conversation.append(CompactionFailed(wanted.id, wanted.trigger, reason))
        except StoreFailed:  # the log cannot be written either: it is shown all the same
            self._show(wanted, "failed", reason)


def _of_use(draft: Draft | None) -> Draft | None:
    if draft is not None and draft.policy is not ULLAGE and draft.plan.asked is None:
        return None  # nobody has to wait for it, and other systems decide by what there is at the line
    return draft


def last_seq(conversation: Conversation) -> int:
    """Of the newest entry that a compaction could be about; 0 where there is none."""
    return next((logged.seq for logged in reversed(conversation.entries) if not isinstance(logged.entry, SpentInVain)), 0)

"""Keeping room in the context: when to compact, prepare, hold or refuse, and doing it.

The one number (`Fullness.used`) is compared with the one line; the gauge shows both. Called at boundaries only: before a
model call, at the end of a turn, while idle; never between a call and its result. What the user is told where no call can be made:
`fullness.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from math import ceil

from ullage.context.counting.gauge import USUAL_GROWTH, growth, line
from ullage.context.counting.measured import Measuring
from ullage.context.counting.tokens import estimate_prelude
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
from ullage.context.moves.spare import leaves_alone
from ullage.context.moves.turns import newest_turn
from ullage.context.policies.ullage import ULLAGE
from ullage.session.compacting.breaker import Breaker
from ullage.session.compacting.compaction import Compactor
from ullage.session.compacting.draft import Draft, NothingToCompact, Wanted
from ullage.session.compacting.fullness import ContextFull, Fullness, is_held, refuse_where_held, refuse_where_nothing_helps, ways_out
from ullage.session.compacting.next_compaction import EarlySaving, NextCompaction, Postponed, Postponing, decided
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.compacting.preparation import Preparation
from ullage.session.compacting.saving import Saving
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


PRICED_TOKENS = 1_000_000
"""Prices are dollars for so many."""

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
        prepared: Callable[[], None],
    ) -> None:
        """`compacted` is called once a compaction is in force, `prepared` when a draft is ready or has failed."""
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
        self._postponing = Postponing()
        self._nothing_below = 0
        self._measuring = Measuring()
        self._in_work: Draft | None = None
        self._prepared_by = policy.policy
        self._growth = (0, USUAL_GROWTH)
        self.preparation = Preparation(compactor.still_fits, lambda draft: discard(conversation, draft), prepared)

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
        return Fullness(counted, used, full_at, card.window, card.hold_window)

    def fits_alone(self) -> int:
        """Tokens, as they are estimated, that fit into the window beside what is always there: system prompt, rules and tools."""
        prelude, card = self._conversation.projection.prelude, self._model.card
        fixed = estimate_prelude(prelude) if prelude else 0
        room = card.window * self._policy.policy.line.hold_share
        return max(0, int(room / self._surroundings.calibration(card).ratio) - fixed)

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
        following = self.next_compaction(full)
        held = is_held(full, more, self._policy)
        if full.used + more < full.line and not held:
            if not (more and await self._save(following)):
                self._prepare_from(full)
            return
        refuse_where_nothing_helps(full, self._policy)
        if not following.is_due(full.used + more):
            self._prepare_from(full)
        elif held or more or full.used >= self._nothing_below:
            made = await self._try("threshold", at_work=more == 0, must=held)
            nothing = made is None and self._policy.policy is not ULLAGE
            self._nothing_below = full.used + int(full.line * ASK_AGAIN_SHARE) if nothing else 0
            full = self.fullness()
        refuse_where_held(full, more, self._policy, self._breaker.seconds_left(self._conversation.clock()))

    def next_compaction(self, full: Fullness | None = None) -> NextCompaction:
        """When the next one comes by itself, as things are. `full` is how full it is now."""
        full = full or self.fullness()
        if not self._policy.by_itself:
            return NextCompaction("off", None)
        counted, policy = full.counted.used, self._policy.policy
        window = full.used + max(0, ceil(full.hold * policy.line.hold_share) - counted)
        undone = self._taken_back.left(counted, int(full.line * TAKEN_BACK_SHARE))
        grown = full.used + max(0, self._has_to_hold(full.line) - counted)
        why, at = decided(full.line, window, full.used + undone if undone else 0, grown if grown > full.line else 0)
        if self._breaker.is_open(self._conversation.clock()):
            return NextCompaction("failed", at)
        if not replied_since(self._conversation.projection):
            return NextCompaction("unanswered", at)
        near = full.used + self._usual_growth() >= full.line and not undone and counted >= self._has_to_hold(full.line)
        again = self._in_vain_at != last_seq(self._conversation)
        return NextCompaction(why, at, near and again, self._early_saving(full))

    def _early_saving(self, full: Fullness) -> EarlySaving | None:
        prices = self._model.card.prices
        if prices is None or not self._may_save():
            return None
        outlook = self._saving.outlook(full.counted, self._model.card)
        if outlook is None:
            return None
        ready = outlook.when == "cold" or (outlook.when == "now" and self._prepared_to_save() is not None)
        dollars = outlook.saved * prices.input / PRICED_TOKENS
        return EarlySaving("prompt" if ready else "pause", max(0.0, dollars), self._postponing.until)

    def postpone(self, until: Postponed) -> None:
        """The user wants nothing compacted to save for so long."""
        self._postponing.ask(until)

    def turn_begins(self) -> None:
        """The user prompted."""
        self._postponing.turn_begins()

    def turn_ended(self) -> None:
        """What the model had to say is said."""
        self._postponing.turn_ended()

    async def _save(self, following: NextCompaction) -> bool:
        """Compacts before the line where that saves, was told before, and nobody has to wait; whether it did."""
        saving = following.saving
        if saving is None or saving.postponed != "none" or saving.when != "prompt":
            return False
        return await self._try_to_save(at_work=False, by_program=self._prepared_to_save() is None)

    def prepare_to_save(self) -> None:
        """Has a summary written in the background where one before the line would save; a draft for the line is no use for that."""
        saving = self.next_compaction().saving
        if saving is None or saving.postponed != "none" or saving.when == "prompt":
            return
        outlook = self._saving.outlook(self.fullness().counted, self._model.card)
        if outlook is not None and outlook.when == "now" and not (self.preparation.begun and not self.preparation.ready()):
            self._prepare_for("economy")

    def _prepared_to_save(self) -> Draft | None:
        """The draft that is ready and leaves the newest turn alone."""
        draft = self.preparation.look()
        return draft if draft is not None and leaves_alone(draft.plan, newest_turn(self._conversation.projection)) else None

    def _is_kept(self, full: Fullness, share: float) -> bool:
        """Whether the user undid the newest compaction and less than that share of the line has come since."""
        return self._taken_back.holds(full.counted.used, int(full.line * share))

    def _may_save(self) -> bool:
        if not (self._policy.policy.saves and self._policy.by_itself and replied_since(self._conversation.projection)):
            return False
        if self._breaker.is_open(self._conversation.clock()) or self._in_vain_at + RETRY_AFTER > last_seq(self._conversation):
            return False
        return not self._taken_back.is_so()

    async def _try_to_save(self, *, at_work: bool, by_program: bool = False) -> bool:
        saving = self.next_compaction().saving
        saves = None if saving is None else saving.dollars
        made = await self._attempt(Wanted(new_id("c"), "economy", by_program=by_program, saves=saves), at_work=at_work)
        if made is None:
            self._in_vain_at = last_seq(self._conversation)  # a summary for each call, none of which comes about, would not save
        return made is not None

    def saves_in_pause(self) -> bool:
        """Whether a compaction now, while nobody asks anything, saves."""
        saving = self.next_compaction().saving
        return saving is not None and saving.postponed == "none"

    def prepare_in_pause(self) -> None:
        """Has the summary for that written in the background."""
        if self._prepared_to_save() is None and not (self.preparation.begun and not self.preparation.ready()):
            self._prepare_for("economy")

    def since_last_request(self) -> float:
        """Seconds since the newest request of this epoch started; 0 where there was none."""
        started = self._saving.last_request(self.fullness().counted)
        return max(0.0, self._conversation.clock() - started) if started else 0.0

    async def in_pause(self) -> bool:
        """Compacts while the cache still serves the summary; whether it came about."""
        return self.saves_in_pause() and await self._try_to_save(at_work=False)

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

    def _has_to_hold(self, line: int) -> int:
        """Tokens that there must be, where the newest summary left much (of what is pinned, say).

        Each compaction costs a summary and the cache, and would free next to nothing before.
        """
        newest = next((each for each in reversed(self._conversation.projection.active) if each.summarised), None)
        if self._policy.policy is not ULLAGE or newest is None:
            return 0
        return ceil(newest.estimated_after + line * ASK_AGAIN_SHARE)

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
        self._failed(wanted, why, cancelled=True)

    def wants_idle_compaction(self) -> bool:
        """Whether the next turn, by the usual growth of a turn here, would cross the line."""
        return self.next_compaction().while_editing

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
            self._prepare_for("idle")

    def _prepare_for(self, trigger: Trigger) -> None:
        self._prepared_by = self._policy.policy
        self.preparation.start(self._in_background(trigger))

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

    async def _in_background(self, trigger: Trigger) -> Draft:
        seq, card = last_seq(self._conversation), self._model.card
        self._in_work = None
        try:
            return await self._draft(Wanted(new_id("c"), trigger), self._take_plan)
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
                self._failed(wanted, NOTHING_TO_COMPACT)
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
        if wanted.trigger == "economy" and self._prepared_to_save() is None:
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

    def _failed(self, wanted: Wanted, reason: str, *, cancelled: bool = False) -> None:
        before = self.fullness().counted.used
        try:
            self._conversation.append(CompactionFailed(wanted.id, wanted.trigger, reason, cancelled, before, wanted.focus))
        except StoreFailed:  # the log cannot be written either: it is shown all the same
            self._show(wanted, "cancelled" if cancelled else "failed", reason)


def _of_use(draft: Draft | None) -> Draft | None:
    if draft is not None and draft.policy is not ULLAGE and draft.plan.asked is None:
        return None  # nobody has to wait for it, and other systems decide by what there is at the line
    return draft


def last_seq(conversation: Conversation) -> int:
    """Of the newest entry that a compaction could be about; 0 where there is none."""
    return next((logged.seq for logged in reversed(conversation.entries) if not isinstance(logged.entry, SpentInVain)), 0)

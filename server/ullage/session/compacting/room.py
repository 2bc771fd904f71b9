"""Keeping room in the context: when to compact, prepare, hold or refuse. How a compaction is made: `attempts.py`.

The one number (`Fullness.used`) is compared with the one threshold; the gauge shows both. Called at boundaries only: before a
model call, at the end of a turn, while idle; never between a call and its result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from ullage.context.compaction.assemble import Wanted
from ullage.context.compaction.decide import (
    ASK_AGAIN_SHARE,
    Compact,
    Decision,
    Fullness,
    Hold,
    NextCompaction,
    Postponed,
    Prepare,
    Refuse,
    State,
    ahead,
    decide,
    decide_after_refusal,
    early_saving,
    may_save,
    next_compaction,
)
from ullage.context.compaction.economy import ECONOMIES, Outlook, line_before_step
from ullage.context.compaction.undoing import TakenBack, left_by_newest, replied_since
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Trigger
from ullage.context.counting.gauge import USUAL_GROWTH, Measuring, growth, line
from ullage.context.counting.tokens import estimate_prelude
from ullage.context.engines.engine import sweeps
from ullage.context.policies.ullage import ULLAGE
from ullage.session.compacting.attempts import Attempts, last_seq
from ullage.session.compacting.compaction import Compactor
from ullage.session.compacting.failures import Breaker
from ullage.session.compacting.policy_in_use import PolicyInUse
from ullage.session.compacting.saving import Postponing, Saving
from ullage.session.conversation import Conversation
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import new_id

PRICED_TOKENS = 1_000_000
"""Prices are dollars for so many."""


class ContextFull(Exception):
    """No model call can be made: the context is full and cannot be made smaller. `str()` says what to do."""


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
        self._model = model
        self._breaker = Breaker()
        self._saving = Saving(conversation, surroundings)
        self._taken_back = TakenBack()
        self._postponing = Postponing()
        self._nothing_below = 0
        self._measuring = Measuring()
        self._growth = (0, USUAL_GROWTH)
        self.attempts = Attempts(conversation, policy, compactor, model, self.fullness, compacting, compacted, prepared)
        self.preparation = self.attempts.preparation

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
        if self._policy.keeps_up:
            await self.attempts.keep_up()
        decision = decide(self.state(), more)
        match decision:
            case Compact("economy", by_program=by_program):
                if not await self._try_to_save(at_work=False, by_program=by_program):
                    self._act_on(ahead(self.state()))
            case Compact(trigger, must=must):
                made = await self._try(trigger, at_work=more == 0, must=must)
                full = self.fullness()
                nothing = made is None and self._policy.policy is not ULLAGE
                self._nothing_below = full.used + int(full.line * ASK_AGAIN_SHARE) if nothing else 0
                self._act_on(decide(self.state(), more, tried=True))
            case _:
                self._act_on(decision)

    def _act_on(self, decision: Decision) -> None:
        match decision:
            case Hold(why) | Refuse(why):
                raise ContextFull(why)
            case Prepare():
                self.prepare()
            case _:
                pass

    def state(self, full: Fullness | None = None) -> State:
        """What the decision looks at, as things are. `full` is how full it is now."""
        full = full or self.fullness()
        projection, card, settings = self._conversation.projection, self._model.card, self._surroundings.settings
        state = State(
            self._policy.policy,
            full,
            auto=settings.auto_compact,
            replied=replied_since(projection),
            left_by_newest=left_by_newest(projection),
            grown_since_undo=self._taken_back.grown(self._conversation.entries, full.counted.used),
            rests=self._breaker.seconds_left(self._conversation.clock()),
            usual_growth=self._usual_growth(),
            in_vain=self.attempts.gave_nothing,
            nothing_below=self._nothing_below,
            by_model=card.writes_summaries and settings.summary_engine == "model",
        )
        prices, outlook = card.prices, self._outlook(state)
        if outlook is None or prices is None:
            return state
        prepared = self.attempts.prepared_to_save() is not None
        saving = early_saving(outlook, prices.input / PRICED_TOKENS, self._postponing.until, prepared=prepared)
        return replace(state, prepared=prepared, saving=saving)

    def next_compaction(self, full: Fullness | None = None) -> NextCompaction:
        """When the next one comes by itself, as things are. `full` is how full it is now."""
        return next_compaction(self.state(full))

    def _outlook(self, state: State) -> Outlook | None:
        """What a compaction before the threshold would save; None where it would not, or none may be made for that."""
        if not may_save(state) or self.attempts.gave_nothing_lately:
            return None
        return self._saving.outlook(state.full.counted, self._model.card)

    def postpone(self, until: Postponed) -> None:
        """The user wants nothing compacted to save for so long."""
        self._postponing.ask(until)

    def turn_begins(self) -> None:
        """The user prompted."""
        self._postponing.turn_begins()

    def turn_ended(self) -> None:
        """What the model had to say is said."""
        self._postponing.turn_ended()

    def prepare_to_save(self) -> None:
        """Has a summary written in the background where one before the threshold would save; a draft for the threshold is no use then."""
        saving = self.next_compaction().saving
        if saving is None or saving.postponed != "none" or saving.when == "prompt":
            return
        outlook = self._saving.outlook(self.fullness().counted, self._model.card)
        if outlook is not None and outlook.when == "now" and not (self.preparation.begun and not self.preparation.ready()):
            self.attempts.prepare("economy")

    async def _try_to_save(self, *, at_work: bool, by_program: bool = False) -> bool:
        saving = self.next_compaction().saving
        saves = None if saving is None else saving.dollars
        made = await self.attempts.make(Wanted(new_id("c"), "economy", by_program=by_program, saves=saves), at_work=at_work)
        if made is None:
            self.attempts.gives_nothing()  # a summary for each call, none of which comes about, would not save
        return made is not None

    def saves_in_pause(self) -> bool:
        """Whether a compaction now, while nobody asks anything, saves."""
        saving = self.next_compaction().saving
        return saving is not None and saving.postponed == "none"

    def prepare_in_pause(self) -> None:
        """Has the summary for that written in the background."""
        if self.attempts.prepared_to_save() is None and not (self.preparation.begun and not self.preparation.ready()):
            self.attempts.prepare("economy")

    def since_last_request(self) -> float:
        """Seconds since the newest request of this epoch started; 0 where there was none."""
        started = self._saving.last_request(self.fullness().counted)
        return max(0.0, self._conversation.clock() - started) if started else 0.0

    async def in_pause(self) -> bool:
        """Compacts while the cache still serves the summary; whether it came about."""
        return self.saves_in_pause() and await self._try_to_save(at_work=False)

    async def after_overflow(self) -> bool:
        """Compacts after the API said that the prompt is too long. False where that did not help. Raises `ContextFull`."""
        await self._model.learn()  # the refusal may have named the window
        decision = decide_after_refusal(self.state())
        if not isinstance(decision, Compact):
            raise ContextFull(decision.why)
        return await self._try(decision.trigger, at_work=True, must=decision.must) is not None

    async def by_request(self, wanted: Wanted, *, at_work: bool) -> Compaction | None:
        """Compacts because the user or the model asked. None where nothing changed; the timeline then says why."""
        return await self.attempts.make(wanted, at_work=at_work)

    def tell_not_made(self, wanted: Wanted, why: str) -> None:
        """Says in the timeline why a compaction that was asked for was not even begun."""
        self.attempts.tell_not_made(wanted, why)

    def wants_idle_compaction(self) -> bool:
        """Whether the next turn, by the usual growth of a turn here, would cross the threshold."""
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
            self.attempts.gives_nothing()  # the same log would give nothing again
        return made

    def prepare(self) -> None:
        """Begins to write a summary in the background, unless one is in work or ready."""
        if not self.preparation.begun:
            self.attempts.prepare("idle")

    def settings_changed(self) -> None:
        """Another policy may be in force: what is prepared under the old one serves nobody."""
        self._nothing_below = 0
        self.attempts.settings_changed()

    async def _try(self, trigger: Trigger, *, at_work: bool, must: bool = False) -> Compaction | None:
        """Makes a compaction; a failure is logged and counted, and gives None."""
        wanted = Wanted(new_id("c"), trigger)
        made = await self.attempts.make(wanted, at_work=at_work, must=must)
        if made is not None:
            self._breaker.succeeded()
            if trigger == "threshold":
                made = await self._sweep(made, at_work=at_work)
        elif must or self._policy.policy is ULLAGE or self.attempts.is_told_as_failed(wanted):
            self._breaker.failed(self._conversation.clock())
        return made  # that another policy finds nothing to do at its threshold is no failure: at the window it is stood in for

    async def _sweep(self, made: Compaction, *, at_work: bool) -> Compaction:
        """The compactions that some policies make at the same boundary, one after the other; gives the last."""
        for _ in range(1, sweeps(self._policy.policy.engine)):
            more = await self.attempts.make(Wanted(new_id("c"), "threshold"), at_work=at_work)
            if more is None:
                break
            made = more
        return made

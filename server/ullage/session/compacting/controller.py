"""Keeping room in the context: when to compact, prepare, hold or refuse. How a compaction is made: `context/compaction/making.py`.

The one number (`Fullness.used`) is compared with the one threshold; the gauge shows both. Called at boundaries only: before a
model call, at the end of a turn, while idle; never between a call and its result.

Two wait for a pause, when no turn runs. While the user edits near the threshold, the next prompt would have to wait (`WhileEditing`). The
summary is prepared at the first keystroke. The compaction is made at a pause in typing: it reads again what the user edits, and a
half-written line is not what they mean. Before the prompt cache goes cold it is made only where that saves (`Cooling`). Whoever comes back
later has the whole context written to the cache anew. Less of it is cheaper, and the cache still serves the summary now. That is written in
the background: a prompt which comes meanwhile does not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ullage.context.compaction.decide import (
    Compact,
    Fullness,
    Hold,
    NextCompaction,
    Postponed,
    Prepare,
    Refuse,
    State,
    decide,
    decide_after_refusal,
    decide_after_turn,
    decide_in_pause,
    next_compaction,
)
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.compaction.gathering import Circumstances, Gathering
from ullage.context.compaction.making import Making
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.counting.tokens import estimate_prelude
from ullage.session.compacting.means import SessionMeans
from ullage.session.compacting.saving import Postponing
from ullage.session.conversation import Conversation
from ullage.session.models_in_use import ModelInUse
from ullage.session.policy_in_use import PolicyInUse
from ullage.session.surroundings import Surroundings

PAUSE_SECONDS = 1.5
"""How long the user does not type before that is a pause: about a thought's length."""


class ContextFull(Exception):
    """No model call can be made: the context is full and cannot be made smaller. `str()` says what to do."""


class CompactionController:
    """Keeps room in the context of one session."""

    def __init__(
        self, conversation: Conversation, surroundings: Surroundings, policy: PolicyInUse, model: ModelInUse, means: SessionMeans
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._model = model
        self._means = means
        self._gathering = Gathering()
        self._postponing = Postponing()
        self.making = Making(means, self._gathering)
        self.slot = means.slot

    def fullness(self) -> Fullness:
        """How full the context is now."""
        return self._means.fullness()

    def fits_alone(self) -> int:
        """How many tokens, as they are estimated, fit into the window beside what is always there: system prompt, rules and tools."""
        prelude, card = self._conversation.projection.prelude, self._model.card
        fixed = estimate_prelude(prelude) if prelude else 0
        room = card.window * self._policy.policy.threshold.hold_share
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
            await self.making.keep_up()
        decision = decide(self.state(), more)
        if isinstance(decision, Compact):
            await self.making.carry_out(decision, at_work=more == 0)
            decision = decide(self.state(), more, tried=True)
        match decision:
            case Hold(why) | Refuse(why):
                raise ContextFull(why)
            case _:
                self.making.ahead.prepare_if(decision)

    def state(self, full: Fullness | None = None) -> State:
        """What a decision looks at, as things are now. `full` is how full the context is, where that is known already."""
        card, settings = self._model.card, self._surroundings.settings
        around = Circumstances(
            self._policy.policy,
            settings.economy,
            card.terms,
            by_model=card.writes_summaries and settings.summary_engine == "model",
            auto=settings.auto_compact,
            postponed=self._postponing.until,
            elsewhere=self._means.learned.elsewhere,
        )
        now = self._conversation.clock()
        return self._gathering.state(
            self._conversation.projection, full or self.fullness(), around, now, self.making.ahead.is_prepared_to_save
        )

    def keep_learned(self) -> None:
        """Notes for the workspace what the compactions of this session have brought about by now."""
        own = self._gathering.refetched(self._conversation.entries).after(self._means.fetched_again())
        self._means.learned.keep(own, self._conversation.timeline.all_fetched_again.values())

    def next_compaction(self, full: Fullness | None = None) -> NextCompaction:
        """When the next compaction comes by itself, as things are now. `full` is how full the context is, where that is known already."""
        return next_compaction(self.state(full))

    def postpone(self, until: Postponed) -> None:
        """Notes for how long the user wants no compaction that is made to save."""
        self._postponing.ask(until)

    def turn_begins(self) -> None:
        """Tells that the user prompted, and a turn begins."""
        self._postponing.turn_begins()

    def turn_ended(self) -> None:
        """Tells that a turn has ended: what the model had to say is said."""
        self._postponing.turn_ended()

    def prepare_after_turn(self) -> None:
        """Has a summary written in the background if the next prompt would have to wait for it, or if a compaction would save by then."""
        self.making.ahead.prepare_if(decide_after_turn(self.state()))

    def prepare_in_pause(self) -> bool:
        """Has a summary written in the background if a compaction now, while nobody asks anything, saves. Gives whether it does, so that a
        summary is ready or in work."""
        decision = decide_in_pause(self.state())
        self.making.ahead.prepare_if(decision)
        return isinstance(decision, Prepare | Compact)

    def saves_in_pause(self) -> bool:
        """Whether a compaction would be made to save now, while nobody asks anything."""
        return isinstance(decide_in_pause(self.state()), Compact)

    def cools_in(self) -> float:
        """Seconds until the cache is about to go cold, if nobody asks anything."""
        now = self._conversation.clock()
        return max(0.0, self._gathering.cools_at(self._conversation.projection, self.fullness().counted, now) - now)

    async def in_pause(self) -> bool:
        """Compacts while the cache still serves the summary, if that saves; gives whether a compaction came about."""
        decision = decide_in_pause(self.state())
        return isinstance(decision, Compact) and await self.making.carry_out(decision, at_work=False) is not None

    async def after_overflow(self) -> bool:
        """Compacts after the API said that the prompt is too long. False if that did not help. Raises `ContextFull`."""
        await self._model.learn()  # the refusal may have named the window
        decision = decide_after_refusal(self.state())
        if not isinstance(decision, Compact):
            raise ContextFull(decision.why)
        return await self.making.carry_out(decision, at_work=True) is not None

    def tell_not_made(self, wanted: WantedCompaction, why: str) -> None:
        """Says in the timeline why a compaction that was asked for was not even begun."""
        self._means.telling.not_begun(wanted, why)

    def is_due(self) -> bool:
        """Whether the context would be compacted before a model call now."""
        return isinstance(decide(self.state()), Compact)

    def wants_idle_compaction(self) -> bool:
        """Whether the next turn, by the usual growth of a turn here, would cross the threshold."""
        return self.next_compaction().while_editing

    async def while_idle(self) -> Compaction | None:
        """Compacts while the user edits, and gives the compaction; None if it did not come about."""
        return await self.making.carry_out(Compact("idle", "threshold"), at_work=False)

    def prepare(self) -> None:
        """Begins to write a summary in the background, unless one is in work or ready."""
        self.making.ahead.prepare_if(Prepare("the user edits"))

    def settings_changed(self) -> None:
        """Tells that another policy may be in force: what is prepared under the old one serves nobody."""
        self._gathering.settings_changed()
        self.making.ahead.settings_changed()

    async def close(self) -> None:
        """Gives up a draft that is prepared; one in work has ended when this returns."""
        await self.slot.ended(self.making.ahead.give_up)


def later(seconds: float, then: Callable[[], None]) -> asyncio.TimerHandle:
    """Calls back after that many seconds."""
    return asyncio.get_running_loop().call_later(seconds, then)


class WhileEditing:
    """Waits for the moment to compact one session. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, controller: CompactionController, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._controller = controller
        self._is_idle = is_idle
        self._compact = compact
        self._pause: asyncio.TimerHandle | None = None

    def user_edits(self) -> None:
        """Tells that the user typed. If the next turn would cross the threshold, the compaction is prepared, and made when they pause."""
        if not self._is_wanted():
            return
        self._controller.prepare()
        self.give_up()
        self._pause = later(PAUSE_SECONDS, self._paused)

    def give_up(self) -> None:
        """Stops waiting for a pause."""
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _paused(self) -> None:
        self._pause = None
        self._compact_when_prepared()

    def _compact_when_prepared(self) -> None:
        if self._pause is not None or not self._is_wanted():
            return
        if self._controller.making.ahead.ready():
            self._compact()
        else:
            self._controller.prepare()
            self._controller.slot.when_done(self._compact_when_prepared)

    def _is_wanted(self) -> bool:
        return self._is_idle() and self._controller.wants_idle_compaction()


class Cooling:
    """Waits in one session for the moment before the prompt cache goes cold. `is_idle` says whether nothing runs, `compact` begins."""

    def __init__(self, controller: CompactionController, is_idle: Callable[[], bool], compact: Callable[[], None]) -> None:
        self._controller = controller
        self._is_idle = is_idle
        self._compact = compact
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Begins to wait, when the session has become idle. The cache has been cooling since the last request started."""
        self.give_up()
        self._timer = later(self._controller.cools_in(), self._cooled)

    def give_up(self) -> None:
        """Stops waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cooled(self) -> None:
        self._timer = None
        if self._is_idle() and self._controller.prepare_in_pause():
            self._compact_when_prepared()

    def _compact_when_prepared(self) -> None:
        if not self._is_idle():
            return  # somebody asks again: what is prepared serves when it is needed
        if self._controller.making.ahead.ready():
            if self._controller.saves_in_pause():  # the user may have put it off meanwhile, or the cache has gone
                self._compact()
        elif self._controller.slot.begun:
            self._controller.slot.when_done(self._compact_when_prepared)

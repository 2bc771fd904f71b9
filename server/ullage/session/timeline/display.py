"""What a front end is told of a session besides its items: state, title, gauge; every update numbered, none told twice.

The gauge comes from the very numbers that the trigger compares.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

from ullage.context.blocks import Usage
from ullage.context.compaction.decide import Fullness, NextCompaction
from ullage.context.compaction.economy import SUMMARY_OUTPUT_TOKENS, took
from ullage.context.compaction_entries import Compaction, SpentInVain
from ullage.context.counting.gauge import level
from ullage.context.entries import AssistantReply, Entry, Forked, Logged, ToolReturned
from ullage.context.policy import Policy
from ullage.context.view.epoch import EpochKey
from ullage.models.model import ModelCard
from ullage.session.compacting.controller import CompactionController
from ullage.session.compacting.saving import LeftOver
from ullage.session.conversation import Conversation
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import NoticeItem, new_id
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import (
    Category,
    EndedTurn,
    Gauge,
    GaugeChanged,
    ModelInfo,
    PinnedItems,
    RetryInfo,
    SessionState,
    Snapshot,
    StateChanged,
    TitleChanged,
    Update,
)
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore

logger = logging.getLogger(__name__)

SNAPSHOT_ITEMS = 200
"""Most items of a snapshot; older ones are asked for when the user scrolls up."""


class Display:
    """The numbered stream of updates of one session. `tell` takes the session's id, the number and the update."""

    def __init__(self, session_id: str, title: str, tell: Callable[[str, int, Update], None]) -> None:
        self.session_id = session_id
        self.title = title
        self.state: SessionState = "idle"
        self._tell = tell
        self._seq = 0
        self._retry: RetryInfo | None = None
        self._ended: EndedTurn | None = None
        self._gauge: Gauge | None = None

    def tell(self, update: Update) -> None:
        """Tells the front end of an update, under the next number."""
        self._seq += 1
        self._tell(self.session_id, self._seq, update)

    def set_state(self, state: SessionState, retry: RetryInfo | None = None) -> None:
        """Says what the session does from now on. `retry` is given while a failed call waits to be made again."""
        ended, self._ended = self._ended, None
        if (state, retry) != (self.state, self._retry) or ended is not None:
            self.state, self._retry = state, retry
            self.tell(StateChanged(state, retry, ended))

    def work_is_done(self) -> None:
        """Says that nothing is done any more. It is told in any case: a turn that was stopped before it began has told nothing of
        itself."""
        ended, self._ended = self._ended, None
        self.state, self._retry = "idle", None
        self.tell(StateChanged("idle", None, ended))

    def turn_ended(self, ended: EndedTurn) -> None:
        """Notes that a turn has ended. It is told with what the session does next: nothing, or the next turn."""
        self._ended = ended

    def command_answered(self, timeline: Timeline, at: float, text: str) -> str:
        """Shows what a command that was typed did, and tells at once that it is done, whatever the session does; gives the notice's id."""
        shown = NoticeItem(new_id("a"), at, "info", text, "none")
        timeline.put(shown)
        self.tell(StateChanged(self.state, self._retry, EndedTurn(shown.id, "end_turn")))
        return shown.id

    @contextmanager
    def as_compacting(self) -> Generator[None]:
        """Shows meanwhile that a compaction is being made. A turn that was running goes on afterwards; otherwise the work is over with the
        compaction."""
        before = self.state
        self.set_state("compacting")
        try:
            yield
        finally:
            if before == "running":
                self.set_state(before)

    def set_title(self, title: str) -> None:
        """Gives the session another title from now on."""
        self.title = title
        self.tell(TitleChanged(title))

    def set_gauge(self, gauge: Gauge) -> None:
        """Shows the gauge as it is now, if it is another one than before."""
        if gauge != self._gauge:
            self._gauge = gauge
            self.tell(GaugeChanged(gauge))

    def snapshot(self, timeline: Timeline, gauge: Gauge, model: ModelInfo, pins: PinnedItems, limit: int) -> Snapshot:
        """All that a panel needs; later updates have a higher `seq`."""
        items, earlier = timeline.newest(limit)
        shown = Snapshot(self.session_id, self._seq, self.title, self.state, self._retry, items, earlier, timeline.plan, gauge, model, pins)
        turn = timeline.turn if earlier else None
        return shown if turn is None or any(item.id == turn.id for item in items) else replace(shown, turn=turn)


class Spending:
    """Tokens and dollars of one session so far, call by call; of a fork since it was forked."""

    def __init__(self, entries: Iterable[Logged]) -> None:
        self._compactions: list[Compaction] = []
        self._begin()
        for logged in entries:
            self.add(logged.entry)

    def _begin(self) -> None:
        self._sent = 0
        self._read_from_cache = 0
        self._dollars = 0.0
        self._priced = False

    def add(self, entry: Entry) -> None:
        """Counts an entry that was logged."""
        if isinstance(entry, Forked):  # another session has paid for what came before it
            self._begin()
        if isinstance(entry, Compaction) and entry.usage is not None:
            self._compactions.append(entry)
        if isinstance(entry, AssistantReply | Compaction | SpentInVain) and entry.usage is not None and entry.usage.can_be:
            self._add_call(entry.usage, entry.cost)
        if isinstance(entry, ToolReturned):
            for cost in (entry.cost, None if entry.agent is None else entry.agent.cost):
                self.add_aside(cost or 0.0)

    def _add_call(self, usage: Usage, cost: float | None) -> None:
        self._sent += usage.total_input_tokens
        self._read_from_cache += usage.cache_read_tokens
        if cost is not None:
            self._dollars += cost
            self._priced = True

    def add_aside(self, dollars: float) -> None:
        """Counts dollars that are in no entry."""
        self._dollars += dollars
        self._priced = self._priced or dollars > 0

    @property
    def dollars(self) -> float | None:
        """What was spent so far; None if no call had a price."""
        return self._dollars if self._priced else None

    def summary_output(self, policy: Policy) -> int:
        """How many tokens a model usually writes for a summary of that policy, as far as is known here."""
        return took(self._compactions, policy.name) or SUMMARY_OUTPUT_TOKENS

    @property
    def cache_hit_rate(self) -> float | None:
        """The share of all that was sent that came from the cache, 0 to 1; None before the first call."""
        return self._read_from_cache / self._sent if self._sent else None


class SpentAside:
    """What a session cost beside its conversation (dollars), kept with the workspace: no entry tells of it."""

    def __init__(self, session_id: str, store: LogStore) -> None:
        self._key = f"aside:{session_id}"
        self._store = store
        self.dollars = self._kept()

    def _kept(self) -> float:
        try:
            kept = self._store.recalled(self._key)
        except StoreFailed as error:
            logger.warning("what was spent beside the conversation is not known: %s", error)
            return 0.0
        return float(kept) if isinstance(kept, int | float) and not isinstance(kept, bool) and 0 <= kept < math.inf else 0.0

    def add(self, cost: float) -> None:
        """Adds what was spent (dollars). What cannot be kept counts only until the session is closed."""
        self.dollars += cost
        try:
            self._store.remember(self._key, self.dollars)
        except StoreFailed as error:
            logger.warning("what was spent beside the conversation could not be kept: %s", error)


class ShownGauge:
    """Shows the gauge of one session, whenever it is another one than before."""

    def __init__(
        self,
        display: Display,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        controller: CompactionController,
    ) -> None:
        self._display = display
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._controller = controller
        self._spending = Spending(conversation.entries)
        self._aside = SpentAside(conversation.session_id, surroundings.store)
        self._spending.add_aside(self._aside.dollars)
        self._left_over = LeftOver()

    def now(self) -> Gauge:
        """The gauge, worked out from what the trigger compares."""
        full, policy = self._controller.fullness(), self._surroundings.policy
        frees = self._left_over.would_free(full, policy, self._conversation.projection)
        return make_gauge(full, self._spending, self._model.card, policy, frees, self._controller.next_compaction(full))

    def show(self) -> None:
        """Shows the gauge anew, since something on which it depends may be different."""
        self._display.set_gauge(self.now())

    def logged(self, entry: Entry) -> None:
        """Counts what an entry that was logged has cost. Shows nothing yet."""
        self._spending.add(entry)

    def spent_aside(self, cost: float | None) -> None:
        """Counts what the user had the model do outside of the conversation (dollars; None if that is not known)."""
        if cost is not None:
            self._aside.add(cost)
            self._spending.add_aside(cost)
            self.show()

    def foretold(self, key: EpochKey, full: Fullness, left: int) -> None:
        """Takes from a preview how many tokens a compaction would leave, and shows it."""
        self._left_over.foretold(key, full, self._surroundings.policy, left)
        self.show()


def make_gauge(full: Fullness, spending: Spending, card: ModelCard, policy: Policy, frees: int, following: NextCompaction) -> Gauge:
    """Makes the gauge as it is now. `frees` is how many tokens a compaction would free (`LeftOver`), `following` what the trigger goes
    by."""
    return Gauge(
        used=full.used,
        threshold=full.threshold,
        size=full.window,
        estimated=full.counted.estimated,
        guess=full.counted.guess,
        level=level(full.used, full.threshold, policy.threshold),
        categories=tuple(Category(name, tokens) for name, tokens in full.counted.categories),
        cache_hit_rate=spending.cache_hit_rate,
        cost=spending.dollars,
        frees=frees,
        frees_cost=_would_cost(full, card, spending.summary_output(policy)) if frees else 0.0,
        next=following,
        anew_cost=_anew_cost(full, card, spending),
        policy=policy.name,
        measure=policy.measure,
    )


def _anew_cost(full: Fullness, card: ModelCard, spending: Spending) -> float | None:
    """How many dollars more the next request costs after another effort: the messages are not found in the cache, and are written to it
    again in place of being read. None if the prices are not known, and before the first call, when nothing is there to be read."""
    if card.prices is None or spending.cache_hit_rate is None:
        return None
    held = full.counted.used
    return card.prices.cost(Usage(0, 0, cache_write_5m_tokens=held)) - card.prices.cost(Usage(0, 0, cache_read_tokens=held))


def _would_cost(full: Fullness, card: ModelCard, output: int) -> float | None:
    if not card.writes_summaries:
        return 0.0
    if card.prices is None:
        return None
    return card.prices.cost(Usage(0, output, cache_read_tokens=full.counted.used))

"""Gathers what the decision looks at (`State`) from one log, and remembers what came of earlier tries. The same live and in replay.

What no log tells is given: prices, settings, the time, and whether a draft is ready. Nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ullage.context.change_entries import FilesChanged, Reviewed, ReviewedTogether
from ullage.context.compaction.decide import ASK_AGAIN_SHARE, Compact, Fullness, Postponed, State, early_saving, may_save
from ullage.context.compaction.economy import (
    ECONOMIES,
    NONE_YET,
    CarriedTokens,
    Economy,
    Outlook,
    Refetched,
    Terms,
    cools_after,
    is_cold,
    outlook,
    since,
    threshold_before_step,
)
from ullage.context.compaction.undoing import NewestUndone, left_by_newest, replied_since
from ullage.context.compaction_entries import Compaction, SpentInVain
from ullage.context.counting.accounting import Counted
from ullage.context.counting.gauge import USUAL_GROWTH, growth, threshold_of
from ullage.context.entries import Forked, Logged, SizeStated
from ullage.context.policy import Policy
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection

FAILURES = 3
"""Failures in a row that open the breaker (as in Claude Code)."""

PAUSES = (60.0, 300.0, 900.0)
"""Seconds until it is tried again, after the first, the second and every later opening (as in Hermes)."""

RETRY_AFTER = 20
"""Entries of the log. After a compaction that is to save came to nothing, none is tried before so many were logged."""


MOST_CALLS, WITHIN_SECONDS = 24, 600.0
REST_SECONDS = 1_800.0
"""Seconds for which no summary is asked of a model after too many calls (`MOST_CALLS` within `WITHIN_SECONDS`, as in lossless-claw)."""


class Breaker:
    """Stops trying for a while after three failures in a row, longer each time. Times are Unix seconds and come from the caller."""

    def __init__(self) -> None:
        self._failures = 0
        self._openings = 0
        self._closed_at = 0.0

    def is_open(self, now: float) -> bool:
        """Whether a try must not be made now. After the pause one try is let through (half-open)."""
        return now < self._closed_at

    def seconds_left(self, now: float) -> float:
        """Seconds until the next try is let through; 0 if one may be made now."""
        return max(0.0, self._closed_at - now)

    def failed(self, now: float) -> None:
        """Notes that a try failed. When half-open, one failure is enough to open it again."""
        self._failures += 1
        if self._failures >= FAILURES or self._openings:
            self._closed_at = now + PAUSES[min(self._openings, len(PAUSES) - 1)]
            self._openings += 1
            self._failures = 0

    def succeeded(self) -> None:
        """Notes that a try worked: all failures are forgotten."""
        self._failures = 0
        self._openings = 0
        self._closed_at = 0.0


class SpendGuard:
    """Counts the summaries that a model is asked for in one session: many within minutes mean that something goes round in circles.

    Times are Unix seconds and come from the caller.
    """

    def __init__(self) -> None:
        self._calls = deque[float]()
        self._rests_until = 0.0

    def rests(self, now: float) -> bool:
        """Whether no model may be asked for a summary now."""
        return now < self._rests_until

    def called(self, now: float) -> None:
        """Notes that a model is asked for a summary now."""
        self._calls.append(now)
        while self._calls[0] < now - WITHIN_SECONDS:
            self._calls.popleft()
        if len(self._calls) >= MOST_CALLS:
            self._rests_until = now + REST_SECONDS
            self._calls.clear()


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The things that the decision depends on and that no log tells."""

    policy: Policy
    economy: Economy
    terms: Terms | None
    """The model's prices; None if they are not known, or it costs nothing."""
    by_model: bool
    """Whether a model would write the summary."""
    auto: bool = True
    """Whether the user allows compactions that nobody asked for."""
    postponed: Postponed = "none"
    cache_lives: float | None = None
    """Seconds that the prompt cache lives after the start of a request; None: five minutes."""
    elsewhere: Refetched = NONE_YET
    """What the compactions of the workspace's other sessions brought about, as known when this session was opened."""


def threshold_in_force(policy: Policy, window: int, economy: Economy, long_prompt: int | None, cap: int | None = None) -> int:
    """Tokens from which on the context counts as full. `long_prompt` is the size over which every token costs more, `cap` the user's own
    limit."""
    full = threshold_of(window, policy.threshold, cap)
    return threshold_before_step(full, long_prompt, ECONOMIES[economy]) if policy.saves else full


class Gathering:
    """Gathers what the decision looks at, for one log. It keeps what it read, so that asking again costs only what is new."""

    def __init__(self) -> None:
        self._breaker = Breaker()
        self._taken_back = NewestUndone()
        self._nothing_below = 0
        self._in_vain_at: int | None = None
        self._growth = (0, USUAL_GROWTH)
        self._key: EpochKey | None = None
        self._read = 0
        self._carried = CarriedTokens(0, 0)
        self._refetched = 0, NONE_YET
        """The index up to which the log was read for this, and what its compactions brought about."""

    # The state as it is now

    def state(self, view: Projection, full: Fullness, around: Circumstances, now: float, prepared: Callable[[], bool]) -> State:
        """All values that the decision looks at. `prepared` says whether a draft is ready that leaves the newest turn alone; it is called
        only where that matters."""
        state = State(
            around.policy,
            full,
            auto=around.auto,
            replied=replied_since(view),
            left_by_newest=left_by_newest(view),
            grown_since_undo=self._taken_back.grown(view.entries, full.counted.used),
            rests=self._breaker.seconds_left(now),
            usual_growth=self._usual_growth(view.entries),
            in_vain=self._in_vain_at is not None and self._in_vain_at == newest_seq(view.entries),
            nothing_below=self._nothing_below,
            by_model=around.by_model,
        )
        found = self._outlook(state, view, around, around.elsewhere + self.refetched(view.entries), now)
        if found is None or around.terms is None:
            return state
        ready = prepared()
        return replace(state, prepared=ready, saving=early_saving(found, around.terms.token, around.postponed, prepared=ready))

    def _outlook(self, state: State, view: Projection, around: Circumstances, refetched: Refetched, now: float) -> Outlook | None:
        """What a compaction before the threshold would save; None if it would save nothing, or none may be made to save."""
        if around.terms is None or not may_save(state) or self._gave_nothing_lately(view.entries):
            return None
        counted = state.full.counted
        so_far = self._up_to_date(view, counted)
        cold = is_cold(now, so_far.last_at, around.cache_lives)
        options = ECONOMIES[around.economy]
        terms = replace(around.terms, refetching=refetched.usual)
        return outlook(counted.used, counted.fixed, so_far, terms, options, by_model=around.by_model, cold=cold)

    def refetched(self, entries: Sequence[Logged]) -> Refetched:
        """What this session's compactions brought about, as the log tells it: those after which another one was made."""
        read, found = self._refetched
        for index in range(read, len(entries)):
            entry = entries[index].entry
            if isinstance(entry, Forked):  # the entries up to there are of another session
                found = NONE_YET
            elif isinstance(entry, Compaction):
                found = found.after(entry.fetched_again)
        self._refetched = len(entries), found
        return found

    def cools_at(self, view: Projection, counted: Counted, idle_since: float, cache_lives: float | None = None) -> float:
        """The time at which the cache is about to go cold (Unix seconds), if nobody asks anything from `idle_since` on (Unix seconds)."""
        started = self._up_to_date(view, counted).last_at or idle_since
        return max(idle_since, started + cools_after(cache_lives))

    def _up_to_date(self, view: Projection, counted: Counted) -> CarriedTokens:
        entries = view.entries
        if view.key != self._key:
            self._key = view.key
            self._carried = since(view.active, counted.fixed)
            self._read = place_of(entries, view.key.newest + 1) if view.key.newest else 0
        if self._read < len(entries):
            self._carried = self._carried.and_then(*entries[self._read :])
        self._read = len(entries)
        return self._carried

    def _usual_growth(self, entries: Sequence[Logged]) -> int:
        """Tokens that a turn usually adds. They are looked up once for each new entry, since every keystroke asks for them."""
        seq, known = self._growth
        newest = newest_seq(entries)
        if seq != newest:
            seq, known = self._growth = newest, growth(entries)
        return known

    # What tries came to

    def tried(self, compact: Compact, policy: Policy, full: Fullness, seq: int, now: float, *, made: bool, told: bool = False) -> None:
        """Notes that a decided compaction was made, or came to nothing. `full` is how full the context is now, `seq` the newest entry.

        `told`: the user was told of a failure. That another policy finds nothing to do at its threshold is no failure: at the window
        Ullage's own engine stands in for it.
        """
        if not made and compact.trigger in ("economy", "idle"):
            self.gave_nothing(seq)  # the same log would give nothing again, and a summary each time would not save
        if compact.trigger == "threshold":
            nothing = not made and policy.has_stand_in
            self._nothing_below = full.used + int(full.threshold * ASK_AGAIN_SHARE) if nothing else 0
        if compact.trigger == "economy":
            return
        if made:
            self._breaker.succeeded()
        elif compact.must or not policy.has_stand_in or told:
            self._breaker.failed(now)

    def gave_nothing(self, seq: int) -> None:
        """Notes that a compaction of the log with `seq` as its newest entry came to nothing."""
        self._in_vain_at = seq

    def settings_changed(self) -> None:
        """Notes that another policy may be in force, which then is asked at once."""
        self._nothing_below = 0

    def _gave_nothing_lately(self, entries: Sequence[Logged]) -> bool:
        """Whether few entries were logged since a compaction came to nothing."""
        if self._in_vain_at is None:
            return False
        came = 0
        for logged in reversed(entries):
            if logged.seq <= self._in_vain_at or came >= RETRY_AFTER:
                break
            came += not isinstance(logged.entry, _ASIDE)
        return came < RETRY_AFTER


_ASIDE = SpentInVain | SizeStated | FilesChanged | Reviewed | ReviewedTogether
"""Kinds of entries that no compaction could be about."""


def newest_seq(entries: Sequence[Logged]) -> int:
    """The seq of the newest entry that a compaction could be about; 0 if there is none."""
    return next((logged.seq for logged in reversed(entries) if not isinstance(logged.entry, _ASIDE)), 0)

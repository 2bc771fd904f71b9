"""How full the context of a simulated session is, and whether it pays to compact before it is full.

Both are counted as a live session counts them. A reply of the simulated log has the usage that its request would have had. The estimates
learn from that usage, reply by reply, so the decision sees what the gauge would have shown, and no more. What a request costs is laid
out elsewhere (`block_sizes.py`). Whether one saves is asked as often as the agent would ask (`session/compacting/saving.py`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ullage.context.compaction.assemble import Sizes
from ullage.context.compaction.decide import Fullness, State
from ullage.context.compaction.economy import (
    COOLING_SECONDS,
    ECONOMIES,
    Economy,
    Terms,
    is_cold,
    line_before_step,
    pays,
    pays_before_cold,
    pays_when_cold,
    since,
)
from ullage.context.compaction.economy import (
    Carried as SoFar,
)
from ullage.context.compaction.undoing import left_by_newest, replied_since
from ullage.context.counting.accounting import Account, Counted, learned, prompt_tokens
from ullage.context.counting.categories import FixedParts
from ullage.context.counting.gauge import Measuring, growth, line
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import UserPrompt
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.replay.pricing.prompt_cache import TTL_SECONDS, RequestShape
from ullage.replay.pricing.recorded_models import image_limits, prices_of, tokenizer_share
from ullage.replay.simulating.carried import UNSEEN_PRELUDE, Carried
from ullage.replay.simulating.prepared import Prepared, Settings


class Measures:
    """Of one session under one policy. `largest_line` and `largest_window` are the largest that were asked for."""

    def __init__(self, session: Prepared, policy: Policy, settings: Settings, carried: Carried) -> None:
        self.largest_line = 0
        self.largest_window = 0
        self._policy = policy
        self._settings = settings
        self._carried = carried
        self._windows = session.windows(settings)
        self._account = Account()
        self._measuring = Measuring()
        self._learned: dict[str, Calibration] = {}
        self._fixed: dict[str, FixedParts] = {}
        self._precedes = session.precedes
        self._growth = (-1, 0)

    # The decision

    def state(self, model: str, nothing_below: int, *, in_vain: bool = False) -> State:
        """What the decision looks at: nothing was undone, nothing failed. `nothing_below` and `in_vain` as in `State`."""
        projection = self._carried.projection
        return State(
            self._policy,
            self.fullness(model),
            replied=replied_since(projection),
            left_by_newest=left_by_newest(projection),
            usual_growth=self._usual_growth(),
            in_vain=in_vain,
            nothing_below=nothing_below,
            by_model=True,
        )

    def fullness(self, model: str) -> Fullness:
        """How full it is now."""
        calibration, window = self.calibration(model), self.window(model)
        counted = self.counted(model)
        used = self._measuring.measured(self._policy.measure, counted.used, self._carried.projection, calibration)
        return Fullness(counted, used, self.line(model), window, window)

    def _usual_growth(self) -> int:
        seq, known = self._growth
        entries = self._carried.projection.entries
        if seq != len(entries):
            seq, known = self._growth = len(entries), growth(entries)
        return known

    # Tokens

    def counted(self, model: str) -> Counted:
        """What the context holds."""
        return self._account.count(self._carried.projection, self.calibration(model))

    def after(self, view: Projection, model: str) -> int:
        """What another view of the same log would hold; nothing changes."""
        return self._account.copy().count(view, self.calibration(model)).used

    def of_prompt(self, prompt: UserPrompt, model: str) -> int:
        """What a prompt will take that is still to come."""
        return prompt_tokens(prompt, self.calibration(model))

    def sizes(self, model: str) -> Sizes:
        """What a compaction is planned by."""
        return Sizes(self.counted(model).used, self.line(model), self.window(model), self.calibration(model))

    def learn(self, model: str) -> None:
        """From the reply that was just taken."""
        calibration = self.calibration(model)
        self._learned[model] = learned(self.counted(model), self._carried.projection, calibration, self._fixed[model])

    def calibration(self, model: str) -> Calibration:
        """How tokens are counted for that model by now."""
        known = self._learned.get(model)
        if known is None:
            name = self._settings.as_model or model
            fixed = self._fixed[model] = FixedParts()
            prelude = self._carried.projection.prelude
            if self._precedes and prelude is not None:
                fixed.take_count(prelude, {"system": self._precedes})
            known = self._learned[model] = Calibration(tokenizer_share(name), fixed=fixed, images=image_limits(name))
        return known

    # The threshold

    def line(self, model: str) -> int:
        """Where the policy compacts."""
        full = line(self.window(model), self._policy.line)
        prices = prices_of(model)
        if self._policy.saves and prices is not None:
            full = line_before_step(full, prices.long_prompt, ECONOMIES[self._settings.economy])
        self.largest_line = max(self.largest_line, full)
        return full

    def window(self, model: str) -> int:
        """Tokens that the model takes."""
        window = self._windows[model]
        self.largest_window = max(self.largest_window, window)
        return window


def prelude_of(session: Prepared) -> str:
    """What stands for a prelude that the transcript does not tell; empty where it tells it."""
    return UNSEEN_PRELUDE.format(tokens=session.precedes) if session.precedes else ""


# Saving

Due: TypeAlias = Literal["no", "now", "before cold", "cold"]
"""Nothing to save; compacting now is cheaper than carrying on; it was just before the cache went, when nobody asked; the cache is gone."""


class Saving:
    """Weighs for one session under one policy. Tokens throughout, times in Unix seconds."""

    def __init__(self, policy: Policy, economy: Economy) -> None:
        self._numbers = ECONOMIES[economy] if policy.saves else None
        self._carried: SoFar | None = None

    def requested(self, tokens: int, at: float, fixed: int) -> None:
        """A request was made that held so many."""
        so_far = self._carried or since((), fixed)
        self._carried = SoFar(so_far.beyond + max(0, tokens - so_far.left), so_far.left, at)

    def compacted(self, tokens_after: int) -> None:
        """A compaction left so many."""
        last_at = self._carried.last_at if self._carried is not None else 0.0
        self._carried = SoFar(0, tokens_after, last_at)

    def due(self, recorded: RequestShape, used: int, fixed: int, *, by_model: bool, idle: bool) -> Due:
        """Whether a compaction is due before this request, which comes after a pause of the user where `idle`."""
        if self._numbers is None or self._carried is None:
            return "no"
        terms = terms_of(recorded)
        if terms is None:
            return "no"
        lives = TTL_SECONDS[recorded.marks[0].ttl]
        if is_cold(recorded.at, self._carried.last_at, lives):
            if idle and pays_before_cold(used, fixed, self._carried, terms, self._numbers, by_model=by_model):
                return "before cold"
            return "cold" if pays_when_cold(used, self._carried, terms, self._numbers) else "no"
        return "now" if pays(used, fixed, self._carried, terms, self._numbers, by_model=by_model) else "no"

    def before_cold(self, recorded: RequestShape) -> float:
        """When the compaction before the cache went would have been made."""
        last_at = self._carried.last_at if self._carried is not None else recorded.at
        return last_at + COOLING_SECONDS * TTL_SECONDS[recorded.marks[0].ttl] / TTL_SECONDS["5m"]


def terms_of(recorded: RequestShape) -> Terms | None:
    """The proportions of the prices of the model that is asked; None where they are not known."""
    prices = prices_of(recorded.model)
    if prices is None or not prices.input:
        return None
    written = prices.cache_write_1h if recorded.marks[0].ttl == "1h" else prices.cache_write_5m
    return Terms(prices.cache_read / prices.input, written / prices.input, prices.output / prices.input)

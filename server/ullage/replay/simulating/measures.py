"""How full the context of a simulated session is, and what the decision looks at besides.

Both are counted and gathered as in a live session. A reply of the simulated log has the usage that its request would have had. The
estimates learn from that usage, reply by reply, so the decision sees what the gauge would have shown, and no more. What a request costs is
laid out elsewhere (`block_sizes.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from ullage.context.compaction.decide import Fullness, State
from ullage.context.compaction.draft import DraftSizes
from ullage.context.compaction.economy import Terms
from ullage.context.compaction.gathering import Circumstances, Gathering, threshold_in_force
from ullage.context.counting.accounting import Account, Counted, Stated, learned, prompt_tokens
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.gauge import Measuring
from ullage.context.counting.prompt_cache import TTL_SECONDS, RequestShape
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import UserPrompt
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.replay.pricing.recorded_models import image_limits, prices_of, tokenizer_share
from ullage.replay.simulating.carried import UNSEEN_PRELUDE, CarriedSession
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings


class Measures:
    """Measures the context of one session under one policy. `largest_threshold` and `largest_window` are the largest that were asked
    for."""

    def __init__(self, session: PreparedSession, policy: Policy, settings: ReplaySettings, carried: CarriedSession) -> None:
        self.largest_threshold = 0
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
        self.gathering = Gathering()

    # The decision

    def state(self, request: RequestShape, now: float, prepared: Callable[[], bool]) -> State:
        """The state that the decision looks at. `request` is to come: it says which model is asked, and how long its cache lives."""
        lives = TTL_SECONDS[request.marks[0].ttl]
        elsewhere = self._settings.elsewhere
        around = Circumstances(
            self._policy, self._settings.economy, self.terms(request), by_model=True, cache_lives=lives, elsewhere=elsewhere
        )
        return self.gathering.state(self._carried.projection, self.fullness(request.model), around, now, prepared)

    def terms(self, request: RequestShape) -> Terms | None:
        """The proportions of what tokens cost for that request; None if the prices of its model are not known."""
        prices = prices_of(request.model)
        return prices.terms(for_an_hour=request.marks[0].ttl == "1h") if prices is not None else None

    def cools_at(self, request: RequestShape, idle_since: float) -> float:
        """When the cache would be about to go cold, if nobody asked anything from then on (Unix seconds)."""
        lives = TTL_SECONDS[request.marks[0].ttl]
        return self.gathering.cools_at(self._carried.projection, self.counted(request.model), idle_since, lives)

    def fullness(self, model: str) -> Fullness:
        """How full the context is now."""
        calibration, window = self.calibration(model), self.window(model)
        counted = self.counted(model)
        used = self._measuring.measured(self._policy.measure, counted.used, self._carried.projection, calibration)
        return Fullness(counted, used, self.threshold(model), window, window)

    # Tokens

    def counted(self, model: str) -> Counted:
        """The counted tokens of what the context holds."""
        return self._account.count(self._carried.projection, self.calibration(model))

    def after(self, view: Projection, model: str) -> int:
        """How many tokens another view of the same log would hold; nothing changes."""
        return self._account.copy().count(view, self.calibration(model)).used

    def of_prompt(self, prompt: UserPrompt, model: str) -> int:
        """How many tokens a prompt will take that is still to come."""
        return prompt_tokens(prompt, self.calibration(model))

    def sizes(self, model: str) -> DraftSizes:
        """The sizes by which a compaction is planned."""
        return DraftSizes(self.counted(model).used, self.threshold(model), self.window(model), self.calibration(model))

    def refused(self, model: str, tokens: int) -> None:
        """Notes that the API has refused the request as too long, and named its size."""
        view, calibration = self._carried.projection, self.calibration(model)
        counted = self._account.count(view, calibration)
        self._account.state(Stated(view.key, view.entries[-1].seq, tokens, counted.categories, calibration.fixed))

    def learn(self, model: str) -> None:
        """Learns how tokens are counted from the reply that was just taken."""
        calibration = self.calibration(model)
        self._learned[model] = learned(self.counted(model), self._carried.projection, calibration, self._fixed[model])

    def calibration(self, model: str) -> Calibration:
        """How tokens are counted for that model, with what was learned so far."""
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

    def threshold(self, model: str) -> int:
        """The tokens at which the policy compacts with that model."""
        prices = prices_of(model)
        full = threshold_in_force(
            self._policy, self.window(model), self._settings.economy, prices.long_prompt if prices is not None else None
        )
        self.largest_threshold = max(self.largest_threshold, full)
        return full

    def window(self, model: str) -> int:
        """The window of the model, in tokens."""
        window = self._windows[model]
        self.largest_window = max(self.largest_window, window)
        return window


def prelude_of(session: PreparedSession) -> str:
    """The text that stands for a prelude that the transcript does not tell; empty if it tells it."""
    return UNSEEN_PRELUDE.format(tokens=session.precedes) if session.precedes else ""

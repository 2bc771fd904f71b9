"""How full the context of a simulated session is: its tokens as the policy measures them, its line, its window.

This is what the decision to compact looks at, as far as a transcript tells it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import Message
from ullage.context.compaction.decide import Fullness, State
from ullage.context.compaction.newest import left_by_newest, replied_since
from ullage.context.counting.accounting import Counted
from ullage.context.counting.gauge import CHARACTERS_PER_TOKEN, characters_of, line
from ullage.context.economy import ECONOMIES, line_before_step
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.replay.cache import Prefix
from ullage.replay.recorded_models import prices_of
from ullage.replay.simulating.carried import UNSEEN_PRELUDE, Carried
from ullage.replay.simulating.laid_out import LaidOut
from ullage.replay.simulating.prepared import Prepared, Settings


class Measures:
    """Of one session under one policy. `largest_line` and `largest_window` are the largest that were asked for."""

    def __init__(self, session: Prepared, policy: Policy, settings: Settings, carried: Carried, laid_out: LaidOut) -> None:
        self.largest_line = 0
        self.largest_window = 0
        self._session = session
        self._policy = policy
        self._settings = settings
        self._carried = carried
        self._laid_out = laid_out
        self._windows = session.windows(settings)
        self._prelude = prelude_of(session)

    def state(self, model: str, nothing_below: int) -> State:
        """What the decision looks at: nothing was undone, nothing failed. `nothing_below` as in `State`."""
        projection, used, fixed = self._carried.projection, self.end().tokens, self._laid_out.system.tokens
        window = self.window(model)
        counted = Counted(used, 0, (("system", fixed), ("user", used - fixed)), None)
        return State(
            self._policy,
            Fullness(counted, self.measured(used), self.line(model), window, window),
            replied=replied_since(projection),
            left_by_newest=left_by_newest(projection),
            nothing_below=nothing_below,
            by_model=True,
        )

    def end(self) -> Prefix:
        """Where the next request would end."""
        return self._laid_out.end(self._carried.projection)

    def tokens(self, view: Projection) -> int:
        """Of a view."""
        return self._laid_out.tokens(view)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of messages, estimated with the ratio of the session."""
        return round(sum(self._tokens_of(message) for message in messages) * self._session.sizes.ratio)

    def measured(self, used: int) -> int:
        """What the policy holds against its line where `used` tokens would be sent."""
        match self._policy.measure:
            case "usage":
                return used
            case "messages":
                return self.count(self._carried.projection.messages)
            case "characters / 4":
                memo = self._session.memo
                return sum(memo.characters(message, characters_of) for message in self._carried.projection.messages) // CHARACTERS_PER_TOKEN

    def line(self, model: str) -> int:
        """Where the policy compacts."""
        full = line(self.window(model), self._policy.line)
        prices = prices_of(model)
        if self._policy.saves and prices is not None:
            full = line_before_step(full, prices.long_prompt, ECONOMIES[self._settings.economy])
        self.largest_line = max(self.largest_line, full)
        return full

    def line_of(self, policy: Policy, model: str) -> int:
        """The line where `policy` may stand in for the one in force."""
        own = self.line(model)
        return own if policy is self._policy else min(own, line(self.window(model), policy.line))

    def window(self, model: str) -> int:
        """Tokens that the model takes."""
        window = self._windows[model]
        self.largest_window = max(self.largest_window, window)
        return window

    def _tokens_of(self, message: Message) -> float:
        block = message.blocks[0] if len(message.blocks) == 1 else None
        if block is not None and self._prelude and getattr(block, "text", None) == self._prelude:
            return self._session.precedes / self._session.sizes.ratio
        return self._session.memo.message(message)


def prelude_of(session: Prepared) -> str:
    """What stands for a prelude that the transcript does not tell; empty where it tells it."""
    return UNSEEN_PRELUDE.format(tokens=session.precedes) if session.precedes else ""

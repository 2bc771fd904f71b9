"""What the user says and sees of the next compaction: for how long none is made to save, and how many tokens one would free.

What one would save is weighed in `context/compaction/economy.py`, over what `gathering.py` read there.

The gauge asks after every entry how many tokens would be freed. So nothing is planned for that and no message is read. What would really be
done, message by message, is told by a preview (`context/compaction/forecast.py`); from then on the gauge goes by what that said.
"""

from __future__ import annotations

from ullage.context.compaction.decide import Fullness, Postponed
from ullage.context.compaction.restore import in_room
from ullage.context.compaction.undoing import left_by_newest
from ullage.context.counting.categories import RESULTS
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.view.epoch import EpochKey
from ullage.context.view.projection import Projection

FIXED = ("system", "rules", "tools")
"""The categories of what no compaction takes away."""

FILES = ("files", f"{RESULTS}read_file")
"""The categories that hold texts of files, the likely ones to be read again."""

PROGRAM_SUMMARY_TOKENS = 2_400
"""What a program summary takes ..."""
PROGRAM_SUMMARY_SHARE = 0.04
"""... or this share of the messages. From 125 places in recorded sessions: medians of 1,500 tokens at 10,000 of messages, 1,700 at 36,000,
2,200 at 70,000 and 3,600 at 120,000."""
RESTORED_TOKENS = 19_000
"""What restored files take, by the median of 76 places in recorded sessions ..."""
RESTORED_SHARE = 0.8
"""... or this share of the files in view."""


class Postponing:
    """Keeps for how long the user wants nothing compacted to save."""

    def __init__(self) -> None:
        self.until: Postponed = "none"
        self._turn_began = False

    def ask(self, until: Postponed) -> None:
        """The user says so; `none` takes it back."""
        self.until, self._turn_began = until, False

    def turn_begins(self) -> None:
        """A turn that begins now is the one that is waited for."""
        self._turn_began = True

    def turn_ended(self) -> None:
        """A postponement for the turn is over, if it was asked for before that began."""
        if self.until == "turn" and self._turn_began:
            self.until = "none"
        self._turn_began = False


class LeftOver:
    """What a compaction would leave in one session."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._off = 0
        """How far the guess was from what a preview said under that key (tokens)."""

    def foretold(self, key: EpochKey, full: Fullness, policy: Policy, left: int) -> None:
        """A preview said that `left` tokens would stay of what there is."""
        self._key, self._off = key, left - _guess(full, policy)

    def would_free(self, full: Fullness, policy: Policy, projection: Projection) -> int:
        """About how many tokens a compaction now would free."""
        used = full.counted.used
        if projection.key == self._key:
            return max(0, used - _guess(full, policy) - self._off)
        if used <= left_by_newest(projection):
            return 0  # nothing came since
        return max(0, used - _guess(full, policy))


def _guess(full: Fullness, policy: Policy) -> int:
    """What is fixed, the tail, a usual program summary and the files that are usually read again (tokens)."""
    policy = ULLAGE if policy.never else policy  # asked, that compacts by Ullage's own engine
    used, categories = full.counted.used, dict(full.counted.categories)
    fixed = sum(categories.get(name, 0) for name in FIXED)
    record = min(PROGRAM_SUMMARY_TOKENS, int(PROGRAM_SUMMARY_SHARE * max(0, used - fixed)))
    in_view = sum(categories.get(name, 0) for name in FILES)
    left = fixed + min(policy.tail_tokens, used // 4) + record
    if policy.restore is None:
        return left
    room = in_room(policy.restore, full.threshold - left, full.window - left).total_tokens
    return left + min(RESTORED_TOKENS, int(RESTORED_SHARE * in_view), room)

"""What a compaction now would bring: the money that it saves before its threshold, and the tokens that it frees.

What carrying has cost so far is kept up to date, a reply at a time. What is weighed against what is known in
`context/compaction/economy.py`. The user may want nothing compacted to save for a while. The compaction
itself is the business of `room.py`.

The gauge asks after every entry how many tokens would be freed. So nothing is planned for that and no message is read. What would really be
done, message by message, is told by a preview (`Compactor.forecast`); from then on the gauge goes by what that said.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.compaction.decide import Fullness, Postponed
from ullage.context.compaction.economy import ECONOMIES, Carried, Outlook, Terms, is_cold, outlook, since
from ullage.context.compaction.restore import in_room
from ullage.context.compaction.undoing import left_by_newest
from ullage.context.counting.accounting import Counted
from ullage.context.counting.categories import RESULTS
from ullage.context.entries import Logged
from ullage.context.policies.ullage import ULLAGE, UllageEngine
from ullage.context.policy import Policy
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection
from ullage.models.model import ModelCard
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings

FIXED = ("system", "rules", "tools")
"""The categories of what no compaction takes away."""

FILES = ("files", f"{RESULTS}read_file")
"""The categories that hold texts of files, the likely ones to be read again."""

TAIL_TOKENS = 20_000
"""What stays as it is beside a summary under the policies of others, as most of them have it; Ullage's own engine says it by a number."""
RECORD_TOKENS = 4_500
"""What a record takes ..."""
RECORD_SHARE = 0.12
"""... or this share of the messages. As the two of restored files, from 263 places in recorded sessions: the median of what was to be told
is 4 % off there, nine of ten are less than 22 % off; without regard to files it was 50 %."""
RESTORED_TOKENS = 12_000
"""What five restored files take ..."""
RESTORED_SHARE = 0.6
"""... or this share of the files in view."""


class Saving:
    """Weighs for one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._key: EpochKey | None = None
        self._read = 0
        self._carried = Carried(0, 0)

    def outlook(self, counted: Counted, card: ModelCard) -> Outlook | None:
        """What a compaction before the threshold would save; None where it would not."""
        terms, numbers = terms_of(card), ECONOMIES[self._surroundings.settings.economy]
        if terms is None:
            return None
        so_far = self._up_to_date(counted)
        by_model = card.writes_summaries and self._surroundings.settings.summary_engine == "model"
        cold = is_cold(self._conversation.clock(), so_far.last_at)
        return outlook(counted.used, _fixed(counted), so_far, terms, numbers, by_model=by_model, cold=cold)

    def last_request(self, counted: Counted) -> float:
        """When the newest request of this epoch started (Unix seconds); 0 where there was none."""
        return self._up_to_date(counted).last_at

    def _up_to_date(self, counted: Counted) -> Carried:
        projection = self._conversation.projection
        entries = projection.entries
        if projection.key != self._key:
            self._key = projection.key
            self._carried = since(projection.active, _fixed(counted))
            self._read = _after_newest(entries, projection.key)
        if self._read < len(entries):
            self._carried = self._carried.and_then(*entries[self._read :])
        self._read = len(entries)
        return self._carried


def terms_of(card: ModelCard) -> Terms | None:
    """The proportions of a model's prices; None where they are not known, or it costs nothing."""
    prices = card.prices
    if prices is None or not prices.input:
        return None
    return Terms(prices.cache_read / prices.input, prices.cache_write_5m / prices.input, prices.output / prices.input)


def _after_newest(entries: Sequence[Logged], key: EpochKey) -> int:
    """The index of the first entry after the newest compaction in force."""
    return place_of(entries, key.newest + 1) if key.newest else 0


def _fixed(counted: Counted) -> int:
    return sum(tokens for name, tokens in counted.categories if name in FIXED)


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
    """What is fixed, the tail, a usual record and the files that are usually read again (tokens)."""
    policy = ULLAGE if policy.never else policy  # asked, that compacts by Ullage's own engine
    used, categories = full.counted.used, dict(full.counted.categories)
    fixed = sum(categories.get(name, 0) for name in FIXED)
    own = policy.engine.numbers.summary.tail_tokens if isinstance(policy.engine, UllageEngine) else TAIL_TOKENS
    record = min(RECORD_TOKENS, int(RECORD_SHARE * max(0, used - fixed)))
    in_view = sum(categories.get(name, 0) for name in FILES)
    left = fixed + min(own, used // 4) + record
    if policy.restore is None:
        return left
    room = in_room(policy.restore, full.line - left, full.window - left).total_tokens
    return left + min(RESTORED_TOKENS, int(RESTORED_SHARE * in_view), room)

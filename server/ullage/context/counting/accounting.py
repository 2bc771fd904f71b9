"""The one number: how many tokens the context holds, by what the model reported and an estimate of what came since.

The gauge shows it and the trigger compares it. `gauge.py` says where the threshold is, `categories.py` what is counted under which name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ullage.context.blocks import Message, ToolUse, Usage
from ullage.context.counting.categories import FIXED, CategorySizes, CategoryTally, Priced, category_in, in_order, is_believed, shared_out
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.media import LIMITS, ImageLimits, shown_tokens
from ullage.context.counting.tokens import (
    MESSAGE_TOKENS,
    Calibration,
    Counts,
    Fixed,
    TokenParts,
    countable,
    estimate_parts,
    estimate_text_of,
    remember,
    tools_of,
)
from ullage.context.entries import AssistantReply, Prelude, UserPrompt
from ullage.context.view.epoch import EpochKey
from ullage.context.view.fold import prompt_blocks
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection

TELLING_SHARE = 0.3
"""Share of a request that system prompt and tools must have, for its usage to tell what they take."""

ESTIMATED_SHARE = 0.01
"""Share of the context. The number counts as an estimate where more of it than that is one: a short prompt makes none of it."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many tokens the context holds, and how that is known."""

    used: int
    guess: int
    """Tokens of `used` that are only estimated: no reply has priced them and the endpoint has not counted them. Right after a compaction
    that is all but system prompt and tools, in a turn what came since the last reply."""
    categories: tuple[tuple[str, int], ...]
    """The tokens of each category, in a fixed order, results by tool last and largest first. They add up to `used` exactly."""
    priced: Priced | None
    """The newest reply that priced the prefix in force; None if none has."""

    @property
    def estimated(self) -> bool:
        """Whether the number is an estimate: more than `ESTIMATED_SHARE` of it is only estimated."""
        return self.guess > self.used * ESTIMATED_SHARE

    @property
    def fixed(self) -> int:
        """Tokens of system prompt, rules and tools, which no compaction makes less."""
        return sum(tokens for name, tokens in self.categories if name in FIXED)


def learned(counted: Counted, projection: Projection, calibration: Calibration, fixed: FixedParts | None) -> Calibration:
    """The calibration with what the newest priced reply teaches. `fixed` is told what system prompt and tools take, where that shows."""
    priced, prelude = counted.priced, projection.prelude
    if priced is None:
        return calibration
    if fixed is not None and prelude is not None and counted.fixed > counted.used * TELLING_SHARE:
        fixed.take_shown(prelude, dict(counted.categories))
    after = calibration.observe(priced.estimated, priced.reported)
    if priced.messages is not None:
        after = after.observe_messages(*priced.messages)
    return after if priced.counted is None else after.observe_counted(*priced.counted)


def prompt_tokens(prompt: UserPrompt, calibration: Calibration) -> int:
    """About how many tokens a prompt that is still to be logged will take, as the gauge then counts it."""
    text = MESSAGE_TOKENS + sum(map(estimate_text_of, prompt_blocks(prompt)))
    return calibration.of_new(text) + sum(shown_tokens(block, calibration.images) for block in prompt_blocks(prompt))


@dataclass(frozen=True, slots=True)
class Stated:
    """The size of a request as the endpoint stated it: it counted the request, or refused it as too long."""

    key: EpochKey
    seq: int
    """The seq of the newest entry that the request holds."""
    tokens: int
    categories: tuple[tuple[str, int], ...]
    """The tokens of each category that the gauge showed before that."""
    by: Fixed | None
    """The object that tells one model from another, as `Calibration.fixed`: what one model's endpoint states is nothing to another."""


class Account:
    """Counts the context of one session. It keeps what it counted, so that a call costs only what is new since the last."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._counts: Counts | None = None
        self._images = LIMITS
        self._calibration = Calibration()
        self._settled = _Settled(CategoryTally(None))
        self._before: dict[EpochKey, _Settled] = {}
        """What was counted under keys that were in force lately."""
        self._stated: Stated | None = None

    def count(self, projection: Projection, calibration: Calibration) -> Counted:
        """The context as `projection` has it now.

        Starts anew where the epoch key is another one than at the last call, but for one that was in force shortly before; and where
        another tokenizer counts, or images are taken otherwise. The tokenizer is asked for what came since the newest priced reply, or for
        all where there is none; until it has counted that, the estimate stands.
        """
        self._calibration = calibration
        if calibration.counts is not self._counts or calibration.images != self._images:
            self._key, self._counts, self._images = None, calibration.counts, calibration.images
            self._before.clear()
        if projection.key != self._key:
            self._turn_to(projection)
        so_far, settled = self._settled, len(projection.messages) - 1
        for index in range(so_far.messages, settled):
            self._add(so_far.tally, projection, projection.messages[index])
        if so_far.messages < settled:
            so_far.messages, so_far.last = settled, projection.messages[settled - 1]
        so_far.tally.look_up()
        tally = so_far.tally.beside()
        for message in projection.messages[so_far.messages :]:
            self._add(tally, projection, message)
        tally.look_up()
        if tally.priced is so_far.tally.priced:
            so_far.tally.ask()
        tally.ask()
        sizes = self._since_stated(projection, tally) or tally.sizes(calibration, self._fixed(projection))
        return Counted(sizes.used, sizes.guess, in_order(sizes.categories), tally.priced)

    def state(self, stated: Stated) -> None:
        """Takes in what the endpoint stated of a request. It holds until a later request is stated or priced."""
        known = self._stated
        if known is None or known.key != stated.key or known.by is not stated.by or known.seq <= stated.seq:
            self._stated = stated

    def stated(self, projection: Projection, calibration: Calibration) -> Stated | None:
        """What the endpoint stated of the newest request, if `count` goes by that; else None."""
        return self._holding(projection, self.count(projection, calibration).priced)

    def _since_stated(self, projection: Projection, tally: CategoryTally) -> CategorySizes | None:
        """The sizes by what the endpoint stated of a request; None if it stated none, or a reply has priced more since."""
        stated = self._holding(projection, tally.priced)
        if stated is None:
            return None
        since = CategoryTally(self._counts, self._images)
        for message in self._later(projection, stated.seq):
            self._put(since, projection, message, after=stated.seq)
        since.look_up()
        more = since.sizes(self._calibration, None)
        categories = shared_out(stated.tokens, dict(stated.categories) or {"user": 1})
        for name, tokens in more.categories.items():
            categories[name] = categories.get(name, 0) + tokens
        used = stated.tokens + more.used
        return CategorySizes(used, more.guess, shared_out(used, categories, self._known(projection, categories)))

    def _holding(self, projection: Projection, priced: Priced | None) -> Stated | None:
        """What the endpoint stated, if it still tells most: of this view, by this model, and no reply has priced more since. Else None."""
        stated = self._stated
        if stated is None or stated.key != projection.key or stated.by is not self._calibration.fixed:
            return None
        return None if priced is not None and priced.seq > stated.seq else stated

    def _later(self, projection: Projection, seq: int) -> list[Message]:
        """The messages that hold something newer than entry `seq`, which are few."""
        messages = projection.messages
        first = len(messages)
        while first and max(messages[first - 1].sources, default=0) > seq:
            first -= 1
        return list(messages[first:])

    def _fixed(self, projection: Projection) -> Mapping[str, int] | None:
        return None if self._calibration.fixed is None else self._calibration.fixed.of(projection.prelude)

    def _known(self, projection: Projection, categories: Mapping[str, float]) -> Mapping[str, int]:
        fixed = self._fixed(projection) or {}
        return {name: tokens for name, tokens in fixed.items() if name in categories}

    def learn(self, ahead: Account) -> None:
        """Keeps what `ahead` counted of the same log under a key that may come in force. `ahead` must not be used any more."""
        key, settled = ahead.settled
        same = settled.tally.counts is self._counts and settled.tally.images == self._images
        if key is not None and key != self._key and same:
            self._before[key] = settled
            self._forget_the_oldest()

    @property
    def settled(self) -> tuple[EpochKey | None, _Settled]:
        """What was counted so far, and the key that it was counted under."""
        return self._key, self._settled

    def copy(self) -> Account:
        """A copy that knows as much of epochs that are not in force, and starts anew for the one that is."""
        other = Account()
        other._counts, other._images, other._stated = self._counts, self._images, self._stated
        other._before = {key: settled.copy() for key, settled in self._before.items()}
        return other

    def _turn_to(self, projection: Projection) -> None:
        if self._key is not None:
            self._before[self._key] = self._settled
        self._key = projection.key
        known = self._before.pop(projection.key, None)
        self._forget_the_oldest()
        if known is None or not known.holds(projection):
            known = _begun(projection, self._counts, self._images)
        self._settled = known

    def _forget_the_oldest(self) -> None:
        while len(self._before) > EPOCHS_KEPT:
            del self._before[next(iter(self._before))]

    def _add(self, tally: CategoryTally, projection: Projection, message: Message) -> None:
        usage = _usage_of(projection, message)
        before, exact = tally.total, tally.exact
        asked = tally.begin_reply() if usage is not None else None
        self._put(tally, projection, message)
        if tally.exact == exact:  # what images take depends on the model, and the remembered estimate does not
            remember(message, tally.total - before)
        if usage is None or asked is None:
            return
        if is_believed(usage[2], before, tally.total - before):
            tally.price(*usage, asked, self._calibration, self._fixed(projection))
        else:
            tally.take_back(asked)

    def _put(self, tally: CategoryTally, projection: Projection, message: Message, *, after: int = 0) -> None:
        """Adds the blocks of a message that entries newer than `after` brought."""
        if not message.sources or message.sources[0] > after:
            tally.put_parts(message.role, TokenParts(MESSAGE_TOKENS, ()))
        for block, seq in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, ToolUse):
                self._settled.tools[block.id] = block.name
            if seq <= after:
                continue
            source = entry_at(projection.entries, seq)
            category = category_in(message.role, block, source, self._settled.tools)
            parts = countable(block)
            tally.put(category, estimate_text_of(block) if parts is None else estimate_parts(parts), parts)
            tally.show(category, shown_tokens(block, tally.images))


def _usage_of(projection: Projection, message: Message) -> tuple[int, str, Usage] | None:
    """The seq, the model and the usage of a message that is a reply which priced the prefix in force; None if it is none."""
    if message.role != "assistant" or not message.sources:
        return None
    seq = message.sources[-1]
    reply = entry_at(projection.entries, seq)
    if not isinstance(reply, AssistantReply) or reply.usage is None or projection.key_at(seq) != projection.key:
        return None
    return seq, reply.model, reply.usage


EPOCHS_KEPT = 4
"""Epochs whose counts are remembered: undo and redo lead back to the last ones, and a count is small."""


@dataclass(slots=True)
class _Settled:
    """The sums under one key over those messages that no longer change."""

    tally: CategoryTally
    prelude: Prelude | None = None
    tools: dict[str, str] = field(default_factory=dict[str, str])
    """The names of the tools that were called, by the id of the call."""
    messages: int = 0
    """The number of these messages."""
    last: Message | None = None
    """The last of these messages. If the view still has this very object, all of them are still the same."""

    def holds(self, projection: Projection) -> bool:
        """Whether the sums are of this view: one that was folded anew may read otherwise."""
        if self.messages and (self.messages > len(projection.messages) or self.last is not projection.messages[self.messages - 1]):
            return False
        return self.prelude == projection.prelude

    def copy(self) -> _Settled:
        """A copy that goes on by itself."""
        return replace(self, tally=self.tally.copy(), tools=dict(self.tools))


def _begun(projection: Projection, counts: Counts | None, images: ImageLimits) -> _Settled:
    """The sums of what precedes the messages."""
    begun = _Settled(CategoryTally(counts, images), projection.prelude)
    if projection.prelude is not None:
        for part in projection.prelude.system:
            begun.tally.put_parts(part.category, TokenParts(0, (part.text,)))
        begun.tally.put_parts("tools", tools_of(projection.prelude))
        begun.tally.preceding = {name: since.estimated for name, since in begun.tally.since.items()}
    return begun

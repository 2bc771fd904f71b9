"""The one number: how many tokens the context holds, by what the model reported and an estimate of what came since.

The gauge shows it and the trigger compares it. Where the line is stands in `gauge.py`, what is counted under which name in
`categories.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ullage.context.blocks import CompactionBlock, ToolUse, Usage
from ullage.context.counting.believed import is_believed
from ullage.context.counting.categories import category_of, scaled
from ullage.context.counting.counts import Counts, Parts, counted
from ullage.context.counting.media import LIMITS, ImageLimits, shown_tokens
from ullage.context.counting.tokens import (
    MESSAGE_TOKENS,
    Calibration,
    countable,
    estimate_parts,
    estimate_text_of,
    remember,
    tools_of,
)
from ullage.context.entries import AssistantReply, Prelude
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import entry_at
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Priced:
    """A reply whose usage priced the prefix in force; what a `Calibration` learns from (tokens of its request).

    What images and documents take by their formula is in none of the numbers: no ratio is learned from it.
    """

    seq: int
    model: str
    estimated: int
    """By kind of text, before any calibration."""
    reported: int
    counted: tuple[int, int] | None = None
    """What a tokenizer counted of what was new in its request, and what was reported for that; None where not all of it was counted."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the context holds (tokens)."""

    used: int
    estimated: bool
    """True where no reply has priced the prefix in force: at the start, and after a compaction, an undo or a change of
    the prelude until the next reply. What was appended since a priced reply (a few results) is estimated too, but does
    not make the number an estimate."""
    categories: tuple[tuple[str, int], ...]
    """Name and tokens, in a fixed order, results by tool last and largest first. They add up to `used` exactly."""
    priced: Priced | None
    """The newest reply that priced the prefix in force; None where `estimated`."""


class Account:
    """Counts the context of one session. Keeps what it counted, so that a call costs what is new since the last."""

    def __init__(self) -> None:
        self._key: EpochKey | None = None
        self._counts: Counts | None = None
        self._images = LIMITS
        self._settled = _Settled(_Tally(None))
        self._before: dict[EpochKey, _Settled] = {}
        """What was counted under keys that were in force lately."""

    def count(self, projection: Projection, calibration: Calibration) -> Counted:
        """The context as `projection` has it now.

        Starts anew where the epoch key is another one than at the last call, but for one that was in force shortly before; and where
        another tokenizer counts, or images are taken otherwise. The tokenizer is asked for what came since the newest priced reply, or for
        all where there is none; until it has counted that, the estimate stands.
        """
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
        return tally.counted(calibration)

    def learn(self, ahead: Account) -> None:
        """Keeps what `ahead` counted of the same log under a key that may come in force; it must not be used any more."""
        key, settled = ahead.settled
        same = settled.tally.counts is self._counts and settled.tally.images == self._images
        if key is not None and key != self._key and same:
            self._before[key] = settled
            self._forget_the_oldest()

    @property
    def settled(self) -> tuple[EpochKey | None, _Settled]:
        """What was counted so far, under which key."""
        return self._key, self._settled

    def copy(self) -> Account:
        """Another one that knows as much of the epochs that are not in force, and starts anew for the one that is."""
        other = Account()
        other._counts, other._images = self._counts, self._images
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

    def _add(self, tally: _Tally, projection: Projection, message: Message) -> None:
        usage = _usage_of(projection, message)
        before, exact, new = tally.total, tally.exact, tally.counted_whole() if usage is not None else None
        tally.put_parts(message.role, Parts(MESSAGE_TOKENS, ()))
        for block, seq in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, ToolUse):
                self._settled.tools[block.id] = block.name
            source = entry_at(projection.entries, seq)
            said = message.role == "assistant" and not isinstance(block, CompactionBlock)
            category = "assistant" if said else category_of(block, source, self._settled.tools)
            parts = countable(block)
            tally.put(category, estimate_text_of(block) if parts is None else estimate_parts(parts), parts)
            tally.show(category, shown_tokens(block, tally.images))
        if tally.exact == exact:  # what images take depends on the model, and what is remembered does not
            remember(message, tally.total - before)
        if usage is not None and is_believed(usage[2], before, tally.total - before):
            tally.price(*usage, before - exact, exact, new)


def _usage_of(projection: Projection, message: Message) -> tuple[int, str, Usage] | None:
    """Where the message is a reply that priced the prefix in force: its seq, the model and the usage."""
    if message.role != "assistant" or not message.sources:
        return None
    seq = message.sources[-1]
    reply = entry_at(projection.entries, seq)
    if not isinstance(reply, AssistantReply) or reply.usage is None or projection.key_at(seq) != projection.key:
        return None
    return seq, reply.model, reply.usage


EPOCHS_KEPT = 4
"""Whose counts are remembered: undo and redo lead back to the last, and a count is small."""


class _Part(NamedTuple):
    """Something of a request that a tokenizer can count, and what it is estimated at until it has."""

    estimated: int
    parts: Parts


@dataclass(slots=True)
class _Tally:
    counts: Counts | None
    images: ImageLimits = LIMITS
    total: int = 0
    """Estimated, not calibrated; so are the next two."""
    estimated_since: int = 0
    """Of what came since the newest priced reply, what no tokenizer counted."""
    categories: dict[str, int] = field(default_factory=dict[str, int])
    counted_since: int = 0
    """Of what came since then, what a tokenizer counted."""
    fresh: list[_Part] = field(default_factory=list[_Part])
    """Of what came since then, what it was not asked about yet: part of `estimated_since`, as the next."""
    waiting: list[_Part] = field(default_factory=list[_Part])
    """What it did not know when it was asked."""
    unasked: list[_Part] = field(default_factory=list[_Part])
    """Of what it did not know, what it is still to be asked for."""
    version: int = 0
    """Of what it knew then."""
    priced: Priced | None = None
    context_tokens: int = 0
    """As reported with `priced`."""
    exact: int = 0
    """Of `total`, what images and documents take by their formula."""
    exact_since: int = 0
    """Of what came since the newest priced reply, likewise; not in `estimated_since`."""

    def put_parts(self, category: str, parts: Parts) -> None:
        self.put(category, estimate_parts(parts), parts)

    def put(self, category: str, tokens: int, parts: Parts | None) -> None:
        if not tokens:
            return
        self.total += tokens
        self.estimated_since += tokens
        self.categories[category] = self.categories.get(category, 0) + tokens
        if self.counts is not None and parts is not None:
            self.fresh.append(_Part(tokens, parts))

    def show(self, category: str, tokens: int) -> None:
        """Images and documents, which take just so many tokens."""
        if tokens:
            self.total += tokens
            self.exact += tokens
            self.exact_since += tokens
            self.categories[category] = self.categories.get(category, 0) + tokens

    def look_up(self) -> None:
        """Takes what was counted meanwhile in the place of its estimate. Costs what is new, and what waits where more is known."""
        if self.counts is None:
            return
        knows_more = self.counts.version != self.version
        self.version = self.counts.version
        if knows_more:
            self.waiting = self._not_known(self.waiting)
        if self.fresh:
            unknown = self._not_known(self.fresh)
            self.fresh = []
            self.waiting += unknown
            self.unasked += unknown

    def _not_known(self, parts: Sequence[_Part]) -> list[_Part]:
        """Takes what is known of them in the place of its estimate; gives the rest."""
        still: list[_Part] = []
        for part in parts:
            tokens = None if self.counts is None else counted(part.parts, self.counts)
            if tokens is None:
                still.append(part)
                continue
            self.estimated_since -= part.estimated
            self.counted_since += tokens
        return still

    def ask(self) -> None:
        """Asks for what was not known, once."""
        if self.counts is not None and self.unasked:
            self.counts.want([text for part in self.unasked for text in part.parts.texts])
            self.unasked = []

    def price(self, seq: int, model: str, usage: Usage, estimated: int, exact: int, counted: int | None) -> None:
        """What came so far, of which `estimated` and `exact` were the request, has a price."""
        self.priced = Priced(seq, model, estimated, usage.total_input_tokens - exact, self._held_against(counted, model, usage))
        self.context_tokens = usage.context_tokens
        self.estimated_since = self.counted_since = self.exact_since = 0
        self.fresh, self.waiting, self.unasked = [], [], []

    def counted_whole(self) -> int | None:
        """What came since the newest priced reply, as counted; None where not all of it was."""
        self.look_up()
        return None if self.estimated_since else self.counted_since or None

    def _held_against(self, counted: int | None, model: str, usage: Usage) -> tuple[int, int] | None:
        """What was new in a request, as counted and as reported."""
        if counted is None or (self.priced is not None and self.priced.model != model):
            return None
        return counted, usage.total_input_tokens - self.context_tokens - self.exact_since

    def copy(self) -> _Tally:
        """Another one, which need not ask for what this one will."""
        return replace(self, categories=dict(self.categories), fresh=list(self.fresh), waiting=list(self.waiting), unasked=[])

    def beside(self) -> _Tally:
        """Another one for the moment: what waits, which may be all of a long view, was just looked up and stays where it is."""
        return replace(self, categories=dict(self.categories), fresh=[], waiting=[], unasked=[])

    def counted(self, calibration: Calibration) -> Counted:
        used = self.context_tokens + calibration.apply(self.estimated_since, self.counted_since) + self.exact_since
        return Counted(
            used=used,
            estimated=self.priced is None,
            categories=scaled(self.categories, used),
            priced=self.priced,
        )


@dataclass(slots=True)
class _Settled:
    """What was counted under one key: of the messages that no longer change."""

    tally: _Tally
    prelude: Prelude | None = None
    tools: dict[str, str] = field(default_factory=dict[str, str])
    """The names of the calls by id."""
    messages: int = 0
    """How many."""
    last: Message | None = None
    """The last of them, by whose identity it is known that they are still the same."""

    def holds(self, projection: Projection) -> bool:
        """Whether it was counted of this view: one that was folded anew may read otherwise."""
        if self.messages and (self.messages > len(projection.messages) or self.last is not projection.messages[self.messages - 1]):
            return False
        return self.prelude == projection.prelude

    def copy(self) -> _Settled:
        """Another one that goes on by itself."""
        return replace(self, tally=self.tally.copy(), tools=dict(self.tools))


def _begun(projection: Projection, counts: Counts | None, images: ImageLimits) -> _Settled:
    """What precedes the messages."""
    begun = _Settled(_Tally(counts, images), projection.prelude)
    if projection.prelude is not None:
        for part in projection.prelude.system:
            begun.tally.put_parts(part.category, Parts(0, (part.text,)))
        begun.tally.put_parts("tools", tools_of(projection.prelude))
    return begun

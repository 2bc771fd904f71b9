"""The one number: how many tokens the context holds, by what the model reported and an estimate of what came since.

The gauge shows it and the trigger compares it. Where the line is stands in `gauge.py`, what is counted under which name in
`categories.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.blocks import CompactionBlock, ToolUse
from ullage.context.counting.categories import category_of, scaled
from ullage.context.counting.tokens import (
    MESSAGE_TOKENS,
    Calibration,
    estimate_block,
    estimate_text,
    estimate_tools,
)
from ullage.context.entries import AssistantReply
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import entry_at
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Priced:
    """A reply whose usage priced the prefix in force; what a `Calibration` learns from (tokens of its request)."""

    seq: int
    model: str
    estimated: int
    """Before any calibration."""
    reported: int


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
        self._tally = _Tally()
        self._tools: dict[str, str] = {}
        self._counted_messages = 0

    def count(self, projection: Projection, calibration: Calibration) -> Counted:
        """The context as `projection` has it now. Starts anew where the epoch key is another one than at the last call."""
        if projection.key != self._key:
            self._start(projection)
        settled = len(projection.messages) - 1
        for index in range(self._counted_messages, settled):
            self._add(self._tally, projection, projection.messages[index])
        self._counted_messages = max(self._counted_messages, settled)
        tally = self._tally.copy()
        for message in projection.messages[self._counted_messages :]:
            self._add(tally, projection, message)
        return tally.counted(calibration)

    def _start(self, projection: Projection) -> None:
        self._key = projection.key
        self._tally = _Tally()
        self._tools = {}
        self._counted_messages = 0
        if projection.prelude is None:
            return
        for part in projection.prelude.system:
            self._tally.put(part.category, estimate_text(part.text))
        self._tally.put("tools", estimate_tools(projection.prelude))

    def _add(self, tally: _Tally, projection: Projection, message: Message) -> None:
        before = tally.total
        tally.put(message.role, MESSAGE_TOKENS)
        for block, seq in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, ToolUse):
                self._tools[block.id] = block.name
            source = entry_at(projection.entries, seq)
            said = message.role == "assistant" and not isinstance(block, CompactionBlock)
            category = "assistant" if said else category_of(block, source, self._tools)
            tally.put(category, estimate_block(block))
        if message.role == "assistant" and message.sources:
            tally.price(projection, message.sources[-1], before)


@dataclass(slots=True)
class _Tally:
    total: int = 0
    """Estimated, not calibrated; so are the next two."""
    since_priced: int = 0
    categories: dict[str, int] = field(default_factory=dict[str, int])
    priced: Priced | None = None
    context_tokens: int = 0
    """As reported with `priced`."""

    def put(self, category: str, tokens: int) -> None:
        if not tokens:
            return
        self.total += tokens
        self.since_priced += tokens
        self.categories[category] = self.categories.get(category, 0) + tokens

    def price(self, projection: Projection, seq: int, estimated: int) -> None:
        reply = entry_at(projection.entries, seq)
        if not isinstance(reply, AssistantReply) or reply.usage is None:
            return
        if projection.key_at(seq) != projection.key:
            return
        self.priced = Priced(seq, reply.model, estimated, reply.usage.total_input_tokens)
        self.context_tokens = reply.usage.context_tokens
        self.since_priced = 0

    def copy(self) -> _Tally:
        return _Tally(
            self.total,
            self.since_priced,
            dict(self.categories),
            self.priced,
            self.context_tokens,
        )

    def counted(self, calibration: Calibration) -> Counted:
        used = calibration.apply(self.total)
        if self.priced is not None:
            used = self.context_tokens + calibration.apply(self.since_priced)
        return Counted(
            used=used,
            estimated=self.priced is None,
            categories=scaled(self.categories, used),
            priced=self.priced,
        )

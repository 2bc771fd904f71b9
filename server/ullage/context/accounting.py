"""The one number: how many tokens the context holds, by what the model reported and an estimate of what came since.

The gauge shows it and the trigger compares it. Where the line is stands in `gauge.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ullage.context.blocks import Block, Text, ToolResult, ToolUse
from ullage.context.entries import (
    AssistantReply,
    Compaction,
    Entry,
    Logged,
    Notice,
    Prelude,
    UserPrompt,
)
from ullage.context.message import Message
from ullage.context.tokens import (
    MESSAGE_TOKENS,
    Calibration,
    estimate_block,
    estimate_text,
    estimate_tools,
)


class View(Protocol):
    """What is counted: the projection of a log, of which only this much is looked at."""

    @property
    def entries(self) -> Sequence[Logged]:
        """The whole log, in the order of `seq`."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the next request. While `key` stays the same only the last one may change, and more follow."""
        ...

    @property
    def prelude(self) -> Prelude | None:
        """What stands before the messages; None where none was logged yet."""
        ...

    @property
    def key(self) -> Hashable:
        """The epoch key in force: another one means another prefix."""
        ...

    def key_at(self, seq: int) -> Hashable:
        """The epoch key that was in force when the reply `seq` was made."""
        ...


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
        self._key: Hashable = None
        self._tally = _Tally()
        self._tools: dict[str, str] = {}
        self._counted_messages = 0
        self._started = False

    def count(self, view: View, calibration: Calibration) -> Counted:
        """The context as `view` has it now. Starts anew where the epoch key is another one than at the last call."""
        if not self._started or view.key != self._key:
            self._start(view)
        settled = len(view.messages) - 1
        for index in range(self._counted_messages, settled):
            self._add(self._tally, view, view.messages[index])
        self._counted_messages = max(self._counted_messages, settled)
        tally = self._tally.copy()
        for message in view.messages[self._counted_messages :]:
            self._add(tally, view, message)
        return tally.counted(calibration)

    def _start(self, view: View) -> None:
        self._started = True
        self._key = view.key
        self._tally = _Tally()
        self._tools = {}
        self._counted_messages = 0
        if view.prelude is None:
            return
        for part in view.prelude.system:
            self._tally.put(part.category, estimate_text(part.text))
        self._tally.put("tools", estimate_tools(view.prelude))

    def _add(self, tally: _Tally, view: View, message: Message) -> None:
        before = tally.total
        tally.put(message.role, MESSAGE_TOKENS)
        for block, seq in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, ToolUse):
                self._tools[block.id] = block.name
            source = _entry(view, seq)
            category = "assistant" if message.role == "assistant" else _category(block, source, self._tools)
            tally.put(category, estimate_block(block))
        if message.role == "assistant" and message.sources:
            tally.price(view, message.sources[-1], before)


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

    def price(self, view: View, seq: int, estimated: int) -> None:
        reply = _entry(view, seq)
        if not isinstance(reply, AssistantReply) or reply.usage is None:
            return
        if view.key_at(seq) != view.key:
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
            categories=_scaled(self.categories, used),
            priced=self.priced,
        )


ORDER = ("system", "rules", "tools", "summary", "files", "user", "assistant")
"""Of the categories; those of tool results follow."""
RESULTS = "tool results: "


def _category(block: Block, source: Entry | None, tools: Mapping[str, str]) -> str:
    if isinstance(block, ToolResult):
        return RESULTS + tools.get(block.tool_use_id, "unknown")
    text = block.text if isinstance(block, Text) else ""
    if isinstance(source, UserPrompt):
        return "user" if text == source.text else "files"
    if isinstance(source, Notice):
        return {"file_changed": "files", "rules": "rules", "resume": "user"}[source.about]
    if isinstance(source, Compaction):
        restored = any(file.text == text for file in source.restored)
        return "files" if restored else "summary"
    return "user"


def _entry(view: View, seq: int) -> Entry | None:
    place = bisect_left(view.entries, seq, key=_seq_of)
    if place == len(view.entries) or view.entries[place].seq != seq:
        return None
    return view.entries[place].entry


def _seq_of(logged: Logged) -> int:
    return logged.seq


def _scaled(categories: Mapping[str, int], used: int) -> tuple[tuple[str, int], ...]:
    """The categories in proportion, adding up to `used` by the largest remainder."""
    total = sum(categories.values())
    if not total:
        return ()
    floors = {name: tokens * used // total for name, tokens in categories.items()}
    by_remainder = sorted(categories, key=lambda name: (-(categories[name] * used % total), name))
    for name in by_remainder[: used - sum(floors.values())]:
        floors[name] += 1
    return tuple(sorted(floors.items(), key=_place))


def _place(item: tuple[str, int]) -> tuple[int, int, str]:
    name, tokens = item
    if name in ORDER:
        return ORDER.index(name), 0, name
    return len(ORDER), -tokens, name

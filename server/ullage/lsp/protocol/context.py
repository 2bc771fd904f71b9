"""The wire types of the context view: what fills the window, and how the prompt cache stands. See PROTOCOL.md, "What fills the window"."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import Id

PartKind: TypeAlias = Literal[
    "system",
    "server",
    "rules",
    "tool",
    "summary",
    "file",
    "prompt",
    "reply",
    "call",
    "report",
    "image",
    "command",
    "hook",
    "notice",
    "rest",
]
Reason: TypeAlias = Literal[
    "model", "effort", "system", "rules", "tools", "compaction", "undone", "redone", "excluded", "expired", "evicted"
]


@attrs.frozen
class ContextParams:
    """Params of `context`: which parts, in which order, starting after `offset` of them. `draft` is what the user is typing."""

    session_id: Id
    order: Literal["largest", "newest", "oldest"] | None = None
    of_kind: PartKind | None = None
    only: Literal["pinned", "excluded", "untouched", "new"] | None = None
    text: str | None = None
    offset: int | None = None
    limit: int | None = None
    draft: str | None = None


@attrs.frozen
class ContextPart:
    """One part of what fills the window. `sent`: the next request reads it from the prompt cache, while that is warm."""

    kind: PartKind
    title: str
    tokens: int
    sent: bool
    item_id: str | None = None
    turns_ago: int | None = None
    paths: list[str] | None = None
    touched_since: bool | None = None
    pinned: bool | None = None
    excluded: bool | None = None
    clear_frees: int | None = None
    clear_cost: float | None = None


@attrs.frozen
class ContextKind:
    """The parts of one kind: how many there are, and their tokens together."""

    kind: PartKind
    count: int
    tokens: int


@attrs.frozen
class CacheClock:
    """The state of the prompt cache: until when it lives, how many tokens the next request reads and sends anew, and dollars, warm and
    cold."""

    lives: float
    read: int
    anew: int
    started_at: float | None = None
    warm_cost: float | None = None
    cold_cost: float | None = None
    compact_warm_cost: float | None = None
    compact_cold_cost: float | None = None


@attrs.frozen
class CacheMiss:
    """A request that found less in the cache than the one before had left there, and what had changed. `idle` are seconds."""

    at: float
    tokens: int
    reasons: list[Reason]
    idle: float
    item_id: str | None = None
    cost: float | None = None
    change: str | None = None


@attrs.frozen
class ContextResult:
    """Result of `context`. Sizes are tokens, prices dollars for one token. `largest` and `misses` are empty behind the first page."""

    used: int
    threshold: int
    size: int
    estimated_tokens: int
    kinds: list[ContextKind]
    largest: list[ContextPart]
    total: int
    parts: list[ContextPart]
    cache: CacheClock
    requests: int
    missed: int
    misses: list[CacheMiss]
    read_price: float | None = None
    write_price: float | None = None

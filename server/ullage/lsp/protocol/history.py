"""The wire types of what becomes of a history: compactions, pins, epochs, searches. See PROTOCOL.md, "What becomes of the history"."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import FetchedAgain, Id, RestoredFile, Way

Role: TypeAlias = Literal["user", "assistant", "tool", "notice", "record"]
Fate: TypeAlias = Literal["kept", "clipped", "cleared", "snipped", "summarised", "pinned"]


@attrs.frozen
class PreviewLine:
    """One part of what the model sees now and what would become of it. Sizes are tokens."""

    role: Role
    title: str
    tokens_before: int
    tokens_after: int
    fate: Fate
    item_id: str | None = None


@attrs.frozen
class PreviewCost:
    """The dollars of the summary's call, of the very next request, and of each one after it, without a compaction and with it."""

    summary: float
    next_before: float
    next_after: float
    later_before: float
    later_after: float
    estimate: str | None = None


@attrs.frozen
class Preview:
    """Result of `previewCompaction`. Sizes are tokens; `nothing` says why nothing would change, the rest is empty then."""

    policy: str
    way: Way
    tokens_before: int
    tokens_after: int
    threshold: int
    summary: str
    cleared: int
    snipped: int
    summarised: int
    lines: list[PreviewLine]
    restored: list[RestoredFile]
    cost: PreviewCost | None = None
    nothing: str | None = None


@attrs.frozen
class PreviewParams:
    """Params of `previewCompaction`; `focus` says what the summary should favour."""

    session_id: Id
    focus: str | None = None


@attrs.frozen
class PinParams:
    """Params of `pin`: exactly one of `item_id` and `path`."""

    session_id: Id
    pinned: bool
    item_id: Id | None = None
    path: str | None = None


@attrs.frozen
class ExcludeParams:
    """Params of `exclude`: exactly one of `item_id` and `path`."""

    session_id: Id
    item_id: Id | None = None
    path: str | None = None


@attrs.frozen
class ClearResultParams:
    """Params of `clearResult`: the item of a tool call."""

    session_id: Id
    item_id: Id


@attrs.frozen
class Pins:
    """The items and files that no compaction touches."""

    item_ids: list[str]
    paths: list[str]


@attrs.frozen
class Epoch:
    """The time between two compactions, and what went on in it. The first one has none before it. Sizes are tokens, costs dollars."""

    number: int
    at: float
    current: bool
    requests: int
    compaction_id: str | None = None
    status: Literal["active", "undone"] | None = None
    trigger: Literal["manual", "threshold", "idle", "reactive", "tool", "upkeep", "economy"] | None = None
    way: Way | None = None
    policy: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    compaction_cost: float | None = None
    cost: float | None = None
    restored: list[RestoredFile] | None = None
    cleared: int | None = None
    snipped: int | None = None
    summarised: int | None = None
    excluded_files: list[str] | None = None
    fetched_again: FetchedAgain | None = None


@attrs.frozen
class EpochsParams:
    """Params of `epochs`; `since` asks for the fates of that item and those after it alone."""

    session_id: Id
    since: Id | None = None


@attrs.frozen
class ItemFate:
    """What became of an item; `compaction_id` names the compaction that did it. The other fields are there only in `epochFates`."""

    item_id: str
    fate: Fate
    compaction_id: str | None = None
    role: Role | None = None
    title: str | None = None
    restored: str | None = None


@attrs.frozen
class EpochsResult:
    """Result of `epochs`, oldest first; `fates` has the items that the model does not see as they were."""

    epochs: list[Epoch]
    fates: list[ItemFate]


@attrs.frozen
class EpochFatesParams:
    """Params of `epochFates`: which epoch, which of its messages, starting after `offset` of them."""

    session_id: Id
    number: int
    group: Literal["changed", "before", "kept"] | None = None
    offset: int | None = None
    limit: int | None = None


@attrs.frozen
class EpochFatesResult:
    """Result of `epochFates`: how many messages each group has, and some of the one that was asked for."""

    changed: int
    before: int
    kept: int
    fates: list[ItemFate]


@attrs.frozen
class SearchParams:
    """Params of `ullage/workspace/search`: over all sessions of the workspace."""

    query: str
    limit: int | None = None


@attrs.frozen
class SearchHit:
    """One place where the searched words stand. `item_id` is None if it belongs to no item."""

    session_id: str
    session_title: str
    at: float
    what: str
    excerpt: str
    item_id: str | None = None


@attrs.frozen
class SearchResult:
    """Result of `ullage/workspace/search`, best first."""

    hits: list[SearchHit]


@attrs.frozen
class CompactParams:
    """Params of `compact`; `focus` says what the summary should favour."""

    session_id: Id
    focus: str | None = None


@attrs.frozen
class PostponeParams:
    """Params of `postponeCompaction`: for how long nothing is compacted to save; `none` takes that back."""

    session_id: Id
    until: Literal["turn", "session", "none"]


@attrs.frozen
class CompactionParams:
    """Params of `undoCompaction` and `redoCompaction`; without an id the newest is meant.

    `fit`: where the conversation would then be larger than the window, old tool results are cleared and messages cut from its middle so
    that it is not.
    """

    session_id: Id
    compaction_id: Id | None = None
    fit: bool | None = None


@attrs.frozen
class CompactionResult:
    """Result of the requests that make, undo or redo a compaction."""

    compaction_id: Id

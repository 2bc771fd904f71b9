"""The wire types of what a user sees: the counterparts of `session/items.py`. See PROTOCOL.md, Shapes."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

SessionState: TypeAlias = Literal["idle", "running", "compacting"]


@attrs.frozen
class UserItem:
    id: str
    at: float
    text: str
    attachments: list[str]
    queued: bool


@attrs.frozen
class AssistantItem:
    id: str
    at: float
    text: str


@attrs.frozen
class ThinkingItem:
    id: str
    at: float
    text: str


@attrs.frozen
class Diff:
    path: str
    old_text: str
    new_text: str


@attrs.frozen
class PermissionOption:
    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once"]


@attrs.frozen
class ToolCallItem:
    id: str
    at: float
    name: str
    title: str
    tool_kind: Literal["read", "edit", "search", "execute", "think", "other"]
    status: Literal["pending", "awaiting_permission", "running", "completed", "failed", "cancelled"]
    input: str
    output: str
    diff: Diff | None = None
    full_output: str | None = None
    permission: list[PermissionOption] | None = None
    permission_reason: str | None = None


@attrs.frozen
class RestoredFile:
    path: str
    note: str


@attrs.frozen
class CompactionItem:
    id: str
    at: float
    status: Literal["in_progress", "completed", "failed", "undone"]
    trigger: Literal["manual", "threshold", "idle", "reactive", "tool"]
    tokens_before: int
    summary: str
    restored: list[RestoredFile]
    cleared: int
    snipped: int
    summarised: int
    focus: str
    skipped: list[str]
    error: str
    rung: Literal["moves", "model", "digest", "tail"] | None = None
    tokens_after: int | None = None
    cost: float | None = None


@attrs.frozen
class NoticeItem:
    id: str
    at: float
    level: Literal["info", "warning", "error"]
    text: str
    action: Literal["continue", "set_key", "settings", "none"]


Item: TypeAlias = UserItem | AssistantItem | ThinkingItem | ToolCallItem | CompactionItem | NoticeItem
ITEM_KINDS: dict[type[Any], str] = {
    UserItem: "user",
    AssistantItem: "assistant",
    ThinkingItem: "thinking",
    ToolCallItem: "toolCall",
    CompactionItem: "compaction",
    NoticeItem: "notice",
}


@attrs.frozen
class PlanEntry:
    content: str
    status: Literal["pending", "in_progress", "completed"]


@attrs.frozen
class Retry:
    attempt: int
    at: float
    reason: str


@attrs.frozen
class Category:
    name: str
    tokens: int


@attrs.frozen
class Gauge:
    used: int
    line: int
    size: int
    estimated: bool
    level: Literal["normal", "warning", "error"]
    categories: list[Category]
    frees: int
    auto: bool
    cache_hit_rate: float | None = None
    cost: float | None = None
    frees_cost: float | None = None


@attrs.frozen
class ModelInfo:
    name: str
    display_name: str
    practice: bool
    limits_source: str

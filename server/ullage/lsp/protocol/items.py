"""The wire types of what a user sees: the counterparts of `session/timeline/items.py`. See PROTOCOL.md, Shapes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import attrs


class NotOfItsType(ValueError):
    """A value that is not of its type. The message says what is wanted, and nothing of the value: that may be anybody's words."""


Way: TypeAlias = Literal["moves", "api", "model", "program", "note"]
"""How a summary is made: not at all (moves alone), by the API, by the model, by the program, or as a short note."""


@attrs.frozen
class AtMost:
    """The most characters that a text may have."""

    characters: int


LONGEST_ID = 200
"""The most characters of an id. Ours have at most 40, those that a model gives its calls at most 128 (`session/turns/incoming.py`)."""

Id: TypeAlias = Annotated[str, AtMost(LONGEST_ID)]
"""An id that the client gives back."""


SessionState: TypeAlias = Literal["idle", "running", "compacting"]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]


@attrs.frozen
class ShownMedia:
    """An image or a PDF that the model was shown; `path` is where its bytes lie."""

    name: str
    words: str
    path: str


@attrs.frozen
class TurnCost:
    """The cost of a turn at the model: tokens by price class, and dollars as far as prices are known."""

    calls: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    cost: float | None = None
    unpriced: int | None = None
    unreported: int | None = None
    compactions: int | None = None
    compaction_cost: float | None = None
    agents: int | None = None
    agent_cost: float | None = None


@attrs.frozen
class UserItem:
    """A prompt of the user."""

    id: str
    at: float
    text: str
    attachments: list[str]
    queued: bool
    media: list[ShownMedia] | None = None
    steering: bool | None = None
    turn_cost: TurnCost | None = None


@attrs.frozen
class AssistantItem:
    """A text of the model (Markdown)."""

    id: str
    at: float
    text: str


@attrs.frozen
class ThinkingItem:
    """A text that the model thought; `seconds` says how long it took."""

    id: str
    at: float
    text: str
    seconds: float | None = None


@attrs.frozen
class Diff:
    """An edit of a file: the texts before and after."""

    path: str
    old_text: str
    new_text: str


@attrs.frozen
class PermissionOption:
    """One answer to an approval."""

    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once"]


@attrs.frozen
class AskedPart:
    """One part of a call, and why it is asked about or not, in words for the user."""

    text: str
    standing: Literal["harmless", "rule", "confined", "asked"]
    why: str


@attrs.frozen
class Proposal:
    """A rule that would cover a part of the call."""

    action: Literal["command", "edit", "host", "mcp", "search"]
    pattern: str


@attrs.frozen
class ProposedText:
    """The proposed text of a file as a document that the user may change, and the file's path. Both are absolute."""

    document: str
    path: str
    is_new: bool | None = None


@attrs.frozen
class AskedParts:
    """The parts of a call, each with why it is asked about or not."""

    action: Literal["edit", "command", "host", "outside", "plan", "mcp", "agent", "search"]
    parts: list[AskedPart]
    folder: str | None = None
    """The folder that the command runs in: named by its workspace folder, or absolute if it is outside of all of them."""
    outside: bool | None = None
    proposals: list[Proposal] | None = None
    proposed: ProposedText | None = None


@attrs.frozen
class QuestionOption:
    """One answer that the agent offers, and what it means."""

    option_id: str
    label: str
    description: str


@attrs.frozen
class Question:
    """A question of the agent to the user. With `multi_select` several options may be chosen."""

    header: str
    question: str
    options: list[QuestionOption]
    multi_select: bool | None = None


@attrs.frozen
class Answer:
    """The user's answer to one question: the labels of what they chose, and their own words."""

    question: str
    chosen: list[str]
    text: str | None = None


@attrs.frozen
class Location:
    """A file that a call is at work in, by its absolute path; `line` counts from 1."""

    path: str
    line: int | None = None


@attrs.frozen
class AgentRun:
    """A sub-agent that is or was at work for a call: tokens of its own context, dollars, and what it does now."""

    session_id: str
    name: str
    used: int
    threshold: int
    cost: float | None = None
    doing: str | None = None


@attrs.frozen
class ToolCallItem:
    """A tool call. `input` is JSON text, not whole while it streams in."""

    id: str
    at: float
    name: str
    title: str
    tool_kind: Literal["read", "edit", "search", "execute", "think", "fetch", "other"]
    status: Literal["pending", "awaiting_permission", "awaiting_answer", "running", "completed", "failed", "cancelled"]
    input: str
    output: str
    diff: Diff | None = None
    full_output: str | None = None
    permission: list[PermissionOption] | None = None
    permission_id: str | None = None
    permission_reason: str | None = None
    media: list[ShownMedia] | None = None
    failure: Literal["refused", "not_found"] | None = None
    seconds: float | None = None
    locations: list[Location] | None = None
    document: str | None = None
    asked: AskedParts | None = None
    questions: list[Question] | None = None
    question_id: str | None = None
    answers: list[Answer] | None = None
    agent: AgentRun | None = None
    cost: float | None = None
    goes_on: str | None = None


@attrs.frozen
class RestoredFile:
    """A file that was read again after a compaction; with `not_read` it is only named, and `note` says why."""

    path: str
    note: str
    not_read: bool | None = None


@attrs.frozen
class FetchedAgain:
    """The content that the agent got again from its tools after a compaction took it out of view: from these files, with tokens and
    dollars."""

    files: list[str]
    tokens: int
    cost: float | None = None


@attrs.frozen
class Held:
    """How many things were `used`, and how many of these were `in_view`."""

    in_view: int
    used: int


@attrs.frozen
class Checked:
    """The check of a compaction before it was used: against the messages since it was planned (`ahead`), or those that it keeps."""

    messages: int
    ahead: bool
    paths: Held
    names: Held
    hashes: Held
    characters: Held
    added: int


@attrs.frozen
class CompactionItem:
    """A compaction from its beginning to its end. Sizes are tokens, `cost` is dollars."""

    id: str
    at: float
    status: Literal["in_progress", "completed", "failed", "cancelled", "undone"]
    trigger: Literal["manual", "threshold", "idle", "reactive", "tool", "upkeep", "economy"]
    tokens_before: int
    summary: str
    restored: list[RestoredFile]
    cleared: int
    snipped: int
    summarised: int
    focus: str
    skipped: list[str]
    error: str
    way: Way | None = None
    tokens_after: int | None = None
    cost: float | None = None
    policy: str | None = None
    excluded_files: list[str] | None = None
    saves: float | None = None
    fetched_again: FetchedAgain | None = None
    checked: Checked | None = None
    nearby: list[str] | None = None


@attrs.frozen
class NoticeItem:
    """Something that the user should know, and what can be done about it."""

    id: str
    at: float
    level: Literal["info", "warning", "error"]
    text: str
    action: Literal["continue", "set_key", "settings", "choose_model", "hooks", "none"]


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
    """A task of the list."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


@attrs.frozen
class Retry:
    """A call that is made again at `at` (Unix seconds)."""

    attempt: int
    at: float
    reason: str


@attrs.frozen
class Category:
    """A part of the context, and its tokens."""

    name: str
    tokens: int


@attrs.frozen
class EarlySaving:
    """A compaction before the threshold that would save about that many dollars, with the next prompt, or once nobody asks for minutes."""

    when: Literal["prompt", "pause"]
    dollars: float
    postponed: Literal["turn", "session"] | None = None


@attrs.frozen
class NextCompaction:
    """When the next compaction comes by itself: before a call that holds `at` tokens, as `why` says. Without `at` none comes."""

    why: Literal["threshold", "window", "undone", "grown", "unanswered", "failed", "off"]
    at: int | None = None
    while_editing: bool | None = None
    saving: EarlySaving | None = None


@attrs.frozen
class Gauge:
    """How full the context is (tokens; costs in dollars; `cache_hit_rate` from 0 to 1)."""

    used: int
    threshold: int
    size: int
    estimated: bool
    level: Literal["normal", "warning", "error"]
    categories: list[Category]
    frees: int
    next: NextCompaction
    policy: str
    measure: Literal["usage", "messages", "characters / 4"]
    estimated_tokens: int | None = None
    cache_hit_rate: float | None = None
    cost: float | None = None
    frees_cost: float | None = None
    anew_cost: float | None = None


@attrs.frozen
class ModelInfo:
    """The model that answers, and what it can be set to."""

    name: str
    display_name: str
    practice: bool
    limits_source: str
    efforts: list[Effort] | None = None
    effort: Effort | None = None

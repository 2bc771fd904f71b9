"""What a user sees of a session: a timeline of items, each with an id that it keeps from its first sign to the log.

The same values serve the snapshot and the live updates. `lsp/` has their counterparts on the wire.
Ids: a prompt's own id; `<reply id>.<block index>` for text and thinking; the tool use id for a call; the compaction's id;
`n<seq>` for notices. An id that is made here is a letter for what it is, and 12 random characters.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.compaction.decide import NextCompaction
from ullage.context.compaction_entries import Checked, FetchedAgain, Rung, Trigger
from ullage.context.entries import Action, FileDiff
from ullage.context.policy import Measure
from ullage.models.model import Effort
from ullage.session.changes.shown import NOTHING_OPEN, OpenChanges
from ullage.session.locations import Location
from ullage.session.timeline.turn_costs import TurnCost
from ullage.tools.rules.covering import AskedPart, Proposal
from ullage.tools.tool import NeedAction, PlanEntry, ToolKind
from ullage.workspace.worktrees import Worktree

ToolStatus: TypeAlias = Literal["pending", "awaiting_permission", "running", "completed", "failed", "cancelled"]
CompactionStatus: TypeAlias = Literal["in_progress", "completed", "failed", "cancelled", "undone"]
OptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once"]
SessionState: TypeAlias = Literal["idle", "running", "compacting"]
StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]
"""Why a turn ended: the Agent Client Protocol's words, and `error`, where a notice says what went wrong."""


@dataclass(frozen=True, slots=True)
class ShownMedia:
    """An image or a PDF that the model was shown."""

    name: str
    """Of the file: its path as it was attached or read; empty where no file was read for it."""
    words: str
    """What it is: `image, 800 × 600, 638 tokens`."""
    path: str
    """Where the bytes lie that the model was shown, relative to `Snapshot.store_folder`."""


@dataclass(frozen=True, slots=True)
class UserItem:
    """A prompt. `queued` while it waits for its turn."""

    id: str
    at: float
    text: str
    attachments: tuple[str, ...]
    queued: bool
    media: tuple[ShownMedia, ...] = ()
    """Those of the attachments that are images or PDFs."""
    steering: bool = False
    """Whether it joined the turn that ran, or waits for that: before all that wait for a turn of their own."""
    turn_cost: TurnCost | None = None
    """What the turn cost that began with it; None until it has ended."""


@dataclass(frozen=True, slots=True)
class AssistantItem:
    """A text block of a reply (Markdown)."""

    id: str
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingItem:
    """A thinking block of a reply. `seconds` is how long it took; None while it lasts, and where it is not known."""

    id: str
    at: float
    text: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One answer to an approval, named as the Agent Client Protocol names them."""

    option_id: str
    name: str
    kind: OptionKind


@dataclass(frozen=True, slots=True)
class ProposedText:
    """The proposed text of a file, as a document that the user may change before they accept it. Paths are absolute."""

    document: str
    path: str
    """Of the file."""
    is_new: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call is asked about, part by part."""

    action: NeedAction
    folder: str
    """Where it would happen, by the name of the workspace folder, absolute where it is outside; empty where that does not matter."""
    parts: tuple[AskedPart, ...]
    proposals: tuple[Proposal, ...] = ()
    """Rules that would cover it."""
    proposed: ProposedText | None = None
    outside: bool = False
    """Whether that folder is outside of the workspace folders, as a worktree is."""


ModeId: TypeAlias = Literal["ask", "plan", "act"]
"""What the agent may do; `turns/modes.py` says what each means."""

Failure: TypeAlias = Literal["refused", "not_found"]
"""The user said no, or the file that was named is not there."""


@dataclass(frozen=True, slots=True)
class ToolCallItem:
    """A tool call. `input` is its JSON text; `output` what the model gets (while running: the live output)."""

    id: str
    at: float
    name: str
    title: str
    tool_kind: ToolKind
    status: ToolStatus
    input: str
    output: str
    diff: FileDiff | None = None
    full_output: str | None = None
    """Path of the whole output where `output` was clipped."""
    permission: tuple[PermissionOption, ...] = ()
    """Not empty while the call waits for an approval."""
    permission_id: str = ""
    """Of this very question; an answer names it."""
    permission_reason: str = ""
    """What is asked, in words."""
    document: str | None = None
    """While the call waits for an approval: the absolute path of the document that it is about, which the user may edit."""
    asked: Asked | None = None
    """While the call waits for an approval."""
    media: tuple[ShownMedia, ...] = ()
    """What the model is shown with the output."""
    failure: Failure | None = None
    """Why it failed, where that is no fault of the tool."""
    began: float | None = None
    """When it began to run (Unix seconds); None where it did not, or where it is not known."""
    locations: tuple[Location, ...] = ()
    """Where in the workspace it is at work."""
    seconds: float | None = None
    """How long it ran, without the wait for an approval; None where that is not known."""


@dataclass(frozen=True, slots=True)
class RestoredFileItem:
    """A file that was read again after a compaction."""

    path: str
    note: str
    is_read: bool = True
    """False where it had no room or is gone: the model is only told its name."""


@dataclass(frozen=True, slots=True)
class CompactionItem:
    """One compaction from its beginning to its only end state. Tokens as the gauge counts them."""

    id: str
    at: float
    status: CompactionStatus
    trigger: Trigger
    rung: Rung | None
    tokens_before: int
    tokens_after: int | None
    summary: str
    restored: tuple[RestoredFileItem, ...]
    cleared: int
    """Tool results that became a placeholder."""
    snipped: int
    """Messages cut from the middle."""
    summarised: int
    """Messages that went into the summary."""
    focus: str
    skipped: tuple[str, ...]
    """Ways that did not work, and why."""
    cost: float | None
    """Dollars of the summary call."""
    error: str
    policy: str = ""
    """Whose way it was; empty while that is not decided."""
    excluded_files: tuple[str, ...] = ()
    """Files that the user took out with it."""
    saves: float | None = None
    """About how many dollars one that was made before the threshold was to save, as announced."""
    fetched_again: FetchedAgain | None = None
    """What the agent got again since; None where that is nothing, and while it is undone."""
    checked: Checked | None = None
    """What it was checked against before it was used; None where that is nothing."""


@dataclass(frozen=True, slots=True)
class NoticeItem:
    """Something the user should know. `action` names what can be done about it from the panel."""

    id: str
    at: float
    level: Literal["info", "warning", "error"]
    text: str
    action: Action = "none"


Item: TypeAlias = UserItem | AssistantItem | ThinkingItem | ToolCallItem | CompactionItem | NoticeItem


@dataclass(frozen=True, slots=True)
class Category:
    """A part of the context and its tokens, for the gauge's tooltip. The parts add up to `Gauge.used`."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full the context is: the very numbers that the trigger compares. Tokens, unless said otherwise."""

    used: int
    threshold: int
    """Where it compacts; 100 % of the gauge."""
    size: int
    """The model's window."""
    estimated: bool
    """Whether more than a hundredth of `used` is only estimated."""
    guess: int
    """Of `used`, the tokens that are only estimated: neither has a reply reported them nor has the endpoint counted them."""
    level: Literal["normal", "warning", "error"]
    categories: tuple[Category, ...]
    cache_hit_rate: float | None
    """Share of all input tokens of this session that was read from the cache, 0 to 1; None before the first response."""
    cost: float | None
    """Dollars so far; None where the prices are not known."""
    frees: int
    """What a compaction now would free (estimate)."""
    frees_cost: float | None
    """Dollars that it would cost (estimate)."""
    next: NextCompaction
    """When it compacts by itself."""
    anew_cost: float | None = None
    """How many dollars more the next request costs if nothing of it is read from the prompt cache; None where prices are not known."""
    policy: str = "ullage"
    """The name of the policy in force."""
    measure: Measure = "usage"
    """What `used` is measured by; with another measure than `usage` the categories add up to all that the context holds instead."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which model answers, for the panel."""

    name: str
    display_name: str
    practice: bool
    limits_source: str
    efforts: tuple[Effort, ...] = ()
    """What can be asked for."""
    effort: Effort | None = None
    """What is asked for; None leaves it to the model."""


@dataclass(frozen=True, slots=True)
class RetryInfo:
    """A call that is made again. `at` is Unix seconds, for a visible countdown."""

    attempt: int
    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class PinnedItems:
    """What no compaction touches: items by id, files by path."""

    item_ids: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemUpdated:
    """An item came, or is now this: replaces the one with the same id, else stands after all others."""

    item: Item


@dataclass(frozen=True, slots=True)
class TextAppended:
    """More text at the end of an item's `text` (assistant, thinking) or `output` or `input` (tool call)."""

    item_id: str
    field: Literal["text", "output", "input"]
    text: str


@dataclass(frozen=True, slots=True)
class ItemRemoved:
    """An item is gone: a queued prompt taken back, a reply that is asked for again."""

    item_id: str


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn that is over: of which prompt, and why."""

    prompt_id: str
    stop_reason: StopReason


@dataclass(frozen=True, slots=True)
class StateChanged:
    """What the session is doing. `retry` is set while a failed call waits to be made again, `ended` where a turn ended just now."""

    state: SessionState
    retry: RetryInfo | None = None
    ended: EndedTurn | None = None


@dataclass(frozen=True, slots=True)
class GaugeChanged:
    """The gauge now."""

    gauge: Gauge


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The agent's task list now."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The session's title now."""

    title: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers from now on, or more is known of it."""

    model: ModelInfo


@dataclass(frozen=True, slots=True)
class PinsChanged:
    """What is pinned now."""

    pins: PinnedItems


@dataclass(frozen=True, slots=True)
class ChangesChanged:
    """What is open of the agent's changes now."""

    changes: OpenChanges


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """Another mode is in force."""

    mode: ModeId


Update: TypeAlias = (
    ItemUpdated
    | TextAppended
    | ItemRemoved
    | StateChanged
    | GaugeChanged
    | PlanChanged
    | TitleChanged
    | ModelChanged
    | PinsChanged
    | ChangesChanged
    | ModeChanged
)


@dataclass(frozen=True, slots=True)
class ForkOrigin:
    """The session that this one was forked from. `title` is as it was called then; it may be gone by now."""

    session_id: str
    title: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a panel needs to draw a session. Updates with a `seq` over this one's build on it."""

    session_id: str
    seq: int
    title: str
    state: SessionState
    retry: RetryInfo | None
    items: tuple[Item, ...]
    """The newest; `earlier` says how many there are before them."""
    earlier: int
    plan: tuple[PlanEntry, ...]
    gauge: Gauge
    model: ModelInfo
    pins: PinnedItems
    mode: ModeId = "act"
    """The mode in force."""
    forked_from: ForkOrigin | None = None
    store_folder: str | None = None
    """The absolute path of the folder that is kept for the workspace; None where everything is in memory."""
    changes: OpenChanges = NOTHING_OPEN
    worktree: Worktree | None = None
    """Where the agent works, if that is not the workspace folder."""
    turn: UserItem | None = None
    """The prompt of the newest turn, where that is not among `items`."""


def new_id(kind: str) -> str:
    """An id that no other thing of any session has."""
    return f"{kind}{secrets.token_hex(6)}"

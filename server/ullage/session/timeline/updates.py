"""What a user is told of a session: a snapshot of all that a panel draws, and numbered updates that build on it.

The items of the timeline are in `items.py`, the gauge's figures are filled in by `display.py`. `lsp/` has the counterparts on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.compaction.decide import NextCompaction
from ullage.context.policy import Measure
from ullage.context.running_commands import RunsNow
from ullage.models.model import Effort
from ullage.session.changes.shown import NOTHING_OPEN, OpenChanges
from ullage.session.timeline.items import Item, UserItem
from ullage.tools.tool import PlanEntry
from ullage.workspace.worktrees import Worktree

SessionState: TypeAlias = Literal["idle", "running", "compacting"]
StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]
"""Why a turn ended: the Agent Client Protocol's words, and `error`, where a notice says what went wrong."""

ModeId: TypeAlias = Literal["ask", "plan", "act"]
"""What the agent may do; `turns/modes.py` says what each means."""


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
    """The tokens at which it compacts; 100 % of the gauge."""
    size: int
    """The tokens of the model's window."""
    estimated: bool
    """Whether more than a hundredth of `used` is only estimated."""
    guess: int
    """The tokens of `used` that are only estimated: neither has a reply reported them nor has the endpoint counted them."""
    level: Literal["normal", "warning", "error"]
    categories: tuple[Category, ...]
    cache_hit_rate: float | None
    """The share of all input tokens of this session that was read from the cache, 0 to 1; None before the first response."""
    cost: float | None
    """Dollars so far; None if the prices are not known."""
    frees: int
    """About how many tokens a compaction now would free."""
    frees_cost: float | None
    """About how many dollars a compaction now would cost; None if prices are not known."""
    next: NextCompaction
    """When the next compaction comes by itself."""
    anew_cost: float | None = None
    """How many dollars more the next request costs if nothing of it is read from the prompt cache; None if prices are not known."""
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
    """The efforts that can be asked for; empty if the model has no choice."""
    effort: Effort | None = None
    """The effort that is asked for; None leaves it to the model."""


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
    """An item that is new or has changed: it replaces the one with the same id, else it stands after all others."""

    item: Item


@dataclass(frozen=True, slots=True)
class TextAppended:
    """More text that came at the end of an item's `text` (assistant, thinking) or `output` or `input` (tool call)."""

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
    """What the session does from now on. `retry` is set while a failed call waits to be made again, `ended` where a turn ended just now."""

    state: SessionState
    retry: RetryInfo | None = None
    ended: EndedTurn | None = None


@dataclass(frozen=True, slots=True)
class GaugeChanged:
    """The gauge as it is from now on."""

    gauge: Gauge


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The agent's task list as it is from now on."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The session's title from now on."""

    title: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """The model that answers from now on, or more that is known of it."""

    model: ModelInfo


@dataclass(frozen=True, slots=True)
class PinsChanged:
    """The items and files that are pinned from now on."""

    pins: PinnedItems


@dataclass(frozen=True, slots=True)
class ChangesChanged:
    """The agent's changes that are open from now on."""

    changes: OpenChanges


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The mode that is in force from now on."""

    mode: ModeId


@dataclass(frozen=True, slots=True)
class RunningChanged:
    """The commands that run in the background from now on, and those that have ended of which the model does not know yet."""

    commands: tuple[RunsNow, ...]


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
    | RunningChanged
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
    """The newest items; `earlier` says how many there are before them."""
    earlier: int
    plan: tuple[PlanEntry, ...]
    gauge: Gauge
    model: ModelInfo
    pins: PinnedItems
    mode: ModeId = "act"
    """The mode in force."""
    forked_from: ForkOrigin | None = None
    store_folder: str | None = None
    """The absolute path of the folder that is kept for the workspace; None if everything is in memory."""
    changes: OpenChanges = NOTHING_OPEN
    worktree: Worktree | None = None
    """The worktree in which the agent works; None if it works in the workspace folder."""
    agent_of: str | None = None
    """The id of the session that called it, if it is a sub-agent's: then it can only be read."""
    running: tuple[RunsNow, ...] = ()
    """The commands in the background, as `RunningChanged` tells of them."""
    turn: UserItem | None = None
    """The prompt of the newest turn, if that is not among `items`; else None."""

"""The wire types of sessions as a whole: snapshots, the list, forks, imports, modes. See PROTOCOL.md, "Sessions"."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ullage.lsp.protocol.changes import DecidedFile, OpenChanges
from ullage.lsp.protocol.history import Pins
from ullage.lsp.protocol.items import Gauge, Id, Item, ModelInfo, PlanEntry, Retry, SessionState, TurnCost
from ullage.lsp.protocol.prompts import AttachmentRef
from ullage.lsp.protocol.running import RunningCommand, Worktree

ModeId: TypeAlias = Literal["ask", "plan", "act"]


@attrs.frozen
class OpenParams:
    """Params of `open`; without an id the most recent session is meant."""

    session_id: Id | None = None


@attrs.frozen
class ItemsParams:
    """Params of `items`: asks for the items before an item, at most `limit` of them."""

    session_id: Id
    before: Id
    limit: int


@attrs.frozen
class ItemsResult:
    """Result of `items`, oldest first; `earlier` says how many precede them."""

    items: list[Item]
    earlier: int


@attrs.frozen
class ForkParams:
    """Params of `fork`: the fork holds all up to and with an item, or all before a prompt; without an item all that was said."""

    session_id: Id
    item_id: Id | None = None


@attrs.frozen
class RenameParams:
    """Params of `rename`."""

    session_id: Id
    title: str


@attrs.frozen
class ExportParams:
    """Params of `export`."""

    session_id: Id
    format: Literal["markdown", "jsonl"]


@attrs.frozen
class ExportResult:
    """Result of `export`: the whole session as one text."""

    text: str


@attrs.frozen
class SetModeParams:
    """Params of `setMode`."""

    session_id: Id
    mode_id: ModeId


@attrs.frozen
class NewParams:
    """Params of `new`: with `worktree`, the agent works in a worktree of git that is made for the session."""

    worktree: bool | None = None


@attrs.frozen
class SessionFigures:
    """The figures that the list shows of a session beside its title."""

    status: Literal["idle", "working", "waiting", "done", "failed", "interrupted"]
    used: int | None = None
    threshold: int | None = None
    cost: float | None = None
    files: int | None = None
    added: int | None = None
    removed: int | None = None
    running: int | None = None


@attrs.frozen
class FiguresParams:
    """Params of `figures`: what the list says now of a session that is open here."""

    session_id: str
    figures: SessionFigures


@attrs.frozen
class SessionSummary:
    """A session in the list. `updated_at` is Unix seconds; `open_elsewhere`: another window has it open."""

    session_id: str
    title: str
    updated_at: float
    state: SessionState
    foreign: bool | None = None
    open_elsewhere: bool | None = None
    figures: SessionFigures | None = None
    worktree: Worktree | None = None


@attrs.frozen
class ListResult:
    """Result of `list`, newest first."""

    sessions: list[SessionSummary]


@attrs.frozen
class ImportParams:
    """Params of `import`: with `mine` the user says that the sessions are theirs; `from_gone` is the path of a folder that is gone."""

    mine: bool = False
    from_gone: str | None = None


@attrs.frozen
class BroughtSession:
    """A session in `.ullage` of the workspace; `waiting` are prompts that were not sent."""

    title: str
    updated_at: float
    entries: int
    waiting: int


@attrs.frozen
class GoneFolder:
    """A folder that is gone, and of which sessions are kept."""

    folder: str
    sessions: int
    updated_at: float


@attrs.frozen
class ImportableResult:
    """Result of `importable`; `tracked`: git tracks what lies in `.ullage`, so it came with the repository."""

    brought: list[BroughtSession]
    tracked: bool
    gone: list[GoneFolder]


@attrs.frozen
class ImportResult:
    """Result of `import`: how many sessions came, entries of them that could not be read, and why others could not come."""

    sessions: int
    unreadable: int
    failures: list[str]


@attrs.frozen
class SessionMode:
    """A mode that can be chosen."""

    id: ModeId
    name: str
    description: str


@attrs.frozen
class SessionModes:
    """The mode that is in force, and all that can be chosen."""

    current_mode_id: ModeId
    available_modes: list[SessionMode]


@attrs.frozen
class ForkOrigin:
    """The session that a fork comes from, with the title that it had then."""

    session_id: str
    title: str


@attrs.frozen
class NewestTurn:
    """The turn in the middle of which the items of a snapshot begin."""

    prompt_id: str
    turn_cost: TurnCost | None = None


@attrs.frozen
class Snapshot:
    """All that a panel needs to draw a session."""

    session_id: str
    seq: int
    title: str
    state: SessionState
    items: list[Item]
    earlier: int
    plan: list[PlanEntry]
    gauge: Gauge
    model: ModelInfo
    retry: Retry | None = None
    pins: Pins | None = None
    modes: SessionModes | None = None
    forked_from: ForkOrigin | None = None
    store_folder: str | None = None
    foreign: bool | None = None
    changes: OpenChanges | None = None
    turn: NewestTurn | None = None
    worktree: Worktree | None = None
    agent_of: str | None = None
    running: list[RunningCommand] | None = None


@attrs.frozen
class ForkPrompt:
    """The prompt that a session was forked before."""

    text: str
    attachments: list[AttachmentRef]


@attrs.frozen
class ForkResult:
    """Result of `fork`; `prompt` is the prompt that the session was forked before, if it was one, so that it can be sent in another way."""

    snapshot: Snapshot
    prompt: ForkPrompt | None = None


@attrs.frozen
class RestoreResult:
    """Result of `restore`: what became of each file, and the fork if the conversation was gone back, too."""

    files: list[DecidedFile]
    fork: ForkResult | None = None
